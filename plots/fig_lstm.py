#!/usr/bin/python3
"""LSTM layers, one panel a pass: loopbrick, oneDNN, and others where they were compared."""

import command
import data
import panels

NAME = "fig-lstm"
SUBJECT = panels.Subject(
    name=NAME, kind="lstm", suite="lstm",
    passes={"fwd": "inference", "train": "forward of training", "bwd": "backward and weight update"},
    series=(("loopbrick", (data.OURS,), "loopbrick"), ("oneDNN", ("onednn",), "onednn"),
            ("large GEMMs, element-wise apart", ("im2col",), "im2col"), ("libxsmm", ("libxsmm",), "libxsmm")))


def main(database, out_dir, machine=None, campaign=None, suite=SUBJECT.suite, minibatch=None):
    panels.draw(SUBJECT, database, out_dir, data.Options(machine, campaign, suite, minibatch))


if __name__ == "__main__":
    command.run(main, NAME, __doc__, SUBJECT.suite)
