-- A database of schema version 4, as 'sqlite3 FILE .dump' wrote it. Never edited: see version_test.cpp.

BEGIN TRANSACTION;
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
INSERT INTO machine VALUES('amd-epyc-f26m2 2c1s l2-1024k l3-32m avx512','AMD EPYC 9B45 family 26 model 2','avx512',2,4,1,49152,1048576,33554432,17179869184);
CREATE TABLE build(
  id         TEXT PRIMARY KEY,
  version    TEXT NOT NULL,
  revision   TEXT NOT NULL,
  compiler   TEXT NOT NULL,
  build_type TEXT NOT NULL,
  generator  INTEGER NOT NULL
) STRICT;
INSERT INTO build VALUES('0.1.0 abc1234 g++-12.2.0 release gen1','0.1.0','abc1234','g++-12.2.0','release',1);
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
, key TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO campaign VALUES(1,'loopbrick tune','amd-epyc-f26m2 2c1s l2-1024k l3-32m avx512','0.1.0 abc1234 g++-12.2.0 release gen1','model','60s','18446744073709551615','B','frequency not fixed',410000000000.0,NULL,NULL,NULL,NULL,4100000000.0,0.0080000000000000001665,'2026-01-31T12:00:00.000Z',NULL,NULL,'2026-01-31T12:00:00.000Z #1 410000000000 amd-epyc-f26m2 2c1s l2-1024k l3-32m avx512');
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
  confirmed_taken     TEXT, number INTEGER NOT NULL DEFAULT 0,
  CHECK ((search_n > 0) = (search_median IS NOT NULL)),
  CHECK ((confirmed_n > 0) = (confirmed_median IS NOT NULL))
) STRICT;
INSERT INTO trial VALUES(1,1,'conv fwd f32 mb2ic64ih56oc64oh56kh3sh1ph1','loopbrick','N k64 p q14 @ c64 * c r s','amd-epyc-f26m2 2c1s l2-1024k l3-32m avx512','t2 avx512 warm','0.1.0 abc1234 g++-12.2.0 release gen1','ok','',3,0.0010000000000000000208,0.00098499999999999998147,0.0010200000000000000732,0.00097999999999999996835,1,9,0.0010000000000000000208,0.00098999999999999999458,0.0010200000000000000732,0.00097999999999999996835,3,462422016.0,425428254.72000002861,410000000000.0,NULL,0.0,0,'avx512 6x64','','','','load=0.10 pinned=0,1','2026-01-31T12:00:00.000Z','2026-01-31T12:01:00.000Z',1);
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
INSERT INTO sample VALUES(1,1.0,0.0010000000000000000208,1,0,0,0,0,0);
INSERT INTO sample VALUES(1,2.0,0.0010000000000000000208,1,0,0,1,0,0);
INSERT INTO sample VALUES(1,3.0,0.0010000000000000000208,1,0,0,2,1,1);
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
CREATE TABLE layer(
  suite   TEXT NOT NULL,
  layer   TEXT NOT NULL,
  problem TEXT NOT NULL,
  count   INTEGER NOT NULL CHECK (count > 0),
  PRIMARY KEY (suite, layer, problem)
) STRICT, WITHOUT ROWID;
INSERT INTO layer VALUES('resnet50','4','conv fwd f32 mb2ic64ih56oc64oh56kh3sh1ph1',3);
CREATE TABLE wisdom(
  problem    TEXT NOT NULL,
  conditions TEXT NOT NULL,
  machine    TEXT NOT NULL,
  schedule   TEXT NOT NULL,
  build      TEXT NOT NULL,
  seconds    REAL NOT NULL CHECK (seconds > 0),
  imported   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')),
  PRIMARY KEY (problem, conditions, machine, schedule)
) STRICT, WITHOUT ROWID;
INSERT INTO wisdom VALUES('conv fwd f32 mb2ic64ih56oc64oh56kh3ph1','t2 avx512 warm','another machine','N k64 p q28 @ c64 * c r s','0.1.0 abc1234 g++-12.2.0 release gen1',0.001250000000000000026,'2026-01-31T12:00:00.000Z');
CREATE TABLE space(
  problem    TEXT NOT NULL,
  machine    TEXT NOT NULL,
  conditions TEXT NOT NULL,
  schedules  INTEGER NOT NULL CHECK (schedules >= 0),
  PRIMARY KEY (problem, machine, conditions)
) STRICT, WITHOUT ROWID;
CREATE TABLE effort(
  problem        TEXT NOT NULL,
  machine        TEXT NOT NULL,
  conditions     TEXT NOT NULL,
  implementation TEXT NOT NULL,
  campaign       INTEGER NOT NULL REFERENCES campaign(id),
  trials         INTEGER NOT NULL,
  ok             INTEGER NOT NULL,
  choices        INTEGER NOT NULL,
  fastest_s      REAL,
  gain           INTEGER REFERENCES trial(id),
  trials_since   INTEGER NOT NULL,
  PRIMARY KEY (problem, machine, conditions, implementation, campaign)
) STRICT, WITHOUT ROWID;
INSERT INTO effort VALUES('conv fwd f32 mb2ic64ih56oc64oh56kh3sh1ph1','amd-epyc-f26m2 2c1s l2-1024k l3-32m avx512','t2 avx512 warm','loopbrick',1,1,1,1,0.0010000000000000000208,1,0);
CREATE INDEX campaign_by_machine ON campaign(machine);
CREATE INDEX sample_by_trial ON sample(trial);
CREATE INDEX comparison_by_campaign ON comparison(campaign);
CREATE INDEX comparison_by_trial ON comparison(trial);
CREATE INDEX comparison_by_other ON comparison(other);
CREATE INDEX layer_by_problem ON layer(problem);
CREATE VIEW speedup AS
  SELECT comparison.campaign, a.problem, a.machine, a.conditions, a.build, a.implementation,
         a.choice, b.implementation AS other, b.choice AS other_choice, b.ran AS other_ran,
         comparison.ratio AS speedup, comparison.lo, comparison.hi, comparison.rounds,
         comparison.verdict, a.confirmed_median AS median_s, b.confirmed_median AS other_median_s,
         a.flops / a.confirmed_median / 1e9 AS gflops,
         b.flops / b.confirmed_median / 1e9 AS other_gflops, comparison.trial,
         comparison.other AS other_trial
  FROM comparison JOIN trial AS a ON a.id = comparison.trial JOIN trial AS b ON b.id = comparison.other;
