#!/usr/bin/python3
"""Why a schedule is fast: explain and what profilers are told."""
import pathlib
import re
import time

from program import QUICK, TINY, Case, main


class Explaining(Case):
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


if __name__ == "__main__":
    main()
