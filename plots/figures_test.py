#!/usr/bin/python3
"""Each figure from an invented database: figures_test.py RESULTS_FIXTURE."""

import csv
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import data
import fig_approaches
import fig_conv
import fig_fc
import fig_lstm
import fig_search

PLOTS = Path(__file__).resolve().parent
FIXTURE = ""  # the program that writes invented databases; from the command line
ALL = "onednn,onednn-nhwc,eigen,im2col,small-gemm"


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def database(self, passes="fwd", peers=ALL):
        file = self.folder / "results.db"
        subprocess.run([FIXTURE, "plausible", file, passes, peers], check=True)
        return file

    def rows(self, figure, file, **options):
        """Draws, checks both pictures, gives the table's rows."""
        figure.main(file, self.folder / "out", **options)
        base = self.folder / "out" / figure.NAME
        self.assertTrue(base.with_suffix(".png").read_bytes().startswith(b"\x89PNG"))
        self.assertGreater(base.with_suffix(".png").stat().st_size, 20000)
        self.assertIn("</svg>", base.with_suffix(".svg").read_text(encoding="utf-8"))
        with open(base.with_suffix(".csv"), encoding="utf-8") as table:
            return list(csv.DictReader(table))

    def refusal(self, figure, file, **options):
        with self.assertRaises(data.Missing) as caught:
            figure.main(file, self.folder / "out", **options)
        self.assertFalse((self.folder / "out").exists())
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_approaches_shows_twenty_layers_and_the_network(self):
        file = self.database()
        before = file.read_bytes()
        rows = self.rows(fig_approaches, file)
        self.assertEqual(file.read_bytes(), before)
        self.assertEqual(len(rows), 4 * 21)
        self.assertEqual([row["layer"] for row in rows[::4]], [str(n) for n in range(1, 21)] + ["network"])
        connection = sqlite3.connect(file)
        for row in rows[:-4]:
            stored = connection.execute("SELECT implementation, flops / confirmed_median / 1e9 FROM trial WHERE id = ?",
                                        (row["trial"],)).fetchone()
            self.assertEqual(row["implementation"], stored[0])
            self.assertAlmostEqual(float(row["gflops"]), stored[1])
        network, = connection.execute("SELECT sum(count * flops) / sum(count * median_s) / 1e9"
                                      " FROM layers JOIN trial ON trial.id = trial").fetchone()
        self.assertAlmostEqual(float(rows[-1]["gflops"]), network)

    def test_approaches_takes_the_better_layout_of_each_layer(self):
        rows = self.rows(fig_approaches, self.database())
        connection = sqlite3.connect(self.folder / "results.db")
        taken = {row["problem"]: row["implementation"] for row in rows[:-4] if "onednn" in row["implementation"]}
        self.assertEqual(set(taken.values()), {"onednn", "onednn-nhwc"})
        for problem, implementation in taken.items():
            better, = connection.execute("SELECT implementation FROM best WHERE problem = ? AND implementation LIKE"
                                         " 'onednn%' ORDER BY median_s LIMIT 1", (problem,)).fetchone()
            self.assertEqual(implementation, better)

    def test_conv_has_one_panel_for_a_pass_with_data(self):
        rows = self.rows(fig_conv, self.database())
        self.assertEqual({row["pass"] for row in rows}, {"fwd"})
        self.assertEqual(len(rows), 3 * 20)
        connection = sqlite3.connect(self.folder / "results.db")
        for row in rows[20:]:
            stored, = connection.execute("SELECT ratio FROM comparison WHERE other = ?", (row["trial"],)).fetchone()
            self.assertAlmostEqual(float(row["speedup"]), stored)

    def test_conv_has_three_panels_for_three_passes(self):
        rows = self.rows(fig_conv, self.database("fwd,bwd_d,bwd_w"))
        self.assertEqual(list(dict.fromkeys(row["pass"] for row in rows)), ["fwd", "bwd_d", "bwd_w"])
        self.assertEqual(len(rows), 3 * 3 * 20)

    def database_of(self, kind, suite, passes, before_mb):
        """The invented comparisons under the name of another kind of problem."""
        file = self.database(",".join(passes.values()))
        connection = sqlite3.connect(file)
        connection.execute("PRAGMA foreign_keys = off")
        for table in ("layer", "trial"):
            for new, old in passes.items():
                connection.execute(f"UPDATE {table} SET problem = replace(problem, 'conv {old} f32 mb', "
                                   f"'{kind} {new} f32 {before_mb}mb')")
        connection.execute(f"UPDATE layer SET suite = '{suite}'")
        connection.commit()
        connection.close()
        return file

    def test_fc_has_a_panel_for_each_pass_with_one_large_gemm(self):
        file = self.database_of("fc", "fc", {"fwd": "fwd", "bwd_d": "bwd_d", "bwd_w": "bwd_w"}, "")
        self.assertIn("no comparison", self.refusal(fig_conv, file))
        rows = self.rows(fig_fc, file)
        self.assertEqual(list(dict.fromkeys(row["pass"] for row in rows)), ["fwd", "bwd_d", "bwd_w"])
        self.assertEqual(len(rows), 3 * 4 * 20)

    def test_lstm_leaves_out_what_was_not_compared(self):
        file = self.database_of("lstm", "lstm", {"fwd": "fwd", "train": "bwd_d", "bwd": "bwd_w"}, "t50")
        rows = self.rows(fig_lstm, file)
        self.assertEqual(list(dict.fromkeys(row["pass"] for row in rows)), ["fwd", "train", "bwd"])
        self.assertEqual({row["series"] for row in rows}, {"loopbrick", "oneDNN", "large GEMMs, element-wise apart"})

    def test_a_newer_campaign_wins_and_an_older_one_can_be_asked_for(self):
        file = self.database()
        self.database()  # the same again: campaigns 4 to 6
        trials = lambda **more: {int(row["trial"]) for row in self.rows(fig_conv, file, **more)}
        in_campaign = dict(sqlite3.connect(file).execute("SELECT id, campaign FROM trial"))
        self.assertEqual({in_campaign[trial] for trial in trials()}, {5})
        self.assertEqual({in_campaign[trial] for trial in trials(campaign=2)}, {2})

    def test_a_newer_campaign_of_one_layer_does_not_hide_the_suite(self):
        file = self.database()
        connection = sqlite3.connect(file)
        connection.executescript(
            "INSERT INTO campaign SELECT 9, command, machine, build, strategy, budget, seed, trust, warnings, 1, 1, 1, 1,"
            " 1, 1, 1, started, ended, how, 'another' FROM campaign WHERE id = 2;"
            "INSERT INTO comparison SELECT NULL, 9, trial, other, ratio, lo, hi, rounds, verdict FROM comparison LIMIT 5;")
        connection.close()
        self.assertEqual(len(self.rows(fig_conv, file)), 3 * 20)

    def test_what_is_missing_is_named_in_one_line(self):
        file = self.database(peers="onednn,onednn-nhwc,eigen,im2col")
        self.assertIn("small-gemm", self.refusal(fig_approaches, file))
        self.assertIn("no comparison of suite vgg", self.refusal(fig_conv, file, suite="vgg"))
        self.assertIn("no comparison", self.refusal(fig_conv, file, campaign=77))
        self.assertIn("no comparison", self.refusal(fig_approaches, file, machine="another"))
        self.assertIn("no comparison", self.refusal(fig_approaches, file, minibatch=16))

    def test_a_missing_or_foreign_database_is_refused(self):
        self.assertIn("does not exist", self.refusal(fig_conv, self.folder / "none.db"))
        self.assertFalse((self.folder / "none.db").exists())
        (self.folder / "text.db").write_text("not a database, but long enough to look at " * 30, encoding="utf-8")
        self.assertIn("not a database of loopbrick", self.refusal(fig_conv, self.folder / "text.db"))
        sqlite3.connect(self.folder / "foreign.db").executescript("CREATE TABLE trial(id);")
        self.assertIn("not a database of loopbrick", self.refusal(fig_approaches, self.folder / "foreign.db"))

    def test_as_a_program_it_exits_with_2_and_one_line(self):
        done = subprocess.run([sys.executable, "-B", PLOTS / "fig_conv.py", "--db", self.folder / "none.db"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, f"fig-conv: database '{self.folder / 'none.db'}' does not exist\n")

    def test_as_a_program_it_writes_where_it_is_told(self):
        subprocess.run([sys.executable, "-B", PLOTS / "fig_approaches.py", "--db", self.database(), "--out",
                        self.folder / "here"], check=True)
        self.assertEqual(sorted(file.name for file in (self.folder / "here").iterdir()),
                         ["fig-approaches.csv", "fig-approaches.png", "fig-approaches.svg"])

    def test_a_layer_that_failed_leaves_a_gap(self):
        file = self.database()
        connection = sqlite3.connect(file)
        connection.executescript("UPDATE trial SET outcome = 'crashed', reason = 'SIGSEGV' WHERE id ="
                                 " (SELECT min(id) FROM trial WHERE implementation = 'im2col');")
        connection.close()
        rows = self.rows(fig_approaches, file)
        self.assertEqual(len(rows), 4 * 21 - 1)
        self.assertEqual({row["count"] for row in rows[-4:]}, {"52"})  # all but layer 1, which the network has once

    def rehearsal(self, lines):
        file = self.folder / "rehearsal.csv"
        file.write_text("table,schedules,strategy,trials,regret_pct\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8")
        return file

    def test_search_shows_the_median_over_tables_of_every_strategy(self):
        file = self.rehearsal(["a,2000,model,1,9", "b,1000,model,1,3", "c,1500,model,1,5", "a,2000,model,10,0.5", "b,1000,model,10,0.2",
                               "c,1500,model,10,2", "a,2000,random,1,", "b,1000,random,1,80", "c,1500,random,1,40",
                               "a,2000,random,20,7"])
        fig_search.main(file, self.folder / "out")
        with open(self.folder / "out" / "fig-search.csv", encoding="utf-8") as table:
            rows = {(row["strategy"], row["trials"]): row for row in csv.DictReader(table)}
        self.assertEqual(float(rows["model", "1"]["median_regret_pct"]), 5)
        self.assertEqual(float(rows["model", "10"]["median_regret_pct"]), 0.5)
        self.assertEqual(rows["model", "10"]["tables_within_1_pct"], "2")
        self.assertEqual(float(rows["random", "1"]["median_regret_pct"]), 80)  # no regret yet is the worst one
        self.assertNotIn(("random", "20"), rows)  # one table of three says nothing about the others
        self.assertTrue((self.folder / "out" / "fig-search.png").read_bytes().startswith(b"\x89PNG"))

    def test_search_refuses_what_is_no_rehearsal(self):
        for text in ("", "a,b\n1,2\n"):
            (self.folder / "other.csv").write_text(text, encoding="utf-8")
            with self.assertRaisesRegex(data.Missing, "no rows of"):
                fig_search.main(self.folder / "other.csv", self.folder / "out")
        with self.assertRaisesRegex(data.Missing, "none.csv"):
            fig_search.main(self.folder / "none.csv", self.folder / "out")


if __name__ == "__main__":
    FIXTURE = sys.argv.pop(1)
    unittest.main()
