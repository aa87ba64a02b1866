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

  /// The topology of one logical CPU, under /sys.
  void write_cpu(int number, int package, int core) const;

  /// Cache `index` of a logical CPU, with texts as /sys has them: "2", "Unified", "1024K".
  void write_cache(int cpu, int index, const std::string& level, const std::string& type,
                   const std::string& size) const;

  /// The affinity mask of this process.
  void allow(const std::string& cpus) const;

  std::string root() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace loopbrick
