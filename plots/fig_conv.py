#!/usr/bin/python3
"""Convolutions layer by layer, one panel a pass: loopbrick, oneDNN in its better layout, and Eigen."""

import math
import sys

import command
import data
import style
from matplotlib import pyplot

NAME = "fig-conv"
PASSES = {"fwd": "forward", "bwd_d": "backward by data", "bwd_w": "backward by weights"}
SERIES = [("loopbrick", (data.OURS,), "loopbrick"), ("oneDNN, better layout", data.ONEDNN, "onednn"),
          ("Eigen", ("eigen",), "eigen")]
KEPT = ("layer", "count", "problem", "implementation", "choice", "ran", "trial", "flops", "median_s", "lo_s", "hi_s",
        "gflops", "speedup", "speedup_lo", "speedup_hi", "verdict")


def panel_rows(group, direction, peak):
    """What one panel shows; speedup is their time over ours from the same rounds."""
    rows = []
    for label, names, _ in SERIES:
        found = [row for row in (group.row(layer, names) for layer in group.numbers()) if row]
        lacking = len(group.layers) - len(found)
        if lacking:
            print(f"{NAME}: {direction}: {lacking} layers lack a confirmed time of {names[0]}", file=sys.stderr)
        rows += [{"pass": direction, "series": label, **{key: row[key] for key in KEPT},
                  "pct_of_peak": 100 * row["gflops"] / peak} for row in found]
    return rows


def legend_text(label, mine):
    if label == SERIES[0][0]:
        return f"{label}, 99 % intervals"
    geomean = math.exp(sum(math.log(row["speedup"]) for row in mine) / len(mine))
    return f"{label}: loopbrick is {geomean:.3f} times as fast (geomean of {len(mine)})"


def draw_panel(axes, rows, layers, peak, title):
    for index, (label, _, colour) in enumerate(SERIES):
        mine = [row for row in rows if row["series"] == label]
        if not mine:
            continue
        bars = [[abs(row["flops"] / row[end] / 1e9 - row["gflops"]) for row in mine] for end in ("hi_s", "lo_s")]
        axes.errorbar([layers.index(row["layer"]) + (index - 1) * 0.16 for row in mine],
                      [row["gflops"] for row in mine], yerr=bars, capsize=2, color=style.COLOUR[colour],
                      marker=style.MARKER[colour], markersize=5, linewidth=0.8, label=legend_text(label, mine))
    for row in (row for row in rows if row["implementation"] in data.ONEDNN):
        axes.annotate(f"{row['speedup']:.2f}", (layers.index(row["layer"]), 1.0), xycoords=("data", "axes fraction"),
                      ha="center", va="bottom", fontsize=8, color=style.BAD if row["verdict"] == "SLOWER" else "black",
                      weight="bold" if row["verdict"] == "FASTER" else "normal")
    axes.set_xticks(range(len(layers)), layers)
    axes.set(ylabel="GFLOP/s", ylim=(0, max([peak] + [row["gflops"] for row in rows]) * 1.06))
    axes.set_title(f"{title}; above: oneDNN's time over ours (bold: FASTER, red: SLOWER)", loc="left", pad=16)
    style.add_share_axis(axes, peak)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.12), ncol=3)


def main(database, out_dir, machine=None, campaign=None, suite="resnet50", minibatch=None):
    options = data.Options(machine, campaign, suite, minibatch)
    connection = data.open_read_only(database)
    panels = {direction: data.newest_group(connection, direction, options) for direction in PASSES}
    panels = {direction: group for direction, group in panels.items() if group}
    if not panels:
        raise data.Missing(f"no comparison of suite {suite} in {database}: run 'loopbrick compare --suite {suite}'")
    for _, names, _ in SERIES:
        if not any(group.has(names) for group in panels.values()):
            next(iter(panels.values())).require(names)
    figure, axes = pyplot.subplots(len(panels), figsize=(13, 0.8 + 4.2 * len(panels)), squeeze=False)
    rows = []
    for place, (direction, group) in zip(axes[:, 0], panels.items()):
        mine = panel_rows(group, direction, group.peak_gflops())
        draw_panel(place, mine, group.numbers(), group.peak_gflops(), PASSES[direction])
        rows += mine
    axes[-1, 0].set_xlabel("layer")
    style.save(figure, NAME, out_dir, [group.caption() for group in panels.values()], rows)


if __name__ == "__main__":
    command.run(main, NAME, __doc__)