CREATE UNIQUE INDEX campaign_by_key ON campaign(key);
CREATE UNIQUE INDEX trial_by_campaign ON trial(campaign, number);
CREATE INDEX effort_by_campaign ON effort(campaign);
CREATE VIEW recount AS
  WITH numbered AS (
    SELECT *, row_number() OVER (PARTITION BY problem, implementation, machine, conditions, choice
                                 ORDER BY id) = 1 AS is_new,
           first_value(CASE WHEN outcome = 'ok' AND search_n > 0 THEN id END) OVER (
             PARTITION BY campaign, problem, machine, conditions, implementation
             ORDER BY outcome = 'ok' AND search_n > 0 DESC, search_median, id) AS gain
    FROM trial)
  SELECT problem, machine, conditions, implementation, campaign, count(*) AS trials,
         sum(outcome = 'ok') AS ok, sum(is_new) AS choices,
         min(search_median) FILTER (WHERE outcome = 'ok') AS fastest_s, gain,
         sum(id > coalesce(gain, 0)) AS trials_since
  FROM numbered GROUP BY problem, machine, conditions, implementation, campaign;
CREATE INDEX trial_by_key ON trial(problem, implementation, machine, conditions, choice, build);
CREATE TRIGGER count_trial AFTER INSERT ON trial BEGIN
  INSERT INTO effort VALUES (new.problem, new.machine, new.conditions, new.implementation,
                             new.campaign, 0, 0, 0, NULL, NULL, 0) ON CONFLICT DO NOTHING;
  UPDATE effort SET
    trials = trials + 1,
    ok = ok + (new.outcome = 'ok'),
    choices = choices + NOT EXISTS (
      SELECT 1 FROM trial WHERE problem = new.problem AND implementation = new.implementation
      AND machine = new.machine AND conditions = new.conditions AND choice = new.choice
      AND id <> new.id),
    trials_since = trials_since + 1
    WHERE problem = new.problem AND machine = new.machine AND conditions = new.conditions
      AND implementation = new.implementation AND campaign = new.campaign;
  UPDATE effort SET fastest_s = new.search_median, gain = new.id, trials_since = 0
    WHERE problem = new.problem AND machine = new.machine AND conditions = new.conditions
      AND implementation = new.implementation AND campaign = new.campaign
      AND new.outcome = 'ok' AND new.search_n > 0
      AND new.search_median < coalesce(fastest_s, 9e999);
END;
CREATE INDEX trial_confirmed
  ON trial(problem, machine, conditions, implementation, confirmed_median, choice, build,
           confirmed_lo, confirmed_hi, taken)
  WHERE outcome = 'ok' AND confirmed_n > 0;
