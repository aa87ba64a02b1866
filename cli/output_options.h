#pragma once
#include <string>

#include "results/store.h"

namespace loopbrick {

class Command;

/// How a command prints its rows on standard output.
struct OutputOptions {
  std::string format = "table";
};

void add_output_options(Command& command, OutputOptions& options);

void print(const Table& table, const OutputOptions& options);

/// A number as a cell: `digits` significant ones, never rounded to look exact.
std::string number(double value, int digits = 4);

}  // namespace loopbrick
