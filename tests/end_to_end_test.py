#!/usr/bin/python3
"""The real binary, from the outside: usage, bad input, tuning, and what is left when it is stopped.

Usage: end_to_end_test.py PROGRAM [unittest arguments]
"""
import csv
import fcntl
import io
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

PROGRAM = ""
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


class Usage(Case):
    def test_help_lists_every_command_and_hides_the_worker(self):
        out = self.good("--help")
        for command in COMMANDS:
            self.assertRegex(out, rf"(?m)^  {command}\b")
        self.assertNotIn("worker", out)

    def test_every_command_has_examples_that_use_its_own_options(self):
        for command in COMMANDS:
            options, _, examples = self.good(command, "--help").partition("Example")
            self.assertRegex(examples, rf"\n  loopbrick {command}\b")
            for option in re.findall(r"--[a-z-]+", examples):
                self.assertIn(option, options, f"{command}: {option}")

    def test_version_names_commit_compiler_and_build(self):
        self.assertRegex(self.good("--version"), r"\Aloopbrick \d+\.\d+\.\d+ \S+ \S+-\d+\.\d+\.\d+ \S+ gen\d+\n\Z")

    def test_the_program_itself_is_not_linked_to_the_rivals(self):
        out = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
        for library in ("dnnl", "openblas"):
            self.assertNotIn(library, out)

    def test_suites_lists_the_paper_layers_with_their_counts(self):
        layers = rows(self.good("suites", "resnet50", "--format", "csv"))
        self.assertEqual([layer["layer"] for layer in layers], [str(i) for i in range(1, 21)])
        self.assertEqual(layers[0]["count"], "1")
        self.assertIn("ic3ih224oc64oh112kh7sh2ph3", layers[0]["problem"])

    def test_minibatch_is_the_number_of_threads_unless_given(self):
        out = self.good("space", "ic8ih6oc16oh6kh3ph1", "--threads", "1,3", "--format", "json")
        self.assertEqual({row["layer"].split("ic8")[0][-3:] for row in json.loads(out)}, {"mb1", "mb3"})

    def test_words_of_a_problem_may_be_quoted_or_not(self):
        one = self.good("space", f"conv fwd f32 {TINY}")
        self.assertEqual(self.good("space", "conv", "fwd", "f32", TINY), one)
        self.assertEqual(self.good("space", TINY), one)

    def test_space_counts_every_combination_once(self):
        found = {row["what"]: int(row["count"]) for row in rows(self.good("space", TINY, "--format", "csv"))}
        cuts = sum(count for what, count in found.items() if what.startswith("cut: "))
        self.assertEqual(found["combinations"], found["schedules"] + cuts)
        self.assertGreater(found["schedules"], 0)

    def test_a_space_of_more_than_a_milliard_is_counted_in_little_memory(self):
        if is_sanitized():
            self.skipTest("the address sanitizer reserves terabytes")
        out = self.good("space", "mb2ic512ih14oc512oh14kh3ph1", "--format", "csv",
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20)))
        self.assertGreater(int(rows(out)[-1]["count"]), 10**9)

    def test_strict_fails_where_numbers_cannot_be_trusted(self):
        code, out, _ = self.run_program("machine", "--strict", "--format", "csv", "--no-lock")
        trust = {row["fact"]: row["value"] for row in rows(out)}["trust"]
        self.assertEqual(code, 3 if trust == "C" else 0)

    def test_the_list_of_a_space_is_as_long_as_its_count(self):
        problem = "gemm 8x4:4x16"
        found = {row["what"]: int(row["count"]) for row in rows(self.good("space", problem, "--format", "csv"))}
        listed = self.good("space", problem, "--list").splitlines()
        self.assertEqual(len(listed), found["schedules"])
        self.assertEqual(len(set(listed)), len(listed))

    def test_a_result_that_cannot_be_written_is_a_failure(self):
        for arguments in (["suites"], ["query"], ["--help"], ["--version"]):
            for target in ("/dev/full", "&-"):
                done = subprocess.run(["sh", "-c", f'"$0" "$@" >{target}', PROGRAM, *arguments], capture_output=True,
                                      text=True, cwd=self.folder)
                self.assertEqual(done.returncode, 5, f"{arguments} >{target}: {done.stderr}")
                self.assertRegex(done.stderr, r"\Aloopbrick: [^\n]+\n\Z")

    def test_json_of_blobs_and_bad_utf8_is_json(self):
        self.measured("run", TINY, "--schedule", "N k16 p q6 @ c8 * c r s", *QUICK)
        text = "SELECT x'00ff' AS bytes, CAST(x'41ff42' AS TEXT) AS text"
        out = self.good("query", "--sql", text, "--format", "json", "--db", str(self.database))
        self.assertEqual(json.loads(out), [{"bytes": "x'00ff'", "text": "A\ufffdB"}])

    def test_a_suite_with_a_byte_order_mark_is_read(self):
        (self.folder / "mine.csv").write_text(f"layer,problem,count\na,{TINY},1\n", encoding="utf-8-sig")
        layer, = rows(self.good("suites", "mine.csv", "--format", "csv"))
        self.assertEqual(layer["layer"], "a")


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
        program = self.folder / "bare" / "loopbrick"
        program.parent.mkdir()
        shutil.copy(PROGRAM, program)
        for name in ("onednnn", "onednn"):
            done = subprocess.run([program, "compare", TINY, "--impl", name], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, rf"\Aloopbrick: --impl '{name}' is not among [^\n]+_baselines.so[^\n]*\n\Z")
        done = subprocess.run([program, *self.measuring("compare", TINY, *QUICK)], capture_output=True, text=True)
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


