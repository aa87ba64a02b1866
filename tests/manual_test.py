#!/usr/bin/python3
"""What is written about the commands by themselves: their manual page and the shell's completion.

Usage: manual_test.py PROGRAM [unittest arguments]
"""
import re
import shutil
import subprocess

from program import COMMANDS, Case, main


class Written(Case):
    def options(self, command):
        return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.good(command, "--help"), re.MULTILINE))

    def completed(self, *words):
        script = ('source /dev/stdin; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _loopbrick; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", "loopbrick", *words], capture_output=True, text=True,
                              input=self.good("completion", "bash"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(done.stdout.split())

    def test_these_are_all_commands(self):
        listed = self.good("--help").partition("Subcommands:")[2].partition("Example")[0]
        self.assertEqual(set(re.findall(r"^  ([a-z]+)", listed, re.MULTILINE)), set(COMMANDS))

    def test_bash_completes_commands_and_their_options(self):
        self.assertEqual(self.completed(""), set(COMMANDS))
        self.assertEqual(self.completed("re"), {command for command in COMMANDS if command.startswith("re")})
        for command in COMMANDS:
            self.assertEqual(self.completed(command, "--"), self.options(command), command)

    def test_bash_completes_what_an_argument_takes(self):
        self.assertEqual(self.completed("tune", "--format", ""), {"table", "json", "csv", "md"})
        self.assertEqual(self.completed("db", "m"), {"merge"})
        self.assertEqual(self.completed("export", ""), {"wisdom", "csv", "json", "bundle"})
        self.assertEqual(self.completed("tune", "--db", ""), set())

    def test_the_manual_has_every_command_and_option(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou"], capture_output=True, text=True,
                              input=self.good("man"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for command in COMMANDS:
            section = re.search(rf"^   {command}$(.*?)^(   [a-z]+|[A-Z ]+)$", done.stdout, re.MULTILINE | re.DOTALL)
            self.assertIsNotNone(section, command)
            self.assertIn(f"loopbrick {command} ", section[1])
            for option in self.options(command):
                self.assertRegex(section[1], rf"\s(-\w,)?{option}\b", command)


if __name__ == "__main__":
    main()
