#!/usr/bin/python3
"""How far each search strategy is from the best schedule after so many trials, on tables that were measured whole."""

import argparse
import csv
import statistics
import sys
from collections import defaultdict
from pathlib import Path

import style
from command import fail
from data import Missing
from matplotlib import pyplot

NAME = "fig-search"
COLUMNS = {"table", "schedules", "strategy", "trials", "regret_pct"}
NEAR = 1.0  # per cent: as near to the best as two measurements are to each other
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#999999", "#D55E00"]
MARKERS = "osD^vxP"


def read(file):
    """Rows of `loopbrick rehearse --format csv` by strategy, number of trials and table; no regret yet is infinite."""
    try:
        with open(file, encoding="utf-8") as text:
            rows = list(csv.DictReader(text))
    except OSError as reason:
        raise Missing(f"{file}: {reason.strerror}") from reason
    if not rows or not COLUMNS <= set(rows[0]):
        raise Missing(f"'{file}' has no rows of 'loopbrick rehearse --format csv'")
    regrets = defaultdict(lambda: defaultdict(dict))
    sizes = {}
    for row in rows:
        regrets[row["strategy"]][int(row["trials"])][row["table"]] = float(row["regret_pct"] or "inf")
        sizes[row["table"]] = int(row["schedules"])
    return regrets, sizes


def summary(regrets, tables):
    """One row a strategy and number of trials that every table has: quartiles of the tables' regrets, share near the best."""
    rows = []
    for strategy, by_trials in regrets.items():
        for trials, found in sorted(by_trials.items()):
            if len(found) < tables:
                continue
            values = sorted(found.values())
            lower, median, upper = (values[round(share * (tables - 1))] for share in (0.25, 0.5, 0.75))
            rows.append({"strategy": strategy, "trials": trials, "median_regret_pct": median,
                         "lower_quartile": lower, "upper_quartile": upper,
                         "tables_within_1_pct": sum(value <= NEAR for value in values)})
    return rows


def draw(rows, sizes):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 5))
    strategies = list(dict.fromkeys(row["strategy"] for row in rows))
    for index, strategy in enumerate(strategies):
        mine = [row for row in rows if row["strategy"] == strategy and row["median_regret_pct"] < float("inf")]
        trials = [row["trials"] for row in mine]
        look = {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)], "markersize": 4,
                "linewidth": 2.2 if index == 0 else 1.0, "label": strategy + (" (default)" if index == 0 else "")}
        left.plot(trials, [max(row["median_regret_pct"], 0.1) for row in mine], **look)
        right.plot(trials, [100 * row["tables_within_1_pct"] / len(sizes) for row in mine], **look)
    share = 0.02 * statistics.median(sizes.values())
    for axes in (left, right):
        axes.set(xscale="log", xlabel="different schedules tried")
        axes.axvline(share, color="black", linewidth=0.8, linestyle=":")
        axes.annotate("2 % of a table", (share, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8)
    left.axhline(NEAR, color="black", linewidth=0.8, linestyle="--")
    left.set(yscale="log", ylabel="regret: % slower than the table's best (median of tables)")
    left.set_yticks([0.1, 0.3, 1, 3, 10, 30, 100], ["0.1 or less", "0.3", "1", "3", "10", "30", "100"])
    right.set(ylabel="% of tables within 1 % of their best", ylim=(0, 102))
    left.legend(loc="upper right")
    return figure


def main(rehearsal, out_dir):
    regrets, sizes = read(rehearsal)
    rows = summary(regrets, len(sizes))
    if not rows:
        raise Missing(f"'{rehearsal}' has no number of trials that all tables share")
    caption = (f"{len(sizes)} tables of {min(sizes.values())} to {max(sizes.values())} schedules, every one measured; per table the "
               "median of all seeds. Noise is added to what a strategy is told; the finalists' times are the table's.")
    style.save(draw(rows, sizes), NAME, out_dir, [caption], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rehearsal", help="what 'loopbrick rehearse TABLES --format csv' printed")
    parser.add_argument("--out", dest="out_dir", default=".", help=f"folder for {NAME}.png, .svg and .csv")
    arguments = parser.parse_args()
    try:
        main(arguments.rehearsal, Path(arguments.out_dir))
    except Missing as reason:
        sys.exit(fail(NAME, reason))
