#include "results/schema.h"

#include <array>

#include "results/schema_version2.h"
#include "results/schema_version3.h"
#include "results/schema_version4.h"

namespace loopbrick {

namespace {

constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE machine(
  id           TEXT PRIMARY KEY,
  cpu          TEXT NOT NULL,
  isa          TEXT NOT NULL,
  cores        INTEGER NOT NULL,
  threads      INTEGER NOT NULL,
  sockets      INTEGER NOT NULL,
  l1d_bytes    INTEGER NOT NULL,
  l2_bytes     INTEGER NOT NULL,
  l3_bytes     INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE build(
  id         TEXT PRIMARY KEY,
  version    TEXT NOT NULL,
  revision   TEXT NOT NULL,
  compiler   TEXT NOT NULL,
  build_type TEXT NOT NULL,
  generator  INTEGER NOT NULL
) STRICT;

CREATE TABLE campaign(
  id             INTEGER PRIMARY KEY,
  command        TEXT NOT NULL,
  machine        TEXT NOT NULL REFERENCES machine(id),
  build          TEXT NOT NULL REFERENCES build(id),
  strategy       TEXT NOT NULL,
  budget         TEXT NOT NULL,
  seed           TEXT NOT NULL,
  trust          TEXT NOT NULL,
  warnings       TEXT NOT NULL,
  peak_flops     REAL,
  l1_bandwidth   REAL,
  l2_bandwidth   REAL,
  l3_bandwidth   REAL,
  dram_bandwidth REAL,
  clock_hz       REAL,
  noise_floor    REAL,
  started        TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')),
  ended          TEXT,
  how            TEXT
) STRICT;
CREATE INDEX campaign_by_machine ON campaign(machine);

CREATE TABLE trial(
  id                  INTEGER PRIMARY KEY,
  campaign            INTEGER NOT NULL REFERENCES campaign(id),
  problem             TEXT NOT NULL,
  implementation      TEXT NOT NULL,
  choice              TEXT NOT NULL,
  machine             TEXT NOT NULL REFERENCES machine(id),
  conditions          TEXT NOT NULL,
  build               TEXT NOT NULL REFERENCES build(id),
  outcome             TEXT NOT NULL CHECK (outcome IN ('ok', 'wrong_result', 'crashed', 'timed_out',
                        'out_of_memory', 'jit_failed', 'not_applicable')),
  reason              TEXT NOT NULL CHECK (outcome = 'ok' OR reason <> ''),
  search_n            INTEGER NOT NULL,
  search_median       REAL CHECK (search_median > 0),
  search_lo           REAL,
  search_hi           REAL,
  search_min          REAL,
  search_processes    INTEGER NOT NULL,
  confirmed_n         INTEGER NOT NULL,
  confirmed_median    REAL CHECK (confirmed_median > 0),
  confirmed_lo        REAL,
  confirmed_hi        REAL,
  confirmed_min       REAL,
  confirmed_processes INTEGER NOT NULL,
  flops               REAL NOT NULL,
  executed_flops      REAL,
  peak_flops          REAL,
  predicted           REAL,
  prepare_seconds     REAL NOT NULL,
  workspace_bytes     INTEGER NOT NULL,
  ran                 TEXT NOT NULL,
  included            TEXT NOT NULL,
  flag                TEXT NOT NULL,
  version             TEXT NOT NULL,
  volatile_facts      TEXT NOT NULL,
  taken               TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')),
  confirmed_taken     TEXT,
  CHECK ((search_n > 0) = (search_median IS NOT NULL)),
  CHECK ((confirmed_n > 0) = (confirmed_median IS NOT NULL))
) STRICT;
CREATE INDEX trial_by_key ON trial(problem, implementation, machine, conditions, build, choice);
CREATE INDEX trial_by_campaign ON trial(campaign);
CREATE INDEX trial_confirmed
  ON trial(problem, machine, conditions, implementation, confirmed_median, choice)
  WHERE outcome = 'ok' AND confirmed_n > 0;

CREATE TABLE sample(
  trial      INTEGER NOT NULL REFERENCES trial(id),
  start      REAL NOT NULL,
  seconds    REAL NOT NULL CHECK (seconds > 0),
  calls      INTEGER NOT NULL CHECK (calls > 0),
  round      INTEGER NOT NULL,
  process    INTEGER NOT NULL,
  ord        INTEGER NOT NULL,
  confirming INTEGER NOT NULL CHECK (confirming IN (0, 1)),
  superseded INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1))
) STRICT;
CREATE INDEX sample_by_trial ON sample(trial);

CREATE TABLE comparison(
  id       INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign(id),
  trial    INTEGER NOT NULL REFERENCES trial(id),
  other    INTEGER NOT NULL REFERENCES trial(id),
  ratio    REAL NOT NULL CHECK (ratio > 0),
  lo       REAL NOT NULL,
  hi       REAL NOT NULL,
  rounds   INTEGER NOT NULL,
  verdict  TEXT NOT NULL CHECK (verdict IN ('SAME', 'FASTER', 'SLOWER', 'AMBIGUOUS'))
) STRICT;
CREATE INDEX comparison_by_campaign ON comparison(campaign);
CREATE INDEX comparison_by_trial ON comparison(trial);
CREATE INDEX comparison_by_other ON comparison(other);

CREATE TABLE layer(
  suite   TEXT NOT NULL,
  layer   TEXT NOT NULL,
  problem TEXT NOT NULL,
  count   INTEGER NOT NULL CHECK (count > 0),
  PRIMARY KEY (suite, layer, problem)
) STRICT, WITHOUT ROWID;
CREATE INDEX layer_by_problem ON layer(problem);

CREATE VIEW best AS
  SELECT problem, machine, conditions, implementation, choice, build, confirmed_median AS median_s,
         confirmed_lo AS lo_s, confirmed_hi AS hi_s, flops / confirmed_median / 1e9 AS gflops,
         100 * flops / confirmed_median / peak_flops AS pct_of_peak,
         100 * executed_flops / confirmed_median / peak_flops AS executed_pct_of_peak, ran,
         included, flag, version, coalesce(confirmed_taken, taken) AS taken, id AS trial
  FROM (SELECT *, row_number() OVER (PARTITION BY problem, machine, conditions, implementation
                                     ORDER BY confirmed_median, choice, id) AS place
        FROM trial WHERE outcome = 'ok' AND confirmed_n > 0)
  WHERE place = 1;

CREATE VIEW layers AS
  WITH peer AS (
    SELECT *, row_number() OVER (PARTITION BY problem, machine, conditions
                                 ORDER BY median_s, implementation) AS place
    FROM best WHERE implementation <> 'loopbrick')
  SELECT layer.suite, layer.layer, layer.count, tuned.problem, tuned.machine, tuned.conditions,
         tuned.choice, tuned.median_s, tuned.gflops, tuned.pct_of_peak,
         tuned.executed_pct_of_peak, peer.implementation AS peer, peer.median_s AS peer_median_s,
         peer.gflops AS peer_gflops, tuned.trial, peer.trial AS peer_trial
  FROM best AS tuned
  LEFT JOIN layer ON layer.problem = tuned.problem
  LEFT JOIN peer ON peer.problem = tuned.problem AND peer.machine = tuned.machine
                AND peer.conditions = tuned.conditions AND peer.place = 1
  WHERE tuned.implementation = 'loopbrick';

CREATE VIEW speedup AS
  SELECT comparison.campaign, a.problem, a.machine, a.conditions, a.build, a.implementation,
         a.choice, b.implementation AS other, b.choice AS other_choice, b.ran AS other_ran,
         comparison.ratio AS speedup, comparison.lo, comparison.hi, comparison.rounds,
         comparison.verdict, a.confirmed_median AS median_s, b.confirmed_median AS other_median_s,
         a.flops / a.confirmed_median / 1e9 AS gflops,
         b.flops / b.confirmed_median / 1e9 AS other_gflops, comparison.trial,
         comparison.other AS other_trial
  FROM comparison JOIN trial AS a ON a.id = comparison.trial JOIN trial AS b ON b.id = comparison.other;

CREATE VIEW failures AS
  SELECT problem, implementation, machine, conditions, outcome, count(*) AS count,
         min(id) AS first_trial, reason AS first_reason, choice AS first_choice
  FROM trial WHERE outcome <> 'ok'
  GROUP BY problem, implementation, machine, conditions, outcome;

CREATE VIEW coverage AS
  WITH improved AS (
    SELECT *, row_number() OVER (PARTITION BY problem, machine, conditions, implementation
                                 ORDER BY search_median, id) AS place
    FROM trial WHERE outcome = 'ok' AND search_n > 0)
  SELECT trial.problem, trial.machine, trial.conditions, trial.implementation, count(*) AS trials,
         count(DISTINCT trial.choice) AS choices, sum(trial.outcome = 'ok') AS ok,
         sum(trial.confirmed_n > 0) AS confirmed,
         min(trial.confirmed_median) FILTER (WHERE trial.outcome = 'ok') AS best_s,
         improved.search_median AS best_search_s, improved.taken AS last_improvement,
         sum(trial.id > improved.id) AS trials_since
  FROM trial
  LEFT JOIN improved ON improved.problem = trial.problem AND improved.machine = trial.machine
                    AND improved.conditions = trial.conditions
                    AND improved.implementation = trial.implementation AND improved.place = 1
  GROUP BY trial.problem, trial.machine, trial.conditions, trial.implementation;

CREATE VIEW campaigns AS
  SELECT campaign.*,
         (julianday(ended) - julianday(started)) * 86400 AS seconds,
         (SELECT count(*) FROM trial WHERE trial.campaign = campaign.id) AS trials,
         (SELECT count(*) FROM trial WHERE trial.campaign = campaign.id AND outcome = 'ok') AS ok,
         (SELECT count(DISTINCT problem) FROM trial WHERE trial.campaign = campaign.id) AS problems,
         (SELECT count(*) FROM comparison WHERE comparison.campaign = campaign.id) AS comparisons
  FROM campaign;

CREATE VIEW model AS
  WITH latest AS (
    SELECT max(id) AS id FROM trial
    WHERE outcome = 'ok' AND search_n > 0 AND predicted IS NOT NULL
    GROUP BY problem, machine, conditions, implementation, build, choice),
  ranked AS (
    SELECT trial.id, problem, machine, conditions, implementation, build, predicted, search_median,
           rank() OVER (alike ORDER BY predicted)
             + (count(*) OVER (PARTITION BY problem, machine, conditions, implementation, build,
                                            predicted) - 1) / 2.0 AS x,
           rank() OVER (alike ORDER BY search_median)
             + (count(*) OVER (PARTITION BY problem, machine, conditions, implementation, build,
                                            search_median) - 1) / 2.0 AS y,
           row_number() OVER (alike ORDER BY predicted, trial.id) AS place,
           min(search_median) OVER alike AS fastest
    FROM latest JOIN trial ON trial.id = latest.id
    WINDOW alike AS (PARTITION BY problem, machine, conditions, implementation, build))
  SELECT problem, machine, conditions, implementation, build, count(*) AS choices,
         max(predicted) FILTER (WHERE place = 1) AS first_predicted_s,
         max(search_median) FILTER (WHERE place = 1) AS first_measured_s, max(fastest) AS fastest_s,
         100 * (max(search_median) FILTER (WHERE place = 1) / max(fastest) - 1) AS regret_pct,
         (count(*) * sum(x * y) - sum(x) * sum(y))
           / nullif(sqrt(count(*) * sum(x * x) - sum(x) * sum(x))
                    * sqrt(count(*) * sum(y * y) - sum(y) * sum(y)), 0) AS rank_correlation,
         max(id) FILTER (WHERE place = 1) AS first_trial
  FROM ranked
  GROUP BY problem, machine, conditions, implementation, build;
)sql";

constexpr std::array kMigrations{kVersion1, kVersion2, kVersion3, kVersion4};

}  // namespace

std::span<const std::string_view> migrations() { return kMigrations; }

}  // namespace loopbrick
