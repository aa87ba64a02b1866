#!/usr/bin/python3
"""Bad input is one line that names the bad piece, and exit code 2."""
import os
import resource
import shutil
import sqlite3
import subprocess
import time
import unittest

import program
from program import QUICK, TINY, Case, is_sanitized, main


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


class BadInput(Case):
    def test_arguments(self):
        self.refused(names=["--help"])
        self.refused("tume", TINY, names=["tume", "tune"])
        self.refused("tune", TINY, "--bugdet", "1s", names=["--bugdet"])
        self.refused("query", "bets", names=["bets", "best"])
        self.refused("machine", "--threads", "0", names=["--threads"])
        self.refused("suites", "--format", "xml", names=["xml", "csv"])

    def test_suites_and_files(self):
        self.refused("tune", "--suite", "resnet51", names=["resnet51", "resnet50"])
        self.refused("tune", "--suite", "resnet50:21", names=["21"])
        self.refused("space", "--batch", "nowhere.txt", names=["nowhere.txt"])
        self.refused("tune", names=["--suite"])

    def test_problems(self):
        for text, names in [
            ("mb1ic8ih6oc16oh20kh3ph1", ["oh20"]),
            ("mb1ic8ih6zz3", ["zz"]),
            ("mb0ic8ih6oc16kh3", ["mb"]),
            ("mb1ic99999999999999999999ih6oc16kh3", ["ic"]),
            ("gemm 4x5:6x7", ["4x5:6x7"]),
            ("conv sideways mb1ic8ih6oc16kh3", ["sideways"]),
        ]:
            self.refused("tune", text, names=names)
        self.refused("tune", f"fwd {TINY}", "--dir", "bwd_w", names=["fwd"])
        self.refused("tune", TINY, "--mb", "2..1", names=["2..1"])

    def test_sizes_beyond_what_fits(self):
        options = {} if is_sanitized() else {"preexec_fn": limit_memory}
        for text in ["mb268435456ic3ih56oc64oh56kh1", "mb1ic1ih46341oc1kh1", "mb46341ic1ih46341iw1oc1kh1"]:
            begin = time.monotonic()
            code, out, err = self.run_program("run", text, "--schedule", "N k p q @ c * c r s", "--db",
                                              str(self.database), "--no-lock", **options)
            self.assertIn(code, (1, 2, 5), f"{text}\n{out}\n{err}")
            self.assertLess(time.monotonic() - begin, 60)
            self.assertNotIn("bad_alloc", err)
        self.refused("explain", "mb4294967296ic4294967296ih56oc64oh56kh1", names=["2^63"])

    def test_schedules(self):
        for text, names in [("N k64 p q14 @", ["depth"]), ("N k64 ! q14 @ c64 * c r s", ["!"]), ("", ["schedule"])]:
            self.refused("run", TINY, "--schedule", text, names=names)
        self.refused("explain", TINY, "--no-lock", "--schedule", "N k p @ c8 * c r s", names=["q"])

    def test_an_empty_text_is_not_taken_for_none(self):
        self.measured("run", TINY, "--schedule", "N k16 p q6 @ c8 * c r s", *QUICK)
        for command in ("check", "explain", "compare", "run"):
            self.refused(command, TINY, "--schedule", "", names=["the schedule is empty"])
        self.refused("query", "--sql", "", "--db", str(self.database), names=["SQL is empty"])
        self.refused("query", "best", "--problem", "", "--db", str(self.database), names=["loopbrick"])
        self.refused("compare", TINY, "--budget", "", names=["budget"])

    def test_numbers_that_are_none(self):
        self.refused("compare", TINY, "--fail-below", "nan", names=["--fail-below", "nan"])
        self.refused("run", TINY, "--impl", "small-gemm", "--sample-ms", "-nan", names=["--sample-ms", "nan"])
        for command in ("check", "tune", "compare"):
            self.refused(command, TINY, "--seed", "-1", names=["--seed", "-1"])

    def test_instructions_of_a_kernel_that_has_none(self):
        self.refused("explain", TINY, "--no-lock", "--isa", "ref", "--asm", names=["--asm", "ref"])

    def test_a_batch_file_of_another_kind_names_the_option(self):
        (self.folder / "shapes").write_text("64x64:64x64\n")
        self.refused("space", "--batch", "shapes", names=["shapes:1", "conv", "--kind"])
        self.good("space", "--batch", "shapes", "--kind", "gemm")

    def test_without_the_library_of_baselines(self):
        alone = self.folder / "bare" / "loopbrick"
        alone.parent.mkdir()
        shutil.copy(program.PROGRAM, alone)
        for name in ("onednnn", "onednn"):
            done = subprocess.run([alone, "compare", TINY, "--impl", name], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, rf"\Aloopbrick: --impl '{name}' is not among [^\n]+_baselines.so[^\n]*\n\Z")
        done = subprocess.run([alone, *self.measuring("compare", TINY, *QUICK)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^warning: .*loopbrick_baselines.so")

    def test_budgets(self):
        for text in ["0s", "0trials", "-3s", "soon", "5s,6s"]:
            self.refused("tune", TINY, "--budget=" + text, names=[text.split(",")[-1]])

    def test_the_gate(self):
        self.refused("compare", TINY, "--junit", "x.xml", names=["--junit", "--against"])
        self.refused("compare", TINY, "--against", "nowhere.db@abc", names=["nowhere.db"])
        self.refused("compare", TINY, "--against", "a.db", "--impl", "onednn", names=["--against", "--impl"])

    def test_compare_has_no_budget_of_trials(self):
        for text in ["200trials", "60s,200trials"]:
            self.refused("compare", TINY, "--impl", "small-gemm", "--budget", text, names=["trials", "120s"])

    def test_implementations(self):
        self.refused("compare", TINY, "--impl", "onednnn", names=["onednnn", "onednn"])
        self.refused("run", TINY, names=["--schedule", "--impl"])
        self.refused("check", TINY, "--schedule", "N k16 p q6 @ c8 * c r s", "--impl", "small-gemm",
                     names=["--schedule", "--impl"])

    def test_foreign_and_damaged_databases(self):
        self.database.write_text("not a database, but long enough to look like a file of some kind\n" * 20)
        before = self.database.read_bytes()
        self.refused("tune", TINY, "--db", str(self.database), names=["trials.db"])
        self.assertEqual(self.database.read_bytes(), before)
        self.database.unlink()
        with sqlite3.connect(self.database) as connection:
            connection.execute("CREATE TABLE holiday(place TEXT)")
        before = self.database.read_bytes()
        self.refused("tune", TINY, "--db", str(self.database), names=["trials.db"])
        self.assertEqual(self.database.read_bytes(), before)

    def test_missing_and_unwritable_databases(self):
        self.refused("query", "best", "--db", "nowhere.db", names=["nowhere.db"])
        self.assertFalse((self.folder / "nowhere.db").exists())
        self.refused("tune", TINY, "--db", "no/such/folder/x.db", names=["no/such/folder/x.db"])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_database(self):
        self.database.touch(mode=0o400)
        self.refused("tune", TINY, "--db", str(self.database), names=["trials.db"])

    def test_database_files_named_to_db(self):
        for action in ("info", "check", "update"):
            self.refused("db", action, "nowhere.db", names=["nowhere.db", "does not exist"])
            self.refused("db", action, "a.db", "b.db", names=["b.db"])
        self.refused("db", "merge", "all.db", names=["FROM"])
        self.refused("db", "merge", "all.db", "nowhere.db", names=["nowhere.db"])
        self.refused("db", "mend", names=["mend", "merge"])
        self.refused("db", names=["action"])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_sql_is_read_only_and_its_errors_are_bad_input(self):
        self.measured("tune", TINY, "--budget", "2trials")
        for text in ["DELETE FROM trial", "UPDATE trial SET outcome = 'ok'", "SELEC 1", "SELECT nothing FROM trial",
                     "PRAGMA user_version = 7"]:
            self.refused("query", "--sql", text, "--db", str(self.database), names=["loopbrick"])
        self.refused("replay", "4711", "--db", str(self.database), names=["4711"])


if __name__ == "__main__":
    main()
