#pragma once
#include <span>
#include <string_view>

namespace loopbrick {

/// One CSV file of experiments/suites, put into the library when it was built.
struct EmbeddedSuite {
  std::string_view name;
  std::string_view csv;
};

std::span<const EmbeddedSuite> embedded_suites();

}  // namespace loopbrick
