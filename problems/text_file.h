#pragma once
#include <filesystem>
#include <string>

namespace loopbrick {

/// The whole of a text file that a person named.
///
/// Errors  throws ParseError with the file's name and the reason if it cannot be read.
std::string read_text_file(const std::filesystem::path& file);

}  // namespace loopbrick
