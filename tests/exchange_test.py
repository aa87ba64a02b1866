#!/usr/bin/python3
"""What leaves a database and comes into another one: wisdom, CSV and JSON.

Usage: exchange_test.py PROGRAM [unittest arguments]
"""
import json
import os
import sys
import unittest

import end_to_end_test
from end_to_end_test import QUICK, TINY, Case, rows

SCHEDULE = "N k16 p q6 @ c8 * c r s"


class Wisdom(Case):
    def confirmed(self):
        """One confirmed trial in the database."""
        self.measured("tune", TINY, "--budget", "2trials", "--threads", "1")
        return self.export("wisdom")

    def export(self, what, *arguments):
        return self.good("export", what, *arguments, "--db", str(self.database))

    def write(self, text):
        file = self.folder / "some.wisdom"
        file.write_text(text)
        return str(file)

    def imported(self, text, code=0):
        arguments = ["import", self.write(text), "--db", str(self.folder / "other.db"), "--format", "csv"]
        got, out, err = self.run_program(*arguments)
        self.assertEqual(got, code, err)
        return rows(out)

    def test_what_is_exported_is_exact_here(self):
        row, = self.imported(self.confirmed())
        self.assertEqual((row["fit"], row["why"]), ("exact", ""))
        best, = self.sql("SELECT choice FROM best")
        self.assertEqual(row["schedule"], best[0])

    def test_near_and_stale_entries_say_why(self):
        header, entry = self.confirmed().splitlines()
        conditions, problem, schedule, seconds = entry.split(" | ")
        near = self.imported("loopbrick wisdom 1 | another machine | a build gen1\n" + entry)
        self.assertEqual(near[0]["fit"], "near")
        self.assertIn("another machine", near[0]["why"])
        stale = self.imported(f"{header}\n{conditions} | {problem} | N k16 @ c8 | {seconds}", code=1)
        self.assertEqual(stale[0]["fit"], "stale")
        self.assertNotEqual(stale[0]["why"], "")

    def import_from_another_machine(self):
        self.database = self.folder / "other.db"
        self.imported("loopbrick wisdom 1 | another machine | a build gen1\n"
                      f"t1 avx2 warm | conv fwd f32 {TINY} | {SCHEDULE} | 1e-6")

    def test_compare_takes_what_was_imported(self):
        self.import_from_another_machine()
        ours = self.measured("compare", TINY, "--threads", "1", "--impl", "small-gemm", *QUICK)[0]
        self.assertEqual((ours["impl"], ours["implementation"]), ("imported", SCHEDULE))

    def test_tune_tries_what_was_imported_first(self):
        self.import_from_another_machine()
        self.measured("tune", TINY, "--budget", "3trials", "--threads", "1")
        self.assertEqual(self.sql("SELECT choice FROM trial ORDER BY id")[0][0], SCHEDULE)

    def test_a_file_that_is_no_wisdom_is_refused(self):
        for text, name in [("t1 avx2 warm | p | s | 1", "line 1"), ("loopbrick wisdom 2 | m | b", "format '2'")]:
            self.refused("import", self.write(text), "--db", str(self.database), names=[name, "some.wisdom"])
        self.refused("import", "nowhere.wisdom", names=["nowhere.wisdom"])
        self.assertFalse(self.database.exists())

    def test_csv_and_json_have_every_trial(self):
        self.confirmed()
        ids = [row[0] for row in self.sql("SELECT id FROM trial ORDER BY id")]
        self.assertEqual([int(row["id"]) for row in rows(self.export("csv"))], ids)
        self.assertEqual([row["id"] for row in json.loads(self.export("json"))], ids)
        self.assertEqual(json.loads(self.export("json", "--machine", "another")), [])


if __name__ == "__main__":
    end_to_end_test.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
