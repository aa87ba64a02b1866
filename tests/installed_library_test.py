#!/usr/bin/python3
"""The library as others get it: installed, found by CMake, used from C++, C and Python.

Usage: installed_library_test.py BUILD_FOLDER PROGRAM [unittest arguments]
"""
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = PROGRAM = ""
ENVIRONMENT = dict(os.environ, OMP_WAIT_POLICY="passive")
PROBLEM = "conv fwd f32 mb1ic16ih6oc32oh6kh3ph1"
SCHEDULE = "p n k32 q6 @ c16 * c r s"


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, env=ENVIRONMENT, timeout=240,
                          **options)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.prefix, cls.built = cls.folder / "prefix", cls.folder / "build"
        cls.must("cmake", "--install", BUILD, "--component", "library", "--prefix", cls.prefix)
        cls.must("cmake", "-G", "Ninja", "-S", ROOT / "examples", "-B", cls.built, f"-DCMAKE_PREFIX_PATH={cls.prefix}")
        cls.must("cmake", "--build", cls.built)
        cls.module = next(cls.prefix.rglob("loopbrick.py")).parent
        cls.wisdom = cls.folder / "some.wisdom"
        cls.wisdom.write_text("loopbrick wisdom 1 | another machine | a build gen1\n"
                              f"t1 avx2 warm | {PROBLEM} | {SCHEDULE} | 0.001\n")

    @staticmethod
    def must(*command):
        done = run(*command)
        if done.returncode != 0:
            raise AssertionError(f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def python(self, text):
        lines = ["import sys", f"sys.path.insert(0, {str(self.module)!r})", "import numpy, loopbrick", text]
        done = run("/usr/bin/python3", "-B", "-c", "\n".join(lines))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_examples_run_and_check_their_results(self):
        for command in ([self.built / "network"], [self.built / "layer"]):
            self.assertRegex(self.must(*command), r"\(model\)")
        ENVIRONMENT["PYTHONPATH"] = str(self.module)
        self.assertIn("GFLOP/s", self.must("/usr/bin/python3", "-B", ROOT / "examples" / "layer.py"))

    def test_a_stored_trial_becomes_a_program(self):
        def loopbrick(*arguments):
            return run(PROGRAM, *arguments, "--db", self.folder / "trials.db", cwd=self.folder)
        for cache in ("warm", "cold"):
            done = loopbrick("run", PROBLEM, "--schedule", SCHEDULE, "--threads", "1", "--cache", cache, "--rounds", "3",
                             "--processes", "1", "--sample-ms", "1", "--no-lock")
            self.assertEqual(done.returncode, 0, done.stderr)
        for trial in ("1", "2"):
            done = loopbrick("replay", trial, "--emit-cpp", "replay.cpp")
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            library = next(self.prefix.rglob("libloopbrick.so")).parent
            self.must("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", self.folder / "replay.cpp", "-I",
                      self.prefix / "include", "-L", library, f"-Wl,-rpath,{library}", "-lloopbrick", "-o",
                      self.folder / "replay")
            out = self.must(self.folder / "replay")
            measured, stored = map(float, re.fullmatch(
                r"measured (\S+) s \(\S+ GFLOP/s\), stored (\S+) s, ratio \S+\n", out).groups())
            self.assertGreater(measured, 0)
            with sqlite3.connect(self.folder / "trials.db") as connection:
                (median,), = connection.execute("SELECT confirmed_median FROM trial WHERE id = ?", trial)
            self.assertAlmostEqual(stored / median, 1, places=3)
            self.assertIn(f'"{SCHEDULE}"', (self.folder / "replay.cpp").read_text())

    def test_the_program_is_installed_with_manual_and_completion(self):
        prefix = self.folder / "program"
        self.must("cmake", "--install", BUILD, "--component", "program", "--prefix", prefix)
        self.assertRegex(self.must(prefix / "bin" / "loopbrick", "--version"), r"\Aloopbrick ")
        self.assertIn("SH EXIT STATUS", (prefix / "share/man/man1/loopbrick.1").read_text())
        self.assertIn("_loopbrick()", (prefix / "share/bash-completion/completions/loopbrick").read_text())
        self.must("bash", "-n", prefix / "share/bash-completion/completions/loopbrick")

    def test_a_program_is_made_of_our_trials_only(self):
        done = run(PROGRAM, "run", PROBLEM, "--impl", "small-gemm", "--threads", "1", "--rounds", "3", "--processes", "1",
                   "--sample-ms", "1", "--no-lock", "--db", self.folder / "rival.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(PROGRAM, "replay", "1", "--emit-cpp", self.folder / "no.cpp", "--db", self.folder / "rival.db")
        self.assertEqual(done.returncode, 2)
        self.assertIn("small-gemm", done.stderr)
        self.assertFalse((self.folder / "no.cpp").exists())

    def test_a_bad_wisdom_is_one_line_in_every_language(self):
        for command in ([self.built / "network"], [self.built / "layer"]):
            done = run(*command, "nowhere.wisdom")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\A[^\n]*nowhere\.wisdom[^\n]*\n\Z")

    def test_the_library_needs_neither_the_store_nor_the_rivals(self):
        needed = self.must("ldd", next(self.prefix.rglob("libloopbrick.so")))
        for name in ("sqlite", "dnnl", "openblas"):
            self.assertNotIn(name, needed)

    def test_it_shows_its_two_interfaces_only(self):
        shown = self.must("nm", "-DC", "--defined-only", next(self.prefix.rglob("libloopbrick.so")))
        for line in shown.splitlines():
            self.assertRegex(line, r" (loopbrick_|loopbrick::Primitive::|loopbrick::library_version)")

    def test_python_takes_schedules_from_wisdom(self):
        out = self.python(f"layer = loopbrick.Primitive({PROBLEM!r}, threads=1, isa='avx2', wisdom={str(self.wisdom)!r})\n"
                          "print(layer.schedule, layer.origin, layer.stored_seconds, sep='|')")
        self.assertEqual(out.strip(), f"{SCHEDULE}|wisdom, measured on another machine|0.001")

    def test_python_runs_the_gradients_of_an_lstm_as_computed(self):
        self.python("layer = loopbrick.Primitive('lstm bwd f32 t3mb4sic16', threads=1)\n"
                    "random = numpy.random.default_rng(1)\n"
                    "plain = [random.random(o.shape, numpy.float32) - 0.5 for o in layer.inputs]\n"
                    "own = [layer.laid_out(i, array) for i, array in enumerate(plain)]\n"
                    "results = layer.empty_outputs()\n"
                    "layer.prepare(own)\n"
                    "layer.run(own, results)\n"
                    "for i, want in enumerate(layer(*plain)):\n"
                    "    assert numpy.array_equal(layer.plain(i, results[i]), want), layer.outputs[i].name\n"
                    "    assert numpy.isfinite(want).all() and want.any()")

    def test_python_says_what_is_wrong(self):
        made = f"layer = loopbrick.Primitive({PROBLEM!r}, threads=1, schedule={SCHEDULE!r})\n"
        zeros = "numpy.zeros({}, numpy.float32)".format
        for text, piece in [
                ("loopbrick.Primitive('conv fwd f32 mb1ic8ih6zz3')", "'zz'"),
                ("loopbrick.Primitive('mb1ic8ih6oc16oh6kh3ph1', schedule='N k')", "N k"),
                (f"layer({zeros(1)})", "2 inputs, not 1"),
                (f"layer({zeros((1, 16, 6, 5))}, {zeros((32, 16, 3, 3))})", "(1, 16, 6, 6)"),
                (f"layer.run([{zeros(3)}, {zeros(3)}], layer.empty_outputs())", "x must be a float32 array"),
        ]:
            out = self.python(made + f"try:\n    {text}\nexcept loopbrick.Error as error:\n    print(error)")
            self.assertRegex(out, rf"\A[^\n]*{re.escape(piece)}[^\n]*\n\Z")


if __name__ == "__main__":
    BUILD, PROGRAM = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
