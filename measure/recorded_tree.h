#pragma once
#include <filesystem>
#include <string>

namespace loopbrick {

/// A folder that stands for "/" in a test, deleted at the end.
class RecordedTree {
 public:
  RecordedTree();
  ~RecordedTree();
  RecordedTree(const RecordedTree&) = delete;
  RecordedTree& operator=(const RecordedTree&) = delete;

  /// Writes root/`file`, e.g. "proc/cpuinfo".
  void write(const std::string& file, const std::string& text) const;

  std::string root() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace loopbrick
