#include "cli/arm_list.h"

#include <fmt/format.h>
#include <iostream>
#include <string_view>

#include "baselines/baselines.h"
#include "cli/command_line.h"
#include "kernels/text.h"
#include "loops/plan.h"
#include "loops/schedule.h"
#include "trials/implementations.h"
#include "trials/slowed.h"

namespace loopbrick {
namespace {

constexpr std::string_view kSlowed = "slowed";  // the control, see trials/slowed.h

std::string implementation_names() {
  std::string names;
  for (const Implementation& row : implementations()) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

[[noreturn]] void refuse(std::string_view name) {
  for (const MissingBaseline& missing : missing_baselines()) {
    if (missing.name == name) {
      throw ParseError(fmt::format("--impl {} is switched off in this build: {} was not installed",
                                   name, missing.package));
    }
  }
  const std::string names = implementation_names();
  const std::string_view problem = baselines_problem();
  if (problem.empty()) {
    throw ParseError(
        fmt::format("--impl '{}' is not an implementation; there are {}", name, names));
  }
  throw ParseError(fmt::format("--impl '{}' is not among the implementations here, {}; {}", name,
                               names, problem));
}

/// Those whose choice holds a schedule, in which commas and colons mean something else.
bool has_schedule(std::string_view name) { return name == kLoopbrick.name || name == kSlowed; }

Arm parse_arm(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view choice =
      colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (name == kLoopbrick.name) {
    return {.implementation = std::string(name), .choice = to_string(parse_schedule(choice))};
  }
  if (name == kSlowed) parse_slowed_choice(choice);
  if (find_implementation(name) == nullptr) refuse(name);
  return {.implementation = std::string(name), .choice = std::string(choice)};
}

void add_arms(std::string_view text, std::vector<Arm>& arms) {
  while (true) {
    const bool is_whole = has_schedule(text.substr(0, text.find(':')));
    const std::size_t comma = is_whole ? std::string_view::npos : text.find(',');
    arms.push_back(parse_arm(text.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

std::vector<Arm> parse_arms(const std::vector<std::string>& texts) {
  std::vector<Arm> arms;
  for (const std::string& text : texts) add_arms(text, arms);
  return arms;
}

Arm parse_arm_or_schedule(const std::string& text) {
  if (find_implementation(text.substr(0, text.find(':'))) != nullptr) return parse_arm(text);
  try {
    return {.implementation = std::string(kLoopbrick.name),
            .choice = to_string(parse_schedule(text))};
  } catch (const ParseError& error) {
    throw ParseError(fmt::format("'{}' is none of the implementations {}, and no schedule: {}",
                                 text, implementation_names(), error.what()));
  }
}

void warn_without_baselines() {
  if (baselines_problem().empty()) return;
  std::cerr << "warning: there is nobody to compare with: " << baselines_problem() << '\n';
}

std::vector<Arm> all_baselines() {
  std::vector<Arm> arms;
  for (const Implementation& row : baselines()) {
    arms.push_back({.implementation = std::string(row.name), .choice = ""});
  }
  return arms;
}

void add_impl_option(Command& command, std::vector<std::string>& impls) {
  command.add(
      {"--impl", "Implementations, e.g. onednn,eigen or 'loopbrick:SCHEDULE'", "NAME[:CHOICE],..."},
      impls);
}

}  // namespace loopbrick
