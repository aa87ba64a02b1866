#include "problems/text_file.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

#include "kernels/text.h"

namespace loopbrick {

std::string read_text_file(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file))
    throw ParseError(fmt::format("'{}' is a directory", file.string()));
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw ParseError(fmt::format("cannot read '{}': {}", file.string(), std::strerror(errno)));
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace loopbrick