def is_sanitized():
    return " asan " in subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


class Tuning(Case):
    def test_tune_stores_confirms_and_reports_the_best(self):
        report, = self.measured("tune", TINY, "--budget", "20trials")
        self.assertEqual(report["confirmed"], "yes")
        self.assertGreater(float(report["gflops"]), 0)
        self.assert_sound()
        self.assertEqual(self.sql("SELECT count(*) FROM campaign"), [(1,)])
        trials, = self.sql("SELECT count(*) FROM trial WHERE implementation = 'loopbrick'")
        self.assertGreaterEqual(trials[0], int(report["trials"]))
        best = rows(self.good("query", "best", "--db", str(self.database), "--format", "csv"))
        self.assertIn(report["trial"], [row["trial"] for row in best])

    def test_a_second_tune_resumes_and_a_fresh_one_does_not(self):
        first, = self.measured("tune", TINY, "--budget", "12trials")
        again, = self.measured("tune", TINY, "--budget", "12trials")
        self.assertEqual(first["known"], "0")
        self.assertGreater(int(again["known"]), 0)
        fresh, = self.measured("tune", TINY, "--budget", "6trials", "--fresh")
        self.assertEqual(fresh["known"], "0")

    def test_every_strategy_finds_something(self):
        for strategy in ("exhaustive", "random", "model"):
            report, = self.measured("tune", TINY, "--budget", "6trials", "--strategy", strategy)
            self.assertTrue(report["trial"], strategy)
        self.refused("tune", TINY, "--strategy", "luck", names=["luck", "random"])

    def test_compare_reports_every_layer_and_implementation(self):
        self.measured("tune", TINY, "--budget", "6trials")
        table = self.measured("compare", TINY, "--impl", "small-gemm", *QUICK)
        self.assertEqual([row["impl"] for row in table], ["tuned", "small-gemm"])
        for column in ("layer problem impl implementation median_s gflops pct_of_peak executed_pct_of_peak included "
                       "speedup speedup_lo speedup_hi verdict trial").split():
            self.assertIn(column, table[0])
        other = table[1]
        self.assertLessEqual(float(other["speedup_lo"]), float(other["speedup_hi"]))
        self.assertIn(other["verdict"], ("SAME", "FASTER", "SLOWER", "AMBIGUOUS"))
        self.assert_sound()
        self.assertEqual(self.sql("SELECT count(*) FROM comparison"), [(1,)])

    def test_compare_runs_a_network_as_one(self):
        suite = self.folder / "net.csv"
        suite.write_text("layer,problem,count\na,fc mb24ic32oc32+bias+relu,2\nb,fc mb24ic32oc16,1\n")
        ours, other = self.measured("compare", "--network", "net.csv", "--dir", "fwd,bwd_d,bwd_w", "--impl", "eigen", *QUICK)
        self.assertEqual((ours["impl"], ours["problem"], ours["outcome"]), ("model", "6 problems, 9 runs", "ok"))
        self.assertGreater(float(ours["median_s"]), 0)
        if other["outcome"] == "ok":
            self.assertIn(other["verdict"], ("SAME", "FASTER", "SLOWER", "AMBIGUOUS"))
        self.assertEqual(self.sql("SELECT count(*) FROM trial"), [(0,)])
        self.refused("compare", TINY, "--network", "net.csv", names=["--network"])
        self.refused("compare", "--network", "net.csv", "--budget", "9s", names=["--budget"])

    def best_of_both(self):
        """The schedules that explain and compare take for the best known one."""
        told = self.good("explain", TINY, "--no-lock", "--db", str(self.database))
        table = self.measured("compare", TINY, "--impl", "small-gemm", *QUICK)
        return re.search(r"(?m)^schedule +(.*\S)  \(", told)[1], table[0]["implementation"]

    def change(self, *statements):
        with sqlite3.connect(self.database) as connection:
            for text in statements:
                connection.execute(text)

    def unconfirm(self):
        """As if only a search had measured what is there."""
        columns = {row[1] for row in self.sql("PRAGMA table_info(trial)")}
        pairs = [(name, name.replace("search_", "confirmed_")) for name in columns if name.startswith("search_")]
        moved = ", ".join(f"{search} = {confirmed}" for search, confirmed in pairs)
        counts = ("confirmed_n", "confirmed_processes")
        gone = ", ".join(f"{name} = {0 if name in counts else 'NULL'}" for _, name in pairs)
        self.change(f"UPDATE trial SET {moved}, {gone}")

    def test_compare_says_that_a_row_is_the_models_guess(self):
        arguments = self.measuring("compare", TINY, "--impl", "small-gemm", *QUICK)
        code, out, err = self.run_program(*arguments)
        self.assertEqual(code, 0, err)
        self.assertEqual([row["impl"] for row in rows(out)], ["model", "small-gemm"])
        self.assertRegex(err, r"(?m)^warning: one problem is not tuned: the model's first choice")
        self.measured("tune", TINY, "--budget", "4trials")
        code, out, err = self.run_program(*arguments)
        self.assertEqual(rows(out)[0]["impl"], "tuned")
        self.assertNotIn("not tuned", err)

    def test_explain_and_compare_take_what_a_search_measured_where_nothing_is_confirmed(self):
        schedule = "N k16 p q3 @ c8 * c r s"
        self.measured("run", TINY, "--schedule", schedule, *QUICK)
        self.unconfirm()
        self.assertEqual(self.best_of_both(), (schedule, schedule))

    def test_explain_says_that_a_search_measured_it(self):
        self.measured("run", TINY, "--schedule", "N k16 p q3 @ c8 * c r s", *QUICK)
        told = self.good("explain", TINY, "--no-lock", "--db", str(self.database))
        self.assertNotIn("not confirmed", told)
        self.unconfirm()
        told = self.good("explain", TINY, "--no-lock", "--db", str(self.database))
        self.assertRegex(told, r"(?m)^measured .*measured in a search, not confirmed")

    def test_a_breakdown_shares_out_the_time_of_an_lstm(self):
        products = {"fwd": ["W x", "R h"], "bwd": ["dh", "dx", "dw", "dr"]}
        rest = {"fwd": ["element-wise", "waiting"], "bwd": ["element-wise", "w', r'", "waiting"]}
        for direction in products:
            problem = f"lstm {direction} f32 t3mb4sic64"
            told = self.good("explain", problem, "--no-lock", "--threads", "1", "--breakdown")
            part = re.compile(r"(?m)^  (\S.*?) +(-?[\d.]+) %(?:  ([\d.]+) GFLOP/s)?$")
            parts = {name: (float(share), rate) for name, share, rate in part.findall(told)}
            self.assertEqual(list(parts), products[direction] + rest[direction])
            self.assertAlmostEqual(sum(share for share, rate in parts.values()), 100, delta=0.5)
            for name, (share, rate) in parts.items():
                self.assertGreaterEqual(share, 0, name)
                self.assertEqual(rate != "", name in products[direction], name)
        self.refused("explain", TINY, "--no-lock", "--breakdown", names=["--breakdown", "lstm"])

    def test_explain_and_compare_take_the_best_of_this_build(self):
        ours, others = "N k16 p q3 @ c8 * c r s", "N k16 p q6 @ c8 * c r s"
        for schedule in (ours, others):
            self.measured("run", TINY, "--schedule", schedule, *QUICK)
        self.change("INSERT INTO build SELECT 'older', version, revision, compiler, build_type, generator FROM build",
                    f"UPDATE trial SET build = 'older', confirmed_median = 1e-12 WHERE choice = '{others}'")
        self.assertEqual(self.best_of_both(), (ours, ours))

    def test_explain_and_compare_pass_over_a_schedule_that_no_longer_runs(self):
        for stale in ("N k16 p q6 @ c7 * c", "N k16 of an older grammar"):
            self.measured("run", TINY, "--schedule", "N k16 p q3 @ c8 * c r s", *QUICK)
            self.change(f"UPDATE trial SET choice = '{stale}' WHERE implementation = 'loopbrick'")
            self.assertNotIn(stale, self.best_of_both())

    def test_fail_below_is_an_exit_code(self):
        self.measured("tune", TINY, "--budget", "4trials")
        arguments = self.measuring("compare", TINY, "--impl", "small-gemm", *QUICK, "--fail-below", "1000000")
        self.assertEqual(self.run_program(*arguments)[0], 1)

    def test_a_layer_that_got_slower_fails_the_gate(self):
        self.measured("run", TINY, "--schedule", "N k16 p q6 @ c8 * c r s", *QUICK)
        stored = self.folder / "stored.db"
        shutil.copy(self.database, stored)
        junit = self.folder / "out.xml"
        gate = ["compare", TINY, *QUICK, "--against", str(stored), "--junit", str(junit), "--fail-below"]
        code, out, err = self.run_program(*self.measuring(*gate, "0.0001"))
        self.assertEqual(code, 0, err)
        self.assertEqual([row["verdict"] for row in rows(out)], ["fine"])
        self.assertEqual(suite_of(junit).attrib["failures"], "0")
        code, out, err = self.run_program(*self.measuring(*gate, "1000"))
        self.assertEqual(code, 1, err)
        row, = rows(out)
        self.assertEqual((row["verdict"], row["again"]), ("slower", "yes"))
        suite = suite_of(junit)
        self.assertEqual((suite.attrib["tests"], suite.attrib["failures"]), ("1", "1"))
        case, = suite.findall("testcase")
        self.assertIn(TINY, case.attrib["name"])
        self.assertIn("below 1000", case.find("failure").attrib["message"])
        self.assertIn("N k16 p q6 @ c8 * c r s", case.find("failure").text)
        self.assert_sound()

    def test_the_gate_compares_with_a_commit_of_this_machine_only(self):
        self.measured("run", TINY, "--schedule", "N k16 p q6 @ c8 * c r s", *QUICK)
        revision, = self.sql("SELECT revision FROM build")[0]
        named = f"{self.database}@{revision[:5]}"
        self.assertEqual([row["verdict"] for row in self.measured("compare", TINY, *QUICK, "--against", named)], ["fine"])
        self.refused(*self.measuring("compare", TINY, "--against", f"{self.database}@0123456789"), notes=True,
                     names=["0123456789", revision])
        code, out, _ = self.run_program(*self.measuring("compare", LONGER, *QUICK, "--against", str(self.database)))
        self.assertEqual((code, [row["verdict"] for row in rows(out)]), (1, ["not stored"]))
        elsewhere = self.folder / "elsewhere.db"
        shutil.copy(self.database, elsewhere)
        with sqlite3.connect(elsewhere) as connection:
            connection.execute("UPDATE machine SET id = 'another'")
        self.refused(*self.measuring("compare", TINY, "--against", str(elsewhere)), notes=True,
                     names=["this machine", "another"])

    def test_run_and_replay(self):
        run, = self.measured("run", TINY, "--schedule", "N k16 p q6 @ c8 * c r s", *QUICK)
        self.assertEqual(run["outcome"], "ok")
        stored, fresh = self.measured("replay", run["trial"], *QUICK)
        self.assertEqual(stored["trial"], run["trial"])
        self.assertNotEqual(fresh["trial"], run["trial"])
        self.assertGreater(float(fresh["ratio"]), 0)

    def test_saved_queries_answer_and_know_the_counted_space(self):
        self.measured("tune", TINY, "--budget", "6trials")
        found = {row["what"]: row["count"] for row in
                 rows(self.good("space", TINY, "--db", str(self.database), "--format", "csv"))}
        for query in rows(self.good("query", "--format", "csv")):
            answer = rows(self.good("query", query["query"], "--db", str(self.database), "--format", "csv"))
            if query["query"] == "coverage":
                self.assertEqual([row["schedules"] for row in answer], [found["schedules"]])
        self.refused("space", TINY, "--list", "--db", str(self.database), names=["--list", "--db"])

    def test_files_of_two_runs_are_merged_once(self):
        self.measured("run", TINY, "--schedule", "N k16 p q6 @ c8 * c r s", *QUICK)
        other = self.folder / "other.db"
        shutil.copy(self.database, other)
        self.measured("run", TINY, "--schedule", "N k16 p q3 @ c8 * c r s", *QUICK)
        merged = self.folder / "all.db"
        for trials in (["1", "1"], ["0", "0"]):
            report = rows(self.good("db", "merge", str(merged), str(other), str(self.database), "--format", "csv"))
            self.assertEqual([row["trials"] for row in report], trials)
        facts = {row["fact"]: row["value"] for row in rows(self.good("db", "info", str(merged), "--format", "csv"))}
        self.assertEqual((facts["trials"], facts["campaigns"]), ("2", "2"))
        self.assertEqual({row["faults"] for row in rows(self.good("db", "check", str(merged), "--format", "csv"))}, {"0"})
        with sqlite3.connect(merged) as connection:
            connection.execute("UPDATE trial SET number = 0 WHERE id = 1")
        code, out, _ = self.run_program("db", "check", str(merged), "--format", "csv")
        self.assertEqual(code, 1)
        self.assertIn("trial 1", out)

    def test_check_finds_the_space_right(self):
        out = self.good("check", TINY, "--sample", "10", "--threads", "1,2")
        self.assertEqual(len(out.splitlines()), 1, out)  # the header: nothing failed

    def test_a_check_of_what_was_named_is_bad_if_it_can_run_nothing(self):
        code, out, err = self.run_program("check", TINY, "--schedule", "n p q4 @ c16")
        self.assertEqual(code, 1, err)
        self.assertIn("not_applicable", out)

    def test_explain_shows_the_nest_and_needs_no_operands(self):
        out = self.good("explain", TINY, "--no-lock", "--schedule", "N k16 p q6 @ c8 * c r s")
        for piece in ("for n of 1 by 1  # shared", "for q of 6 by 6", "kernel:", "executed", "predicted"):
            self.assertIn(piece, out)

    def sides(self, *arguments):
        """The table of explain as {row: [A, B, B / A]}."""
        out = self.good("explain", TINY, "--no-lock", "--db", str(self.database), *arguments)
        _, _, table = out.partition("\nof one run ")
        return {cells[0]: cells[1:] for cells in (re.split("  +", line.strip()) for line in table.splitlines()[1:])}

    def test_explain_puts_two_schedules_side_by_side(self):
        first, second = "N k16 p q6 @ c8 * c r s", "N k16 p q3 @ c8 * c r s"
        found = self.sides("--schedule", first, "--against", second)
        self.assertEqual(found["kernel calls"], ["6", "12", "2"])
        self.assertEqual(found["barriers"], ["1", "1", "1"])
        self.assertEqual(found["executed FLOPs"][2], "1")
        self.assertAlmostEqual(float(found["predicted, s"][1]) / float(found["predicted, s"][0]),
                               float(found["predicted, s"][2]), places=2)
        self.assertEqual(found["stored, s"][0], "not available: no trial in the database")
        self.assertNotIn("cycles", found)
        run, = self.measured("run", TINY, "--schedule", second, *QUICK)
        found = self.sides("--schedule", first, "--against", second)
        self.assertTrue(found["stored, s"][0].startswith("not available"))
        self.assertAlmostEqual(float(found["stored, s"][1]) / float(run["median_s"]), 1, places=2)

    def test_explain_counts_or_says_why_not(self):
        found = self.sides("--schedule", "N k16 p q6 @ c8 * c r s", "--against", "small-gemm", "--counters")
        self.assertEqual(found["kernel calls"][0], "6")
        self.assertEqual(found["kernel calls"][1], "not available: known of our schedules only")
        self.assertGreater(float(found["timed now, s"][2]), 0)
        for event in ("cycles", "instructions", "L1 misses", "L2 misses", "LLC misses", "dTLB misses"):
            for cell in found[event][:2]:
                self.assertRegex(cell, r"\A(not available: .+|[0-9.e+-]+)\Z")

    def test_explain_refuses_an_arm_that_is_neither(self):
        arguments = ["explain", TINY, "--no-lock", "--against"]
        self.refused(*arguments, "onednnn", names=["onednnn", "onednn", "schedule"])
        self.refused(*arguments, "N p q6 @ c8 * c r s", names=["k"])
        code, out, _ = self.run_program(*arguments, "libxsmm-rim:nonsense", "--counters")
        if code != 2:  # libxsmm is not switched off
            self.assertEqual(code, 1)
            self.assertIn("timed now, s", out)

    def test_a_perf_map_names_every_kernel_to_perf(self):
        schedule = "N k16 p q6 @ c8 * c r s"
        begin = time.time() - 1  # the clock of files ticks slowly
        maps = lambda: {file for file in pathlib.Path("/tmp").glob("perf-*.map") if file.stat().st_mtime >= begin}
        self.measured("run", TINY, "--schedule", schedule, *QUICK)
        self.assertEqual(maps(), set())
        self.measured("run", TINY, "--schedule", schedule, *QUICK, "--perf-map")
        made, = maps()
        self.addCleanup(made.unlink)
        lines = [re.fullmatch(r"[0-9a-f]+ [0-9a-f]+ (.+)", line) for line in made.read_text().splitlines()]
        told = self.good("explain", TINY, "--no-lock", "--schedule", schedule)
        kernels = re.findall(r"(?m)^  (\S+ f32 m\d.*)$", told)
        self.assertEqual(sorted(line[1] for line in lines), sorted(kernels))

    def test_explain_lists_the_instructions(self):
        if "isa  ref" in " ".join(self.good("machine", "--no-lock").split("\n")):
            self.skipTest("no generated code on this CPU")
        out = self.good("explain", TINY, "--no-lock", "--schedule", "N k16 p q6 @ c8 * c r s", "--asm")
        self.assertRegex(out, r"vfmadd231ps")


