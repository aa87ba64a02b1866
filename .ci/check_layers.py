#!/usr/bin/python3
"""Folders are layers: fails when a file includes a folder above its own, or a header shows a third party's types."""
import pathlib
import re
import sys

BELOW = {
    "kernels": "",
    "problems": "kernels",
    "measure": "kernels",
    "results": "",
    "loops": "kernels problems",
    "baselines": "kernels problems",
    "trials": "kernels problems loops baselines measure",
    "tuner": "kernels problems measure loops results trials",
    "library": "kernels problems measure loops tuner",
    "experiments": "kernels problems measure loops baselines results trials tuner",
    "cli": "kernels problems measure loops baselines results trials tuner",
    "tests": "kernels problems measure loops baselines results trials tuner",
}
NO_OPENMP = {"kernels", "results", "tuner", "library", "cli"}
HIDDEN = re.compile(r"<(xbyak/|sqlite3\.h|SQLiteCpp/|CLI/|Eigen/|dnnl|oneapi/|benchmark/|fmt/)")
# What the .cpp files of one library's users share, included by nobody else.
MAY_SHOW = {"kernels/generator_base.h", "kernels/vector_math.h", "baselines/onednn_execution.h"}


def faults(root):
    for path in sorted(p for folder in BELOW for p in (root / folder).rglob("*") if p.suffix in {".h", ".cpp"}):
        name = path.relative_to(root).as_posix()
        folder = name.split("/")[0]
        allowed = {folder, *BELOW[folder].split()}
        for number, line in enumerate(path.read_text().splitlines(), 1):
            place = f"{name}:{number}"
            ours = re.match(r'\s*#include "([a-z]+)/', line)
            if ours and ours[1] not in allowed and not name.endswith("_test.cpp"):
                yield f"{place}: {folder}/ may include {BELOW[folder] or 'no other folder'}, not {ours[1]}/"
            if re.match(r'\s*#include "(?![a-z]+/)', line):
                yield f"{place}: includes are paths from the root"
            if path.suffix == ".h" and name not in MAY_SHOW and line.startswith("#include") and HIDDEN.search(line):
                yield f"{place}: third-party headers belong in .cpp files"
            if folder in NO_OPENMP and re.match(r"\s*#(pragma omp|include <omp\.h>)", line):
                yield f"{place}: {folder}/ has no OpenMP"


if __name__ == "__main__":
    found = list(faults(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)))
    print("\n".join(found))
    sys.exit(1 if found else 0)
