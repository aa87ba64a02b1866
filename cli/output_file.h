#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace loopbrick {

/// Whether a file that the user named can be written, asked before any work is done for it.
///
/// Errors  throws ParseError with `option` and what would be right: no name, a folder, a missing
///         folder, or a database, which nothing but the store writes to.
void check_output_file(std::string_view option, const std::filesystem::path& file);

/// Writes all of it or leaves what was there: under another name first, then renamed.
///
/// Errors  throws WorldFailure with the reason.
void write_whole(const std::filesystem::path& file, std::string_view text);

}  // namespace loopbrick