class Interruption(Case):
    LONG = ("tune", LONGER, "--strategy", "random", "--budget", "600s")  # random: asks the same again

    def wait_for_trials(self, process, least):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            self.assertIsNone(process.poll(), "the tune ended by itself")
            if self.database.exists():
                try:
                    if self.sql("SELECT count(*) FROM trial")[0][0] >= least:
                        return
                except sqlite3.OperationalError:
                    pass  # the tables are being made
            time.sleep(0.05)
        self.fail("no trials after two minutes")

    def finish(self, process):
        try:
            return process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise

    def test_one_interrupt_ends_after_the_running_trial_and_keeps_the_data(self):
        process = self.start(*self.measuring(*self.LONG))
        self.wait_for_trials(process, 5)
        process.send_signal(signal.SIGINT)
        out, err = self.finish(process)
        self.assertEqual(process.returncode, 4, err)
        self.assert_sound()
        self.assertEqual(self.sql("SELECT how FROM campaign"), [("interrupted",)])
        kept = self.sql("SELECT count(*) FROM trial")[0][0]
        self.assertGreaterEqual(kept, 5)
        self.assertEqual(rows(out)[0]["problem"], f"conv fwd f32 {LONGER}")

    def test_kill_loses_nothing_that_was_stored_and_a_second_run_resumes(self):
        process = self.start(*self.measuring(*self.LONG))
        self.wait_for_trials(process, 5)
        process.kill()
        self.finish(process)
        self.assert_sound()
        kept = self.sql("SELECT count(*) FROM trial")[0][0]
        self.assertGreaterEqual(kept, 5)
        report, = self.measured("tune", LONGER, "--strategy", "random", "--budget", "3trials")
        self.assertGreater(int(report["known"]), 0)

    def test_a_signal_to_the_whole_group_is_no_fault_of_the_running_schedule(self):
        kept = 0
        for kind in (signal.SIGTERM, signal.SIGHUP):
            process = self.start(*self.measuring(*self.LONG), start_new_session=True)
            self.wait_for_trials(process, kept + 3)
            os.killpg(process.pid, kind)
            _, err = self.finish(process)
            self.assertEqual(process.returncode, 4, err)
            kept = self.sql("SELECT count(*) FROM trial")[0][0]
        self.assertEqual(self.sql("SELECT DISTINCT outcome FROM trial"), [("ok",)])
        self.assertEqual(self.sql("SELECT how FROM campaign"), [("interrupted",)] * 2)
        self.assert_sound()

    def test_two_tuners_share_one_file(self):
        both = [self.start(*self.measuring("tune", TINY, "--strategy", "random", "--budget", "15trials", "--seed", seed))
                for seed in ("1", "2")]
        reports = [rows(self.finish(process)[0])[0] for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0])
        self.assert_sound()
        stored, = self.sql("SELECT count(*), count(DISTINCT campaign) FROM trial WHERE search_n > 0 OR outcome <> 'ok'")
        self.assertEqual(stored, (sum(int(report["trials"]) for report in reports), 2))
        self.good("db", "check", str(self.database))

    def test_a_wait_for_the_machine_is_told_and_can_be_ended(self):
        with open(lock_path(), "a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = self.start("tune", TINY, "--db", str(self.database))
            seen = process.stderr.readline() + process.stderr.readline()
            process.send_signal(signal.SIGINT)
            _, err = self.finish(process)
        self.assertIn("waiting", seen)
        self.assertIn(lock_path(), seen)
        self.assertEqual(process.returncode, 4, err)

    def test_an_interrupt_ends_rounds_between_two_processes(self):
        many = ["--rounds", "900", "--processes", "900", "--sample-ms", "1"]
        self.measured("run", LONGER, "--schedule", "N k64 p q14 @ c64 * c r s", *QUICK)
        for command in (["compare", LONGER, "--impl", "small-gemm"], ["run", LONGER, "--impl", "small-gemm"],
                        ["replay", "1"]):
            kept = self.sql("SELECT count(*) FROM trial")
            process = self.start(*self.measuring(*command, *many))
            campaigns = self.sql("SELECT count(*) FROM campaign")[0][0]
            deadline = time.monotonic() + 120
            while self.sql("SELECT count(*) FROM campaign")[0][0] == campaigns and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(1)  # now the rounds are being run
            process.send_signal(signal.SIGTERM)
            begin = time.monotonic()
            _, err = self.finish(process)
            self.assertEqual(process.returncode, 4, f"{command}: {err}")
            self.assertLess(time.monotonic() - begin, 20, command)
            self.assertEqual(self.sql("SELECT count(*) FROM trial"), kept, command)
            self.assertEqual(self.sql("SELECT how FROM campaign ORDER BY id DESC LIMIT 1"), [("interrupted",)])

    def start_slow_trial(self):
        """A trial of minutes: nobody waits for the plain C++ loops of an LSTM."""
        process = self.start(*self.measuring("tune", "lstm", "fwd", "t50mb256sic1024", "--isa", "ref"))
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                if self.database.exists() and self.sql("SELECT count(*) FROM campaign")[0][0] > 0:
                    break
            except sqlite3.OperationalError:
                pass  # the tables are being made
            time.sleep(0.05)
        time.sleep(2)  # now the worker is busy
        return process, children_of(process.pid)

    def test_an_interrupt_does_not_wait_for_a_slow_trial_and_stores_no_failure(self):
        process, _ = self.start_slow_trial()
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = self.finish(process)
        self.assertEqual(process.returncode, 4, err)
        self.assertLess(time.monotonic() - begin, 15)
        self.assertEqual(self.sql("SELECT count(*) FROM trial"), [(0,)])
        self.assertEqual(self.sql("SELECT how FROM campaign"), [("interrupted",)])

    def test_a_second_interrupt_ends_at_once(self):
        process, workers = self.start_slow_trial()
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertLess(time.monotonic() - begin, 2)
        time.sleep(1)
        self.assertEqual([pid for pid in workers if is_running(pid)], [])

    def test_no_worker_outlives_its_tuner(self):
        process = self.start(*self.measuring(*self.LONG))
        self.wait_for_trials(process, 1)
        workers = children_of(process.pid)
        self.assertTrue(workers)
        process.kill()
        self.finish(process)
        deadline = time.monotonic() + 30
        while any(is_running(pid) for pid in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([pid for pid in workers if is_running(pid)], [])


def lock_path():
    folder = "/run/lock" if os.access("/run/lock", os.W_OK) else "/tmp"
    return folder + "/loopbrick.lock"


def children_of(parent):
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            if f"\nPPid:\t{parent}\n" in status.read_text():
                found.append(int(status.parent.name))
        except OSError:
            continue
    return found


def is_running(pid):
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
