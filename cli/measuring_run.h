#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/what_options.h"
#include "measure/lock.h"
#include "results/store.h"
#include "tuner/tune.h"

namespace loopbrick {

class Command;

/// The options of every command that measures and stores.
struct MeasuringOptions {
  std::optional<std::string> database;  ///< --db, if it was given
  bool no_lock = false;
  bool strict = false;
  bool durable = false;
  BenchOptions bench;  ///< its seed is the seed of every random choice
};

std::string database_of(const MeasuringOptions& options);  ///< that, or the default one

void add_measuring_options(Command& command, MeasuringOptions& options);

/// --perf-map, of the commands that one profiles.
void add_perf_map_option(Command& command, MeasuringOptions& options);

/// Waits for the machine-wide lock, telling so on stderr; nothing with `no_lock`.
///
/// Errors  throws Interrupted when the user stops the wait.
std::optional<MachineLock> take_lock(bool no_lock);

/// What stands in the campaign besides the machine.
struct CampaignTexts {
  std::string command;
  std::string strategy;
  std::string budget;
};

/// One run of a measuring command: the database is open, the machine is locked, known and probed.
///
/// Errors  the constructor throws what Store and MachineLock throw; the database comes first.
class MeasuringRun {
 public:
  MeasuringRun(const MeasuringOptions& options, CampaignTexts texts);
  ~MeasuringRun();

  Store& store() { return store_; }

  /// Probes the machine under the conditions of `work` and begins a campaign, which knows the
  /// layers; ends the campaign before it.
  Station begin(const Work& work);

  /// Ends the campaign as "done" or "interrupted". Returns `exit`, unless the user stopped the run
  /// or, where all else is fine, wants `strict` numbers and the machine can't give them.
  ExitCode end(ExitCode exit);

 private:
  void add_layers(const What& what);
  void end_campaign(std::string_view how);

  MeasuringOptions options_;
  CampaignTexts texts_;
  Store store_;
  std::optional<MachineLock> lock_;
  Machine machine_;
  std::int64_t campaign_ = 0;  ///< the running one; 0: none
  bool untrusted_ = false;
};

}  // namespace loopbrick
