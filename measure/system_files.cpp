#include "measure/system_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCpus = 1 << 16;  // a damaged list must not fill the memory

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  std::istringstream stream{std::string(text)};
  for (std::string piece; std::getline(stream, piece, separator);) pieces.push_back(piece);
  return pieces;
}

std::optional<std::int64_t> leading_count(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

void append_range(std::string_view range, std::vector<int>& cpus) {
  const auto first = leading_count(range);
  const std::size_t dash = range.find('-');
  const auto last = dash == std::string_view::npos ? first : leading_count(range.substr(dash + 1));
  if (!first || !last || *first < 0 || *last >= kMostCpus) return;
  for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
}

/// `mount`/a/b, `mount`/a, `mount`: whoever limits a parent limits us.
void append_with_parents(const fs::path& mount, std::string inside,
                         std::vector<fs::path>& folders) {
  while (inside.size() > 1) {
    folders.push_back(mount.string() + inside);
    inside.erase(inside.find_last_of('/'));
  }
  folders.push_back(mount);
}

bool lists(std::string_view controllers, std::string_view controller) {
  const std::vector<std::string> names = split(controllers, ',');
  return std::find(names.begin(), names.end(), controller) != names.end();
}

}  // namespace

std::optional<std::string> read_text(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) return std::nullopt;
  return text;
}

std::optional<std::int64_t> read_count(const fs::path& file) {
  const auto text = read_text(file);
  return text ? leading_count(*text) : std::nullopt;
}

std::string field(std::string_view text, std::string_view name) {
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with(name)) continue;
    const std::size_t blank = line.find_first_not_of(" \t", name.size());
    if (blank == std::string::npos || line[blank] != ':') continue;
    const std::size_t value = line.find_first_not_of(" \t", blank + 1);
    return value == std::string::npos ? std::string() : line.substr(value);
  }
  return {};
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string& range : split(text, ',')) append_range(range, cpus);
  return cpus;
}

std::vector<fs::path> cgroup_folders(const std::string& root, std::string_view controller) {
  std::vector<fs::path> folders;
  const fs::path mounts = fs::path(root) / "sys/fs/cgroup";
  const std::string memberships = read_text(fs::path(root) / "proc/self/cgroup").value_or("");
  for (const std::string& line : split(memberships, '\n')) {
    const std::vector<std::string> parts = split(line, ':');  // number:controllers:path
    if (parts.size() != 3) continue;
    if (parts[1].empty()) {
      append_with_parents(mounts, parts[2], folders);
      append_with_parents(mounts / "unified", parts[2], folders);
    } else if (lists(parts[1], controller)) {
      append_with_parents(mounts / parts[1], parts[2], folders);
      append_with_parents(mounts / std::string(controller), parts[2], folders);
    }
  }
  return folders;
}

}  // namespace loopbrick
