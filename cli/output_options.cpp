#include "cli/output_options.h"

#include <fmt/format.h>
#include <iostream>

#include "cli/command_line.h"
#include "results/table_format.h"

namespace loopbrick {

void add_output_options(Command& command, OutputOptions& options) {
  command.add({"--format", "table, json, csv or md", "FORMAT"}, options.format,
              {"table", "json", "csv", "md"});
}

void print(const Table& table, const OutputOptions& options) {
  std::cout << format_table(table, *parse_table_format(options.format)) << std::flush;
}

std::string number(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

}  // namespace loopbrick
