#!/usr/bin/python3
"""The real binary, from the outside: usage, bad input, tuning, and what is left when it is stopped.

Usage: end_to_end_test.py PROGRAM [unittest arguments]
"""
import csv
import io
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
TINY = "mb1ic8ih6oc16oh6kh3ph1"
LARGE = "mb8ic128ih28oc128oh28kh3ph1"
COMMANDS = ["machine", "suites", "space", "check", "tune", "compare", "run", "explain", "query", "replay"]


class Case(unittest.TestCase):
    """A scratch directory with a database file of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.database = self.folder / "trials.db"

    def start(self, *arguments, **options):
        return subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                cwd=self.folder, **options)

    def run_program(self, *arguments, **options):
        process = self.start(*arguments, **options)
        try:
            out, err = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, out, err

    def good(self, *arguments):
        code, out, err = self.run_program(*arguments)
        self.assertEqual(code, 0, f"{arguments}\n{out}\n{err}")
        return out

    def refused(self, *arguments, names, code=2):
        """Exit code 2, nothing on stdout, and one line on stderr that names the bad piece."""
        got, out, err = self.run_program(*arguments)
        self.assertEqual(got, code, f"{arguments}\n{out}\n{err}")
        self.assertEqual(out, "")
        self.assertRegex(err, r"\A(loopbrick: [^\n]+)\n\Z")
        for name in names:
            self.assertIn(name, err)

    def measured(self, *arguments):
        """A measuring command on this case's database, as rows."""
        text = self.good(*arguments, "--db", str(self.database), "--no-lock", "--format", "csv")
        return list(csv.DictReader(io.StringIO(text)))

    def count(self, where="1"):
        with sqlite3.connect(self.database) as connection:
            self.assertEqual(connection.execute("pragma integrity_check").fetchone()[0], "ok")
            return connection.execute(f"select count(*) from trial where {where}").fetchone()[0]


class Usage(Case):
    def test_help_lists_every_command(self):
        out = self.good("--help")
        for command in COMMANDS:
            self.assertRegex(out, rf"(?m)^  {command}\b")
        self.assertNotIn("worker", out)

    def test_help_of_every_command_has_an_example(self):
        for command in COMMANDS:
            out = self.good(command, "--help")
            self.assertRegex(out, rf"(?s)Example.*\n  loopbrick {command}\b")

    def test_every_example_names_real_options(self):
        for command in COMMANDS:
            out = self.good(command, "--help")
            options, examples = out.split("Example", 1)
            for option in re.findall(r"--[a-z-]+", examples):
                self.assertIn(option, options, f"{command}: {option}")

    def test_version_names_commit_and_compiler(self):
        self.assertRegex(self.good("--version"), r"\Aloopbrick \d+\.\d+\.\d+ \S+ g\+\+-\d+\S* \S+")

    def test_help_starts_neither_baselines_nor_threads(self):
        out = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
        for library in ("dnnl", "openblas"):
            self.assertNotIn(library, out)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
