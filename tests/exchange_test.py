#!/usr/bin/python3
"""What leaves a database and comes into another one: wisdom, CSV and JSON.

Usage: exchange_test.py PROGRAM [unittest arguments]
"""
import json
import os
import subprocess

import program
from program import QUICK, TINY, Case, main, rows

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


class Bundle(Case):
    def made(self):
        self.measured("tune", TINY, "--budget", "2trials", "--threads", "1")
        self.measured("compare", TINY, "--threads", "1", "--impl", "small-gemm", *QUICK)
        self.assertEqual(self.good("export", "bundle", "bundle", "--db", str(self.database)), "")
        return self.folder / "bundle"

    def test_it_has_every_table_and_claims_with_their_trials(self):
        bundle = self.made()
        self.assertEqual(rows(self.good("db", "check", str(bundle / "trials.db"), "--format", "csv"))[0]["faults"], "0")
        for table in ("trial", "sample", "campaign", "comparison", "machine", "build"):
            (count,), = self.sql(f"SELECT count(*) FROM {table}")
            self.assertEqual(len(rows((bundle / "csv" / f"{table}.csv").read_text())), count, table)
        claim, = rows((bundle / "claims.csv").read_text())
        (choice, median), = self.sql(f"SELECT choice, confirmed_median FROM trial WHERE id = {claim['trial']}")
        self.assertEqual(claim["choice"], choice)
        self.assertAlmostEqual(float(claim["median_s"]) / median, 1)
        ratio, = rows((bundle / "ratios.csv").read_text())
        self.assertEqual(ratio["other"], "small-gemm")
        self.assertIn(claim["machine"], (bundle / "machines.md").read_text())

    def test_its_claims_are_measured_again(self):
        bundle = self.made()
        environment = dict(os.environ, PATH=f"{os.path.dirname(program.PROGRAM)}:{os.environ['PATH']}")
        before = (bundle / "trials.db").read_bytes()
        done = subprocess.run([bundle / "check.sh", "--no-lock", "--format", "csv", *QUICK], capture_output=True,
                              text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        stored, replayed = rows(done.stdout)
        claim, = rows((bundle / "claims.csv").read_text())
        self.assertEqual((stored["trial"], replayed["choice"]), (claim["trial"], claim["choice"]))
        self.assertGreater(float(replayed["ratio"]), 0)
        self.assertEqual((bundle / "trials.db").read_bytes(), before)

    def test_it_writes_over_nothing(self):
        self.made()
        self.refused("export", "bundle", "bundle", "--db", str(self.database), names=["bundle", "empty"])
        self.refused("export", "bundle", "--db", str(self.database), names=["DIR"])
        self.refused("export", "bundle", "other", "--db", "nowhere.db", names=["nowhere.db"])
        self.assertFalse((self.folder / "other").exists())
        self.refused("export", "csv", "other", "--db", str(self.database), names=["other"])


if __name__ == "__main__":
    main()