CREATE INDEX trial_searched
  ON trial(problem, machine, conditions, implementation, search_median)
  WHERE outcome = 'ok' AND search_n > 0;
CREATE INDEX trial_failed
  ON trial(problem, implementation, machine, conditions, outcome) WHERE outcome <> 'ok';
CREATE VIEW best AS
  SELECT trial.problem, trial.machine, trial.conditions, trial.implementation, trial.choice,
         trial.build, trial.confirmed_median AS median_s, confirmed_lo AS lo_s, confirmed_hi AS hi_s,
         flops / trial.confirmed_median / 1e9 AS gflops,
         100 * flops / trial.confirmed_median / peak_flops AS pct_of_peak,
         100 * executed_flops / trial.confirmed_median / peak_flops AS executed_pct_of_peak, ran,
         included, flag, version, coalesce(confirmed_taken, trial.taken) AS taken,
         trial.id AS trial
  FROM (SELECT problem, machine, conditions, implementation, id,
               row_number() OVER (PARTITION BY problem, machine, conditions, implementation
                                  ORDER BY confirmed_median, choice, id) AS place
        FROM trial WHERE outcome = 'ok' AND confirmed_n > 0) AS ranked
  JOIN trial ON trial.id = ranked.id
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
CREATE VIEW failures AS
  SELECT failed.*, trial.reason AS first_reason, trial.choice AS first_choice
  FROM (SELECT problem, implementation, machine, conditions, outcome, count(*) AS count,
               min(id) AS first_trial
        FROM trial WHERE outcome <> 'ok'
        GROUP BY problem, implementation, machine, conditions, outcome) AS failed
  JOIN trial ON trial.id = failed.first_trial;
