#!/usr/bin/python3
"""A suite in parts, as mpirun and Slurm start them, and joined again.

Usage: shard_test.py PROGRAM [unittest arguments]
"""
import os
import pathlib
import shutil
import sqlite3
import subprocess

import program
from program import Case, main

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "scripts"
SUITE = "layer,problem,count\na,mb1ic8ih6oc16oh6kh3ph1,1\nb,mb1ic8ih7oc16oh7kh1,2\nc,mb1ic16ih6oc16oh6kh3ph1,1\n"
TUNE = ["--suite", "mine.csv", "--budget", "6trials", "--no-lock", "--threads", "1"]


def without_launchers():
    prefixes = ("OMPI_", "PMI_", "PMIX_", "SLURM_")
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


class Shards(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "mine.csv").write_text(SUITE)

    def layers_of(self, file):
        with sqlite3.connect(self.folder / file) as connection:
            return {row[0] for row in connection.execute("SELECT DISTINCT problem FROM trial")}

    def expect_whole(self, *parts):
        """Every layer is in one of the parts, and in all of them merged."""
        found = [self.layers_of(part) for part in parts]
        self.assertEqual(sum(len(layers) for layers in found), 3, found)
        self.good("db", "merge", "all.db", *parts)
        self.assertEqual(len(self.layers_of("all.db")), 3)
        self.assertFalse((self.folder / "loopbrick.db").exists())

    def test_parts_given_by_hand_make_the_whole(self):
        for part in ("1/2", "2/2"):
            self.good("tune", *TUNE, "--shard", part)
        self.expect_whole("loopbrick-1of2.db", "loopbrick-2of2.db")

    def test_a_database_that_is_named_is_taken(self):
        for part in ("1/2", "2/2"):
            self.good("tune", *TUNE, "--shard", part, "--db", "loopbrick.db")
        self.assertEqual(len(self.layers_of("loopbrick.db")), 3)
        self.assertEqual(list(self.folder.glob("loopbrick-*")), [])

    def test_more_parts_than_layers_leave_some_without_work(self):
        code, _, err = self.run_program("tune", *TUNE, "--shard", "4/4")
        self.assertEqual(code, 0, err)
        self.assertIn("fewer layers than shards", err)
        self.assertEqual(self.layers_of("loopbrick-4of4.db"), set())

    def test_bad_parts_are_named(self):
        for text in ("0/2", "3/2", "2", "half"):
            self.refused("tune", *TUNE, "--shard", text, names=[text, "1/4"])
        self.refused("tune", *TUNE, "--shard", "auto", names=["mpirun", "srun"], env=without_launchers())

    def test_mpirun_with_two_processes(self):
        if shutil.which("mpirun") is None:
            self.skipTest("there is no mpirun (package openmpi-bin)")
        done = subprocess.run(["mpirun", "-n", "2", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                               program.PROGRAM, "tune", *TUNE, "--shard", "auto"],
                              cwd=self.folder, capture_output=True, text=True, timeout=240, env=without_launchers())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect_whole("loopbrick-1of2.db", "loopbrick-2of2.db")

    def test_jobs_of_a_slurm_array(self):
        link = self.folder / "build/release/loopbrick"
        link.parent.mkdir(parents=True)
        link.symlink_to(program.PROGRAM)
        for task in ("4", "6"):
            array = {"SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_MIN": "4", "SLURM_ARRAY_TASK_STEP": "2",
                     "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}
            done = subprocess.run([SCRIPTS / "tune-array.sbatch", *TUNE], cwd=self.folder, capture_output=True, text=True,
                                  timeout=240, env={**without_launchers(), **array})
            self.assertEqual(done.returncode, 0, done.stderr)
        self.expect_whole("loopbrick-1of2.db", "loopbrick-2of2.db")


if __name__ == "__main__":
    main()
