#!/usr/bin/python3
"""Fully connected layers, one panel a pass: loopbrick, oneDNN in its better layout, one large GEMM, and Eigen."""

import command
import data
import panels

NAME = "fig-fc"
SUBJECT = panels.Subject(
    name=NAME, kind="fc", suite="fc",
    passes={"fwd": "forward", "bwd_d": "backward by data", "bwd_w": "backward by weights"},
    series=(("loopbrick", (data.OURS,), "loopbrick"), ("oneDNN, better layout", data.ONEDNN, "onednn"),
            ("one large GEMM", ("im2col",), "im2col"), ("Eigen", ("eigen",), "eigen")), mixes_minibatches=True)


def main(database, out_dir, machine=None, campaign=None, suite=SUBJECT.suite, minibatch=None):
    panels.draw(SUBJECT, database, out_dir, data.Options(machine, campaign, suite, minibatch))


if __name__ == "__main__":
    command.run(main, NAME, __doc__, SUBJECT.suite)
