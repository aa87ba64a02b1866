"""How every figure looks, and how it is written: NAME.png, NAME.svg and NAME.csv with exactly what was drawn."""

import csv
import textwrap
from pathlib import Path

import matplotlib
import matplotlib.pyplot

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({
    "font.size": 9, "axes.titlesize": 9, "axes.spines.top": False, "axes.grid": True, "axes.grid.axis": "y",
    "grid.color": "#dddddd", "axes.axisbelow": True, "legend.frameon": False, "svg.hashsalt": "loopbrick",
})

# Okabe and Ito's palette: told apart with any colour vision, and in grey by their lightness.
COLOUR = {"loopbrick": "#0072B2", "onednn": "#E69F00", "eigen": "#009E73", "im2col": "#999999", "small-gemm": "#56B4E9",
          "libxsmm": "#CC79A7"}
MARKER = {"loopbrick": "o", "onednn": "s", "eigen": "^", "im2col": "v", "libxsmm": "D"}
BAD = "#D55E00"


def add_share_axis(axes, peak_gflops):
    """A right axis in per cent of the measured peak, and the peak as a line."""
    axes.axhline(peak_gflops, color="black", linewidth=0.8, linestyle="--")
    share = axes.secondary_yaxis("right", functions=(lambda y: 100 * y / peak_gflops, lambda p: p * peak_gflops / 100))
    share.set_ylabel("% of measured peak")


def save(figure, name, out_dir, captions, rows):
    """Writes picture and table; `rows` are dicts with the same keys, every caption starts a line at the bottom."""
    lines = [line for caption in captions for line in textwrap.wrap(caption, width=int(figure.get_figwidth() * 18))]
    figure.text(0.01, 0.01, "\n".join(lines), fontsize=7, color="#555555", va="bottom")
    figure.tight_layout(rect=(0, (0.03 + 0.13 * len(lines)) / figure.get_figheight(), 1, 1))
    base = Path(out_dir) / name
    base.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(f"{base}.png", dpi=150)
    figure.savefig(f"{base}.svg", metadata={"Date": None})
    matplotlib.pyplot.close(figure)
    with open(f"{base}.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
