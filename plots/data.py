"""What the figures draw: confirmed times of one campaign's comparisons, read from a database that is never written."""

import re
import sqlite3
import statistics
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

APPLICATION_ID = 0x6C6F6F70
OURS = "loopbrick"
ONEDNN = ("onednn", "onednn-nhwc")

# Every trial that took part in a comparison with ours, ours itself with ratio 1; the latest comparison last.
QUERY = """
WITH part AS (
  SELECT id, campaign, trial AS ours, other AS trial, ratio, lo, hi, rounds, verdict FROM comparison
  UNION ALL
  SELECT id, campaign, trial, trial, 1.0, 1.0, 1.0, rounds, 'SAME' FROM comparison)
SELECT part.campaign, campaign.started, layer.layer, layer.count, mine.machine, mine.conditions, mine.build, it.problem,
       it.implementation, it.choice, it.ran, it.id AS trial, it.flops, it.peak_flops, it.confirmed_median AS median_s,
       it.confirmed_lo AS lo_s, it.confirmed_hi AS hi_s, it.confirmed_processes AS processes, part.rounds,
       part.ratio AS speedup, part.lo AS speedup_lo, part.hi AS speedup_hi, part.verdict
FROM part JOIN campaign ON campaign.id = part.campaign JOIN trial AS mine ON mine.id = part.ours
     JOIN trial AS it ON it.id = part.trial JOIN layer ON layer.problem = it.problem
WHERE mine.implementation = :ours AND mine.outcome = 'ok' AND mine.confirmed_n > 0
      AND it.outcome = 'ok' AND it.confirmed_n > 0 AND layer.suite = :suite
      AND it.problem LIKE :kind || ' ' || :direction || ' %' AND (:machine IS NULL OR mine.machine = :machine)
      AND (:campaign IS NULL OR part.campaign = :campaign)
ORDER BY part.id
"""


class Missing(Exception):
    """The figure can't be drawn; the message is one line."""


@dataclass
class Options:
    """What to draw; None: any."""

    machine: str | None
    campaign: int | None
    suite: str
    minibatch: int | None


@dataclass
class Group:
    """Trials that may stand in one panel: same campaign, machine, conditions, build and minibatch."""

    campaign: int
    started: str
    machine: str
    conditions: str
    build: str
    minibatch: int | None  # None: several
    layers: dict  # layer -> implementation -> row of QUERY with gflops

    def numbers(self):
        """The layers in order: 2 before 10."""
        return sorted(self.layers, key=lambda layer: (int("0" + re.sub(r"\D", "", layer)), layer))

    def row(self, layer, names):
        """The fastest of these implementations on this layer, or None."""
        rows = [self.layers[layer][name] for name in names if name in self.layers[layer]]
        return min(rows, key=lambda row: row["median_s"], default=None)

    def has(self, names):
        return any(self.row(layer, names) for layer in self.layers)

    def require(self, names):
        if not self.has(names):
            raise Missing(f"campaign {self.campaign} compared no {' or '.join(names)}: add it to compare's --impl")

    def peak_gflops(self):
        peaks = [rows[OURS]["peak_flops"] for rows in self.layers.values() if rows[OURS]["peak_flops"]]
        if not peaks:
            raise Missing(f"campaign {self.campaign} measured no peak: run 'loopbrick compare' again")
        return statistics.median(peaks) / 1e9

    def caption(self):
        rows = [row for layer in self.layers.values() for row in layer.values()]
        rounds = sorted({f"{row['rounds']} rounds x {row['processes']} processes" for row in rows})
        return (f"{self.machine} | {self.conditions} | minibatch {self.minibatch or 'as the layers say'} | build {self.build} | "
                f"campaign {self.campaign} of {self.started[:10]} | {', '.join(rounds)} | "
                f"peak {self.peak_gflops():.0f} GFLOP/s measured")


def open_read_only(database):
    """A connection that can't write; Missing if the file isn't a database of ours."""
    if not Path(database).is_file():
        raise Missing(f"database '{database}' does not exist")
    connection = sqlite3.connect(f"file:{quote(str(Path(database).resolve()))}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        is_ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    except sqlite3.DatabaseError:
        is_ours = False
    if not is_ours:
        raise Missing(f"'{database}' is not a database of loopbrick")
    return connection


def kind_of(problem):
    """What must be equal within a panel: the problem text without its sizes, and the minibatch."""
    match = re.match(r"(.*) (?:[gt]\d+)?mb(\d+)[^+]*(.*)$", problem)
    return (match[1] + match[3], int(match[2])) if match else (problem, 0)


def groups(connection, subject, direction, options):
    """All groups of comparisons of this suite and pass; `subject` says kind and whether minibatches mix."""
    found = defaultdict(lambda: defaultdict(dict))
    wanted = {"ours": OURS, "suite": options.suite, "kind": subject.kind, "direction": direction, "machine": options.machine,
              "campaign": options.campaign}
    for record in connection.execute(QUERY, wanted):
        row = dict(record, gflops=record["flops"] / record["median_s"] / 1e9)
        kind, minibatch = kind_of(row["problem"])
        if options.minibatch in (None, minibatch):
            minibatch = minibatch if not subject.mixes_minibatches else options.minibatch
            key = tuple(row[k] for k in ("campaign", "started", "machine", "conditions", "build")) + (minibatch, kind)
            found[key][row["layer"]][row["implementation"]] = row
    return [Group(*key[:-1], layers) for key, layers in found.items()]


def newest_group(connection, subject, direction, options):
    """The group with most layers; of those the newest, then the smallest minibatch; None if there is none."""
    return max(groups(connection, subject, direction, options), default=None,
               key=lambda group: (len(group.layers), group.campaign, -(group.minibatch or 0)))
