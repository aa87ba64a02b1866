#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "results/store.h"

namespace loopbrick {

enum class TableFormat { table, json, csv, md };

/// The format of that name: "table", "json", "csv" or "md"; nothing for any other text.
std::optional<TableFormat> parse_table_format(std::string_view text);

/// The table as text that ends with a newline.
///
/// Text  table  aligned for reading, "-" for NULL, numbers to the right
///       json   a list of one object a row; a column of numbers only is printed as numbers
///       csv    RFC 4180 with a header, lines end with \n, NULL is empty
///       md     a pipe table
std::string format_table(const Table& table, TableFormat format);

/// The text with U+FFFD for every byte that belongs to no character.
std::string as_utf8(std::string_view text);

}  // namespace loopbrick
