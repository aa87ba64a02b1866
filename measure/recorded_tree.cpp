#include "measure/recorded_tree.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace loopbrick {

RecordedTree::RecordedTree() {
  std::string pattern = std::filesystem::temp_directory_path() / "loopbrick-tree-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for " + pattern);
  folder_ = pattern;
}

RecordedTree::~RecordedTree() { std::filesystem::remove_all(folder_); }

void RecordedTree::write(const std::string& file, const std::string& text) const {
  const std::filesystem::path path = folder_ / file;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

void RecordedTree::write_cpu(int number, int package, int core) const {
  const std::string topology = "sys/devices/system/cpu/cpu" + std::to_string(number) + "/topology/";
  write(topology + "physical_package_id", std::to_string(package) + "\n");
  write(topology + "core_id", std::to_string(core) + "\n");
}

void RecordedTree::write_cache(int cpu, int index, const std::string& level,
                               const std::string& type, const std::string& size) const {
  const std::string cache = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" +
                            std::to_string(index) + "/";
  write(cache + "level", level + "\n");
  write(cache + "type", type + "\n");
  write(cache + "size", size + "\n");
}

void RecordedTree::allow(const std::string& cpus) const {
  write("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t" + cpus + "\n");
}

}  // namespace loopbrick
