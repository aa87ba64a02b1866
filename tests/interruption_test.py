#!/usr/bin/python3
"""What is left when a run is stopped, killed, or shares the machine with another."""
import fcntl
import os
import pathlib
import signal
import sqlite3
import subprocess
import time

from program import LONGER, QUICK, TINY, Case, main, rows


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
    main()
