#!/usr/bin/python3
"""scripts/packages and docs/dependencies.md name the same packages under the same licences."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parent.parent


def listed():
    lines = (ROOT / "scripts/packages").read_text().splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if line and not line.startswith("#")]
    return {name: (purpose, licence, reason) for name, purpose, licence, reason in rows}


class Dependencies(unittest.TestCase):
    def test_every_package_is_explained_and_nothing_else(self):
        page = (ROOT / "docs/dependencies.md").read_text()
        self.assertEqual(set(listed()), set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)))

    def test_licences_agree(self):
        page = (ROOT / "docs/dependencies.md").read_text()
        for name, (_, licence, _) in listed().items():
            self.assertIn(f"| `{name}` | {licence} |", page)

    def test_every_package_has_a_known_purpose_and_a_reason(self):
        for name, (purpose, _, reason) in listed().items():
            self.assertIn(purpose, {"build", "figures", "test", "full"}, name)
            self.assertGreater(len(reason), 5, name)


if __name__ == "__main__":
    unittest.main()
