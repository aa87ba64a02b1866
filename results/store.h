#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "results/trial.h"

namespace loopbrick {

/// The file is not ours, too new, damaged or read-only, or the SQL is wrong: exit code 2.
struct BadDatabase : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The disk is full, an input or output failed, another program keeps the file locked, or a row is
/// impossible: exit code 5.
struct WorldFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Rows of a query as texts, NULL as nothing.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
};

enum class Access { read, write };

/// Every trial ever run, in one SQLite file (docs/schema.md).
///
/// Errors   members throw BadDatabase or WorldFailure with the file's name and SQLite's message.
/// Threads  one Store per thread; several processes may write to one file.
class Store {
 public:
  /// Access::write creates the file or brings its schema up to date; Access::read never changes it.
  Store(const std::filesystem::path& file, Access access);
  ~Store();
  Store(Store&&) noexcept;

  /// From now on no power cut loses what was stored either: every transaction waits for the disk.
  void survive_power_loss();
  bool survives_power_loss() const;

  void add_machine(const MachineRecord& machine);  ///< no change if it is there
  void add_build(const BuildRecord& build);
  std::int64_t add_campaign(const CampaignRecord& campaign);
  void end_campaign(std::int64_t campaign, std::string_view how);

  /// Adds one trial with its samples in one transaction: no kill loses it once this returns.
  /// Returns its id. Needs its machine, build and campaign to be there.
  std::int64_t add_trial(const TrialRecord& trial);

  /// Confirming samples for a trial that is there already. They replace earlier ones, which stay as
  /// superseded.
  void confirm(std::int64_t trial, const Measured& confirmed, double peak_flops,
               const std::vector<TimedSample>& samples);
  void add_comparison(const ComparisonRecord& comparison);
  void add_layer(const LayerRecord& layer);  ///< sets the count if it is there
  void add_space(const SpaceRecord& space);  ///< the same

  /// All or none. An entry of the same problem, conditions, machine and schedule is replaced.
  void add_wisdom(const std::vector<WisdomRecord>& entries);
  std::vector<WisdomRecord> wisdom(std::string_view problem) const;  ///< fastest first

  /// The latest trial of every choice under this key (without samples); what a resumed search
  /// starts from.
  struct Key {
    std::string problem, implementation, machine, conditions, build;
  };
  std::vector<TrialRecord> trials(const Key& key) const;

  /// The fastest confirmed trial under this key; with `build` empty, of any build.
  std::optional<TrialRecord> best(const Key& key) const;

  /// The same of the trials that only a search has measured.
  std::optional<TrialRecord> best_unconfirmed(const Key& key) const;

  std::optional<TrialRecord> trial(std::int64_t id) const;  ///< with samples
  std::optional<CampaignRecord> campaign(std::int64_t id) const;
  std::optional<CampaignRecord> latest_campaign(std::string_view machine) const;

  /// One statement of SQL that reads; anything that would write is refused. `parameters` go to the
  /// placeholders in the order in which the text first names them; an empty or missing one is NULL.
  Table query(const std::string& sql, const std::vector<std::string>& parameters = {}) const;

  /// "wal", or "delete" where the file system can't share memory: then writers wait for readers.
  std::string journal_mode() const;

 private:
  class Connection;
  std::unique_ptr<Connection> connection_;
};

/// A query with a name: `loopbrick query NAME`.
struct SavedQuery {
  std::string_view name;
  std::string_view sentence;
  std::string_view sql;  ///< parameters :machine :problem, NULL for all
};
const std::vector<SavedQuery>& saved_queries();

}  // namespace loopbrick
