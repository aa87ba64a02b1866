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

}  // namespace loopbrick