CREATE VIEW coverage AS
  WITH ordered AS (
    SELECT effort.*, campaign.started,
           sum(effort.trials) OVER (alike ORDER BY started DESC, effort.campaign DESC
                                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS later,
           row_number() OVER (alike ORDER BY fastest_s IS NULL, fastest_s, started) AS place
    FROM effort JOIN campaign ON campaign.id = effort.campaign
    WINDOW alike AS (PARTITION BY problem, effort.machine, conditions, implementation)),
  whole AS (
    SELECT problem, machine, conditions, implementation, sum(trials) AS trials,
           sum(choices) AS choices, sum(ok) AS ok, min(fastest_s) AS fastest_s,
           max(gain) FILTER (WHERE place = 1) AS gain,
           max(trials_since + coalesce(later, 0)) FILTER (WHERE place = 1) AS trials_since,
           (SELECT count(*) FROM trial WHERE problem = ordered.problem AND machine = ordered.machine
            AND conditions = ordered.conditions AND implementation = ordered.implementation
            AND outcome = 'ok' AND confirmed_n > 0) AS confirmed,
           (SELECT min(confirmed_median) FROM trial WHERE problem = ordered.problem
            AND machine = ordered.machine AND conditions = ordered.conditions
            AND implementation = ordered.implementation
            AND outcome = 'ok' AND confirmed_n > 0) AS best_s,
           (SELECT sum(search_median * pow(0.5, place)) + max(search_median) * pow(0.5, count(*))
            FROM (SELECT search_median, row_number() OVER (ORDER BY search_median) AS place
                  FROM trial WHERE problem = ordered.problem AND machine = ordered.machine
                  AND conditions = ordered.conditions AND implementation = ordered.implementation
                  AND outcome = 'ok' AND search_n > 0 ORDER BY search_median LIMIT 50))
             AS fastest_of_half_s
    FROM ordered GROUP BY problem, machine, conditions, implementation)
  SELECT problem, machine, conditions, implementation, whole.trials, choices, ok, confirmed,
         CASE WHEN implementation = 'loopbrick' THEN schedules END AS schedules,
         CASE WHEN implementation = 'loopbrick' THEN 100.0 * choices / schedules END AS share_pct,
         best_s, fastest_s AS best_search_s,
         (SELECT taken FROM trial WHERE id = gain) AS last_gain,
         CASE WHEN gain IS NOT NULL THEN trials_since END AS trials_since,
         100 * (fastest_of_half_s / fastest_s - 1) AS probable_gain_pct,
         CASE WHEN fastest_s IS NULL THEN NULL
              WHEN choices >= 30 AND fastest_of_half_s / fastest_s < 1.01
                AND 2 * trials_since >= trials THEN 'yes'
              ELSE 'no' END AS enough
  FROM whole LEFT JOIN space USING (problem, machine, conditions);
CREATE VIEW campaigns AS
  SELECT campaign.*, (julianday(ended) - julianday(started)) * 86400 AS seconds,
         coalesce(counted.trials, 0) AS trials, coalesce(counted.ok, 0) AS ok,
         coalesce(counted.problems, 0) AS problems,
         (SELECT count(*) FROM comparison WHERE comparison.campaign = campaign.id) AS comparisons
  FROM campaign
  LEFT JOIN (SELECT campaign, sum(trials) AS trials, sum(ok) AS ok,
                    count(DISTINCT problem) AS problems
             FROM effort GROUP BY campaign) AS counted ON counted.campaign = campaign.id;
CREATE VIEW history AS
  WITH fastest AS (
    SELECT problem, machine, conditions, implementation, build, id, confirmed_median,
           row_number() OVER (alike ORDER BY confirmed_median, choice, id) AS place,
           count(*) OVER alike AS trials, min(taken) OVER alike AS since
    FROM trial WHERE outcome = 'ok' AND confirmed_n > 0
    WINDOW alike AS (PARTITION BY problem, machine, conditions, implementation, build))
  SELECT trial.problem, trial.machine, trial.conditions, trial.implementation, trial.build,
         build.revision, since, trials, choice, trial.confirmed_median AS median_s,
         confirmed_lo AS lo_s, confirmed_hi AS hi_s, flops / trial.confirmed_median / 1e9 AS gflops,
         lag(trial.confirmed_median) OVER (
           PARTITION BY trial.problem, trial.machine, trial.conditions, trial.implementation
           ORDER BY since, trial.build) / trial.confirmed_median AS over_previous,
         trial.id AS trial
  FROM fastest JOIN trial ON trial.id = fastest.id JOIN build ON build.id = fastest.build
  WHERE place = 1;
CREATE VIEW repeats AS
  SELECT *, 100 * (highest_lo_s / lowest_hi_s - 1) AS apart_pct
  FROM (SELECT problem, machine, conditions, implementation, build, choice, count(*) AS times,
               min(confirmed_median) AS fastest_s, max(confirmed_median) AS slowest_s,
               max(confirmed_lo) AS highest_lo_s, min(confirmed_hi) AS lowest_hi_s,
               min(taken) AS first_taken, max(taken) AS last_taken
        FROM trial INDEXED BY trial_confirmed WHERE outcome = 'ok' AND confirmed_n > 0
        GROUP BY problem, machine, conditions, implementation, build, choice)
  WHERE times > 1 AND highest_lo_s > lowest_hi_s;
CREATE VIEW model AS
  WITH latest AS (
    SELECT id, problem, machine, conditions, implementation, build, predicted, search_median,
           row_number() OVER (PARTITION BY problem, machine, conditions, implementation, build,
                              choice ORDER BY taken DESC, id DESC) AS age
    FROM trial WHERE outcome = 'ok' AND search_n > 0 AND predicted IS NOT NULL),
  ranked AS (
    SELECT id, problem, machine, conditions, implementation, build, predicted, search_median,
           rank() OVER (alike ORDER BY predicted)
             + (count(*) OVER (PARTITION BY problem, machine, conditions, implementation, build,
                                            predicted) - 1) / 2.0 AS x,
           rank() OVER (alike ORDER BY search_median)
             + (count(*) OVER (PARTITION BY problem, machine, conditions, implementation, build,
                                            search_median) - 1) / 2.0 AS y,
           row_number() OVER (alike ORDER BY predicted, id) AS place,
           min(search_median) OVER alike AS fastest
    FROM latest WHERE age = 1
    WINDOW alike AS (PARTITION BY problem, machine, conditions, implementation, build))
  SELECT problem, machine, conditions, implementation, build, count(*) AS choices,
         max(predicted) FILTER (WHERE place = 1) AS first_predicted_s,
         max(search_median) FILTER (WHERE place = 1) AS first_measured_s, max(fastest) AS fastest_s,
         100 * (max(search_median) FILTER (WHERE place = 1) / max(fastest) - 1) AS regret_pct,
         100 * (min(search_median) FILTER (WHERE place <= 10) / max(fastest) - 1)
           AS first_ten_regret_pct,
         (count(*) * sum(x * y) - sum(x) * sum(y))
           / nullif(sqrt(count(*) * sum(x * x) - sum(x) * sum(x))
                    * sqrt(count(*) * sum(y * y) - sum(y) * sum(y)), 0) AS rank_correlation,
         max(id) FILTER (WHERE place = 1) AS first_trial
  FROM ranked
  GROUP BY problem, machine, conditions, implementation, build;
COMMIT;
PRAGMA application_id=1819242352;
PRAGMA user_version=4;
