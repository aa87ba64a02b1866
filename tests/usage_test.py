#!/usr/bin/python3
"""What is printed, and how it is asked for."""
import json
import re
import resource
import subprocess

import program
from program import COMMANDS, QUICK, TINY, Case, is_sanitized, main, rows


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
        out = subprocess.run(["ldd", program.PROGRAM], capture_output=True, text=True, check=True).stdout
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
                done = subprocess.run(["sh", "-c", f'"$0" "$@" >{target}', program.PROGRAM, *arguments], capture_output=True,
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


if __name__ == "__main__":
    main()
