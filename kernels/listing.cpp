#include "kernels/listing.h"

#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <stdlib.h>
#include <system_error>
#include <unistd.h>

namespace loopbrick {
namespace {

/// A file of its own for each caller, removed at the end.
class TemporaryFile {
 public:
  TemporaryFile() : path_((std::filesystem::temp_directory_path() / "loopbrick-XXXXXX").string()) {
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), path_);
    close(descriptor);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::system_error(errno, std::generic_category(), command);
  std::string output;
  std::array<char, 4096> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe)) {
    output.append(piece.data(), count);
  }
  if (pclose(pipe) != 0) {
    throw std::runtime_error(
        fmt::format("'{}' failed; it prints listings and is in package binutils", command));
  }
  return output;
}

/// Without the heading: from the first instruction (offset 0) on.
std::string instructions_of(const std::string& output) {
  const std::size_t heading = output.find("\n   0:\t");
  return heading == std::string::npos ? output : output.substr(heading + 1);
}

}  // namespace

std::string listing(const BrgemmKernel& kernel) {
  if (kernel.code().empty()) {
    throw std::invalid_argument(
        fmt::format("listing: '{}' has no generated code", to_string(kernel.spec())));
  }
  const TemporaryFile file;
  write_code(kernel, file.path());
  return instructions_of(output_of(fmt::format(
      "objdump -D -b binary -m i386:x86-64 -M intel --no-show-raw-insn '{}'", file.path())));
}

void write_code(const BrgemmKernel& kernel, const std::filesystem::path& file) {
  const auto code = kernel.code();
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
  if (!out.flush()) {
    throw std::runtime_error(fmt::format("cannot write the code to '{}'", file.string()));
  }
}

}  // namespace loopbrick
