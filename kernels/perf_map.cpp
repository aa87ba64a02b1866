#include "kernels/perf_map.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace loopbrick {
namespace {

std::string line_of(const BrgemmKernel& kernel) {
  const auto code = kernel.code();
  return fmt::format("{:x} {:x} {}\n", reinterpret_cast<std::uintptr_t>(code.data()), code.size(),
                     to_string(kernel.spec()));
}

}  // namespace

/// Anybody may write to /tmp: a link that lies there is not followed.
PerfMap::PerfMap(std::filesystem::path file)
    : file_(std::move(file)),
      descriptor_(open(file_.c_str(),
                       O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644)) {
  if (descriptor_ >= 0) return;
  throw std::system_error(errno, std::generic_category(), fmt::format("making {}", file_.string()));
}

PerfMap::~PerfMap() { close(descriptor_); }

void PerfMap::add(const BrgemmKernel& kernel) {
  if (kernel.code().empty() || !added_.insert(kernel.code().data()).second) return;
  const std::string line = line_of(kernel);
  if (write(descriptor_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  throw std::system_error(errno, std::generic_category(),
                          fmt::format("writing to {}", file_.string()));
}

std::filesystem::path PerfMap::default_path() { return fmt::format("/tmp/perf-{}.map", getpid()); }

}  // namespace loopbrick
