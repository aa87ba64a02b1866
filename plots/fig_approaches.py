#!/usr/bin/python3
"""Four approaches to forward convolutions, layer by layer and over the network: the motivation of arXiv:1906.06440."""

import sys

import command
import data
import fig_conv
import style
from matplotlib import pyplot

NAME = "fig-approaches"
APPROACHES = [  # label, implementations (the fastest counts), colour
    ("im2col + large GEMM", ("im2col",), "im2col"),
    ("small GEMM calls", ("small-gemm",), "small-gemm"),
    ("oneDNN, better layout", data.ONEDNN, "onednn"),
    ("batch-reduce GEMM (loopbrick)", (data.OURS,), "loopbrick"),
]
KEPT = ("count", "problem", "implementation", "choice", "ran", "trial", "flops", "median_s", "lo_s", "hi_s", "gflops")


def layer_rows(group, peak):
    """What the bars show: one row per layer and approach that was measured."""
    rows = []
    for layer in group.numbers():
        for label, names, _ in APPROACHES:
            found = group.row(layer, names)
            if found is None:
                print(f"{NAME}: layer {layer} has no confirmed time of {' or '.join(names)}", file=sys.stderr)
                continue
            rows.append({"layer": layer, "approach": label, **{key: found[key] for key in KEPT},
                         "pct_of_peak": 100 * found["gflops"] / peak})
    return rows


def mean_rows(rows, peak):
    """The network: all FLOPs over all time, each layer as often as the network has it, of layers that all have."""
    having = {label: {row["layer"] for row in rows if row["approach"] == label} for label, _, _ in APPROACHES}
    common = set.intersection(*having.values())
    for label, _, _ in APPROACHES:
        mine = [row for row in rows if row["approach"] == label and row["layer"] in common]
        if not mine:
            raise data.Missing("no layer was measured with all four approaches")
        flops = sum(row["count"] * row["flops"] for row in mine)
        seconds = sum(row["count"] * row["median_s"] for row in mine)
        yield {**dict.fromkeys(mine[0], ""), "layer": "network", "approach": label, "flops": flops, "median_s": seconds,
               "count": sum(row["count"] for row in mine), "trial": " ".join(str(row["trial"]) for row in mine),
               "gflops": flops / seconds / 1e9, "pct_of_peak": 100 * flops / seconds / 1e9 / peak}


def draw(rows, layers, peak):
    figure, axes = pyplot.subplots(figsize=(13, 4.8))
    place = {layer: index + (0.6 if layer == "network" else 0) for index, layer in enumerate(layers)}
    for offset, (label, _, colour) in enumerate(APPROACHES):
        mine = [row for row in rows if row["approach"] == label]
        axes.bar([place[row["layer"]] + (offset - 1.5) * 0.2 for row in mine], [row["gflops"] for row in mine], 0.2,
                 label=f"{label}: {mine[-1]['gflops']:.0f} GFLOP/s over the network", color=style.COLOUR[colour])
    axes.set_xticks(list(place.values()), [layer if layer != "network" else "network\nmean" for layer in layers])
    axes.set(xlabel="layer", ylabel="GFLOP/s", xlim=(-0.6, max(place.values()) + 0.6))
    axes.tick_params(axis="x", length=0)
    style.add_share_axis(axes, peak)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
    return figure


def main(database, out_dir, machine=None, campaign=None, suite="resnet50", minibatch=None):
    options = data.Options(machine, campaign, suite, minibatch)
    group = data.newest_group(data.open_read_only(database), fig_conv.SUBJECT, "fwd", options)
    if group is None:
        raise data.Missing(f"no comparison of suite {suite} fwd in {database}: run 'loopbrick compare --suite {suite}'")
    for _, names, _ in APPROACHES:
        group.require(names)
    peak = group.peak_gflops()
    rows = layer_rows(group, peak)
    rows += mean_rows(rows, peak)
    style.save(draw(rows, group.numbers() + ["network"], peak), NAME, out_dir, [group.caption()], rows)


if __name__ == "__main__":
    command.run(main, NAME, __doc__, "resnet50")
