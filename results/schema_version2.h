#pragma once
#include <string_view>

namespace loopbrick {

/// Identities that outlive a file: the campaign's key and the trial's number within its campaign.
///
/// Campaigns of version 1 get a key from what they hold, so copies of one file that are updated
/// apart still agree on it.
inline constexpr std::string_view kVersion2 = R"sql(
ALTER TABLE campaign ADD COLUMN key TEXT NOT NULL DEFAULT '';
UPDATE campaign SET key = printf('%s #%d %.0f %s', started, id, coalesce(peak_flops, 0), machine);
CREATE UNIQUE INDEX campaign_by_key ON campaign(key);

ALTER TABLE trial ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE trial SET number = counted.number
  FROM (SELECT id, row_number() OVER (PARTITION BY campaign ORDER BY id) AS number FROM trial)
       AS counted
  WHERE counted.id = trial.id;
DROP INDEX trial_by_campaign;
CREATE UNIQUE INDEX trial_by_campaign ON trial(campaign, number);
)sql";

}  // namespace loopbrick
