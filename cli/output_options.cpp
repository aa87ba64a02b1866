#include "cli/output_options.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <iostream>
#include <string>

#include "kernels/text.h"

namespace loopbrick {

void add_output_options(CLI::App& command, OutputOptions& options) {
  command
      .add_option_function<std::string>(
          "--format",
          [&options](const std::string& text) {
            const auto format = parse_table_format(text);
            if (!format) {
              throw ParseError(fmt::format("--format '{}' is not table, json, csv or md", text));
            }
            options.format = *format;
          },
          "table, json, csv or md")
      ->type_name("FORMAT");
}

void print(const Table& table, const OutputOptions& options) {
  std::cout << format_table(table, options.format) << std::flush;
}

std::string number(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

}  // namespace loopbrick
