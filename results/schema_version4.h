#pragma once
#include <string_view>

namespace loopbrick {

/// Views that answer "is this layer tuned enough?", "did it get slower?" and "do repeats agree?",
/// and what makes the answers quick in a file of a million trials: `effort` counts what each
/// campaign tried (`recount` is the same from the trials themselves), and indexes hold what views
/// read. "Latest" goes by the clock, since ids of a merged file don't.
inline constexpr std::string_view kVersion4 = R"sql(
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

DROP INDEX trial_by_key;
CREATE INDEX trial_by_key ON trial(problem, implementation, machine, conditions, choice, build);
INSERT INTO effort SELECT * FROM recount;

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

DROP INDEX trial_confirmed;
CREATE INDEX trial_confirmed
  ON trial(problem, machine, conditions, implementation, confirmed_median, choice, build,
           confirmed_lo, confirmed_hi, taken)
  WHERE outcome = 'ok' AND confirmed_n > 0;
CREATE INDEX trial_searched
  ON trial(problem, machine, conditions, implementation, search_median)
  WHERE outcome = 'ok' AND search_n > 0;
CREATE INDEX trial_failed
  ON trial(problem, implementation, machine, conditions, outcome) WHERE outcome <> 'ok';

DROP VIEW layers;
DROP VIEW best;
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

DROP VIEW failures;
CREATE VIEW failures AS
  SELECT failed.*, trial.reason AS first_reason, trial.choice AS first_choice
  FROM (SELECT problem, implementation, machine, conditions, outcome, count(*) AS count,
               min(id) AS first_trial
        FROM trial WHERE outcome <> 'ok'
        GROUP BY problem, implementation, machine, conditions, outcome) AS failed
  JOIN trial ON trial.id = failed.first_trial;

DROP VIEW coverage;
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

DROP VIEW campaigns;
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

DROP VIEW model;
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
)sql";

}  // namespace loopbrick
