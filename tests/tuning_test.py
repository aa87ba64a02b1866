#!/usr/bin/python3
"""Tuning, comparing, replaying, and the database that is left."""
import re
import shutil
import sqlite3

from program import LONGER, QUICK, TINY, Case, main, rows, suite_of


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


if __name__ == "__main__":
    main()
