#!/usr/bin/python3
"""A generator that is broken at one tail lane (LOOPBRICK_FAULT=tail_lane) fools nobody.

Usage: faulty_generator_test.py PROGRAM [unittest arguments]
"""
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
WITH_TAIL = "mb1ic8ih6oc40oh6kh3ph1"  # 40 columns end in half a vector, whatever the blocks
WITHOUT = "mb1ic8ih6oc64oh6kh3ph1"  # and 64 do not


class FaultyGenerator(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.database = pathlib.Path(scratch.name) / "trials.db"

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments, "--isa", "avx512", "--db", str(self.database), "--no-lock"],
                              capture_output=True, text=True, timeout=240)

    def sql(self, text):
        with sqlite3.connect(self.database) as connection:
            return connection.execute(text).fetchall()

    def outcomes(self, problem):
        return {row[0] for row in self.sql(f"SELECT outcome FROM trial WHERE problem LIKE '%{problem}'")}

    def test_tune_calls_exactly_the_schedules_with_that_tail_wrong_and_ranks_none_of_them(self):
        done = self.run_program("tune", WITH_TAIL, WITHOUT, "--budget", "60trials", "--strategy", "random")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.outcomes(WITH_TAIL), {"wrong_result"})
        self.assertEqual(self.outcomes(WITHOUT), {"ok"})
        self.assertEqual({row[0] for row in self.sql("SELECT problem FROM best")}, {f"conv fwd f32 {WITHOUT}"})
        self.assertIn("no valid schedule found", done.stderr)

    def test_a_block_that_makes_a_tail_is_wrong_and_one_that_makes_none_is_right(self):
        for block, outcome in (("24", "wrong_result"), ("64", "ok"), ("16", "ok")):
            done = self.run_program("run", WITHOUT, "--schedule", f"N k{block} p q6 @ c8 * c r s", "--rounds", "3",
                                    "--processes", "1", "--sample-ms", "1")
            self.assertEqual(self.sql("SELECT outcome FROM trial ORDER BY id DESC LIMIT 1"), [(outcome,)], done.stderr)
            self.assertEqual(done.returncode, 0 if outcome == "ok" else 1)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
