#!/usr/bin/python3
"""A generator that is broken at one tail lane (LOOPBRICK_FAULT=tail_lane) fools nobody.

Usage: faulty_generator_test.py PROGRAM [unittest arguments]
"""
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
# 40 output channels: 32-wide tiles leave a tail of 8, which AVX-512 masks; 8-wide ones leave none.
PROBLEM = "mb1ic8ih6oc40oh6kh3ph1"


class FaultyGenerator(unittest.TestCase):
    def test_exactly_the_schedules_with_that_tail_are_wrong_and_never_ranked(self):
        with tempfile.TemporaryDirectory() as folder:
            database = pathlib.Path(folder) / "trials.db"
            arguments = [PROGRAM, "tune", PROBLEM, "--isa", "avx512", "--budget", "60trials", "--strategy", "random",
                         "--db", str(database), "--no-lock"]
            done = subprocess.run(arguments, capture_output=True, text=True, timeout=240)
            with sqlite3.connect(database) as connection:
                trials = connection.execute("SELECT id, choice, outcome FROM trial").fetchall()
                ranked = {row[0] for row in connection.execute("SELECT trial FROM best")}
        self.assertIn(done.returncode, (0, 1), done.stderr)
        outcomes = {outcome for _, _, outcome in trials}
        self.assertLessEqual({"ok", "wrong_result"}, outcomes, done.stderr)
        for trial, choice, outcome in trials:
            self.assertEqual(outcome == "wrong_result", has_tail(choice), f"{choice}: {outcome}")
            if outcome == "wrong_result":
                self.assertNotIn(trial, ranked)


def has_tail(choice):
    """Does a call of this schedule have columns that fill no whole vector?"""
    steps = [int(step or 1) for step in re.findall(r"(?<![a-z])[kK](\d*)(?=[ /])", choice.split("@")[0])]
    width = min([40, *steps])
    return any(columns % 16 for columns in (width, 40 % width))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
