"""Layer by layer, one panel a pass: what fig_conv, fig_fc and fig_lstm share."""

import math
import sys
from dataclasses import dataclass

import data
import style
from matplotlib import pyplot

KEPT = ("layer", "count", "problem", "implementation", "choice", "ran", "trial", "flops", "median_s", "lo_s", "hi_s",
        "gflops", "speedup", "speedup_lo", "speedup_hi", "verdict")


@dataclass(frozen=True)
class Subject:
    """What one figure shows. A series is its label, its implementations (the fastest counts) and its colour; the first is
    ours, the second must have been compared, others are drawn where they have been."""

    name: str
    kind: str  # of problem: conv, fc or lstm
    suite: str
    passes: dict  # of the problem text -> title of its panel
    series: tuple
    mixes_minibatches: bool = False  # layers of one panel may have several


def panel_rows(subject, group, direction, peak):
    """What one panel shows; speedup is their time over ours from the same rounds."""
    rows = []
    for label, names, _ in subject.series:
        found = [row for row in (group.row(layer, names) for layer in group.numbers()) if row]
        lacking = len(group.layers) - len(found)
        if found and lacking:
            print(f"{subject.name}: {direction}: {lacking} layers lack a confirmed time of {names[0]}", file=sys.stderr)
        rows += [{"pass": direction, "series": label, **{key: row[key] for key in KEPT},
                  "pct_of_peak": 100 * row["gflops"] / peak} for row in found]
    return rows


def legend_text(label, mine, is_ours):
    if is_ours:
        return f"{label}, 99 % intervals"
    geomean = math.exp(sum(math.log(row["speedup"]) for row in mine) / len(mine))
    return f"{label}: loopbrick is {geomean:.3f} times as fast (geomean of {len(mine)})"


def draw_panel(axes, subject, rows, layers, peak, title):
    for index, (label, _, colour) in enumerate(subject.series):
        mine = [row for row in rows if row["series"] == label]
        if not mine:
            continue
        bars = [[abs(row["flops"] / row[end] / 1e9 - row["gflops"]) for row in mine] for end in ("hi_s", "lo_s")]
        axes.errorbar([layers.index(row["layer"]) + (index - (len(subject.series) - 1) / 2) * 0.16 for row in mine],
                      [row["gflops"] for row in mine], yerr=bars, capsize=2, color=style.COLOUR[colour],
                      marker=style.MARKER[colour], markersize=5, linewidth=0.8,
                      label=legend_text(label, mine, index == 0))
    for row in (row for row in rows if row["implementation"] in subject.series[1][1]):
        axes.annotate(f"{row['speedup']:.2f}", (layers.index(row["layer"]), 1.0), xycoords=("data", "axes fraction"),
                      ha="center", va="bottom", fontsize=8, color=style.BAD if row["verdict"] == "SLOWER" else "black",
                      weight="bold" if row["verdict"] == "FASTER" else "normal")
    axes.set_xticks(range(len(layers)), layers)
    axes.set(ylabel="GFLOP/s", xlim=(-0.6, len(layers) - 0.4),
             ylim=(0, max([peak] + [row["gflops"] for row in rows]) * 1.06))
    axes.set_title(f"{title}; above: time of {subject.series[1][0]}, over ours (bold: FASTER, red: SLOWER)",
                   loc="left", pad=16)
    style.add_share_axis(axes, peak)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.1), ncol=2)


def draw(subject, database, out_dir, options):
    """Writes the figure; raises data.Missing where there is nothing to compare."""
    connection = data.open_read_only(database)
    panels = {direction: data.newest_group(connection, subject, direction, options) for direction in subject.passes}
    panels = {direction: group for direction, group in panels.items() if group}
    if not panels:
        raise data.Missing(f"no comparison of suite {options.suite} in {database}: "
                           f"run 'loopbrick compare --suite {options.suite}'")
    if not any(group.has(subject.series[1][1]) for group in panels.values()):
        next(iter(panels.values())).require(subject.series[1][1])
    figure, axes = pyplot.subplots(len(panels), figsize=(13, 0.8 + 4.4 * len(panels)), squeeze=False)
    rows = []
    for place, (direction, group) in zip(axes[:, 0], panels.items()):
        mine = panel_rows(subject, group, direction, group.peak_gflops())
        draw_panel(place, subject, mine, group.numbers(), group.peak_gflops(), subject.passes[direction])
        rows += mine
    axes[-1, 0].set_xlabel("layer")
    style.save(figure, subject.name, out_dir, [group.caption() for group in panels.values()], rows)
