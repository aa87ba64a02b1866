#pragma once
#include <string>

#include "results/store.h"
#include "results/table_format.h"

namespace CLI {
class App;
}

namespace loopbrick {

/// How a command prints its rows on standard output.
struct OutputOptions {
  TableFormat format = TableFormat::table;
};

void add_output_options(CLI::App& command, OutputOptions& options);

void print(const Table& table, const OutputOptions& options);

/// A number as a cell: `digits` significant ones, never rounded to look exact.
std::string number(double value, int digits = 4);

}  // namespace loopbrick
