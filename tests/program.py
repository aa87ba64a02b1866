"""The real binary, from the outside: what all tests of it share. Each is started as TEST.py PROGRAM [unittest arguments]."""
import csv
import io
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = ""  # set by main
TINY = "mb1ic8ih6oc16oh6kh3ph1"
LONGER = "mb2ic64ih28oc64oh28kh3ph1"
QUICK = ["--rounds", "3", "--processes", "1", "--sample-ms", "1"]
COMMANDS = ["machine", "suites", "space", "check", "tune", "compare", "run", "explain", "query", "db", "replay",
            "table", "rehearse", "export", "import", "man", "completion"]


class Case(unittest.TestCase):
    """A scratch folder with a database file of its own."""

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

    def good(self, *arguments, **options):
        code, out, err = self.run_program(*arguments, **options)
        self.assertEqual(code, 0, f"{arguments}\n{out}\n{err}")
        return out

    def refused(self, *arguments, names, notes=False, **options):
        """Exit code 2, nothing on stdout, and one line on stderr that names the bad piece; with `notes` others before."""
        code, out, err = self.run_program(*arguments, **options)
        self.assertEqual(code, 2, f"{arguments}\n{out}\n{err}")
        self.assertEqual(out, "")
        self.assertRegex(err, r"(?m)^loopbrick: [^\n]+\n\Z" if notes else r"\Aloopbrick: [^\n]+\n\Z")
        for name in names:
            self.assertIn(name, err)

    def measuring(self, *arguments):
        """The arguments of a measuring command on this case's database."""
        return [*arguments, "--db", str(self.database), "--no-lock", "--format", "csv"]

    def measured(self, *arguments):
        return rows(self.good(*self.measuring(*arguments)))

    def sql(self, text):
        with sqlite3.connect(self.database) as connection:
            return connection.execute(text).fetchall()

    def assert_sound(self):
        self.assertEqual(self.sql("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.sql("PRAGMA foreign_key_check"), [])


def suite_of(junit):
    """The suite of a report, which must be valid XML."""
    return xml.etree.ElementTree.parse(junit).getroot().find("testsuite")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def is_sanitized():
    return " asan " in subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout


def main():
    """Takes the program's path off the command line and runs the tests of the module that was started."""
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__")
