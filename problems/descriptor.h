#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace loopbrick {

/// One size that a descriptor may have: its letters, and the least value that makes sense.
struct SizeName {
  std::string_view letters;
  std::int64_t least = 1;
  std::int64_t most = INT64_MAX;
};

/// The sizes of a benchdnn descriptor such as "mb2ic64_ih56oc64kh3ph1".
///
/// Text    letters and a decimal number, again and again; underscores between them mean nothing.
/// Errors  the constructor throws ParseError that names a piece without letters or number, letters
///         that are not in `known`, letters given twice, or a value outside its range.
class Descriptor {
 public:
  Descriptor(std::string_view text, std::span<const SizeName> known);

  std::optional<std::int64_t> find(std::string_view letters) const;
  std::int64_t value_or(std::string_view letters, std::int64_t otherwise) const;

  /// Errors  throws ParseError if the size is missing.
  std::int64_t required(std::string_view letters) const;

 private:
  struct Size {
    std::string_view letters;
    std::int64_t value = 0;
  };

  std::string_view text_;
  std::vector<Size> sizes_;
};

}  // namespace loopbrick
