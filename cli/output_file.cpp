#include "cli/output_file.h"

#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <system_error>

#include "kernels/text.h"
#include "results/store.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

bool is_database(const fs::path& file) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::string start(kMagic.size(), '\0');
  std::ifstream in(file, std::ios::binary);
  return in.read(start.data(), static_cast<std::streamsize>(start.size())) && start == kMagic;
}

}  // namespace

void check_output_file(std::string_view option, const fs::path& file) {
  std::error_code ignored;
  if (file.empty()) throw ParseError(fmt::format("{} has an empty file name", option));
  if (fs::is_directory(file, ignored))
    throw ParseError(fmt::format("{} '{}' is a folder: name a file", option, file.string()));
  const fs::path folder = fs::absolute(file).parent_path();
  if (!fs::is_directory(folder, ignored))
    throw ParseError(fmt::format("{}: there is no folder '{}'", option, folder.string()));
  if (fs::is_regular_file(file, ignored) && is_database(file))
    throw ParseError(
        fmt::format("{} '{}' is a database: name another file", option, file.string()));
}

void write_whole(const fs::path& file, std::string_view text) {
  const auto written = [text](const fs::path& to) {
    std::ofstream out(to, std::ios::binary);
    out << text;
    out.close();
    return static_cast<bool>(out);
  };
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error)) {  // /dev/stdout, a pipe
    if (!written(file)) throw WorldFailure(fmt::format("'{}' can't be written", file.string()));
    return;
  }
  const fs::path part = file.string() + ".part";
  errno = 0;
  if (!written(part)) {
    const std::string reason = std::generic_category().message(errno);
    fs::remove(part, error);
    throw WorldFailure(fmt::format("'{}' can't be written: {}", file.string(), reason));
  }
  fs::rename(part, file, error);
  if (!error) return;
  const std::string reason = error.message();
  fs::remove(part, error);
  throw WorldFailure(fmt::format("'{}' can't be written: {}", file.string(), reason));
}

}  // namespace loopbrick
