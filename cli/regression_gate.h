#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/output_options.h"
#include "tuner/regression.h"

namespace loopbrick {

/// Stored times to compare with, as typed: FILE.db or FILE.db@COMMIT.
struct Against {
  std::string file;
  std::string revision;  ///< the beginning of a commit; empty: of the newest build

  friend bool operator==(const Against&, const Against&) = default;
};

/// A file of that whole name goes before a commit behind its last '@'.
Against parse_against(const std::string& text);

/// `compare --against`: measures under one set of conditions after the other, and reports all.
class RegressionGate {
 public:
  /// Errors  throws BadDatabase for a file to compare with that can't be read, and ParseError for a
  ///         report that can't be written, before anything is measured.
  RegressionGate(const std::string& against, double bar, const std::optional<std::string>& junit);

  /// False: interrupted.
  bool measure(const CompareRequest& request, Store& store, const CompareWatcher& watcher);

  /// Prints the rows and writes the report. Bad if a layer is slower than the bar or failed, or if
  /// there was nothing to compare.
  ExitCode report(const OutputOptions& output);

 private:
  struct Row {
    std::string conditions;
    RegressionRow found;
  };
  void write_junit();

  Against against_;
  Store yardstick_;
  double bar_;
  std::string junit_name_;
  std::string machine_, build_;
  std::vector<Row> rows_;
};

}  // namespace loopbrick
