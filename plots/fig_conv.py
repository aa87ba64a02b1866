#!/usr/bin/python3
"""Convolutions layer by layer, one panel a pass: loopbrick, oneDNN in its better layout, libxsmm and Eigen."""

import command
import data
import panels

NAME = "fig-conv"
SUBJECT = panels.Subject(
    name=NAME, kind="conv", suite="resnet50",
    passes={"fwd": "forward", "bwd_d": "backward by data", "bwd_w": "backward by weights"},
    series=(("loopbrick", (data.OURS,), "loopbrick"), ("oneDNN, better layout", data.ONEDNN, "onednn"),
            ("libxsmm", ("libxsmm", "libxsmm-rim"), "libxsmm"), ("Eigen", ("eigen",), "eigen")))


def main(database, out_dir, machine=None, campaign=None, suite=SUBJECT.suite, minibatch=None):
    panels.draw(SUBJECT, database, out_dir, data.Options(machine, campaign, suite, minibatch))


if __name__ == "__main__":
    command.run(main, NAME, __doc__, SUBJECT.suite)
