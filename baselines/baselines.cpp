#include "baselines/baselines.h"

#include <array>
#include <cstddef>
#include <dlfcn.h>
#include <filesystem>
#include <system_error>

namespace loopbrick {
namespace {

constexpr const char* kFile = "loopbrick_baselines.so";

using Table = const Implementation* (*)(std::size_t* count);

struct Opened {
  std::span<const Implementation> rows;
  std::string problem;
};

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// The first of the two places that has the file; the first one if none has, for the message.
std::filesystem::path find_module() {
  const std::filesystem::path folder = program_folder();
  const std::filesystem::path installed = folder.parent_path() / "lib" / "loopbrick" / kFile;
  const std::filesystem::path beside = folder / kFile;
  std::error_code ignored;
  return !std::filesystem::exists(beside, ignored) && std::filesystem::exists(installed, ignored)
             ? installed
             : beside;
}

std::string why_not_loaded() {
  const char* reason = dlerror();
  return "the baselines cannot be loaded: " + std::string(reason ? reason : "no reason given");
}

/// Never closed: the rows, and the threads that their libraries started, live as long as the
/// process.
Opened open_module() {
  void* module = dlopen(find_module().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) return {.rows = {}, .problem = why_not_loaded()};
  const auto table = reinterpret_cast<Table>(dlsym(module, "loopbrick_baselines"));
  if (!table) return {.rows = {}, .problem = why_not_loaded()};
  std::size_t count = 0;
  const Implementation* rows = table(&count);
  return {.rows = {rows, count}, .problem = {}};
}

const Opened& opened() {
  static const Opened once = open_module();
  return once;
}

}  // namespace

std::span<const Implementation> baselines() { return opened().rows; }

std::string_view baselines_problem() { return opened().problem; }

}  // namespace loopbrick
