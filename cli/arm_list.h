#pragma once
#include <string>
#include <vector>

#include "trials/bench.h"

namespace loopbrick {

class Command;

/// Typed implementations: "onednn,eigen", with a choice "onednn:nhwc", or one of our schedules
/// "loopbrick:N k64 p q14 @ c64 * c r s", which is never split at its commas.
///
/// Errors  throws ParseError that lists the implementations there are.
std::vector<Arm> parse_arms(const std::vector<std::string>& texts);

/// One of the implementations, with a choice or without, or one of our schedules.
///
/// Errors  throws ParseError that says why it is neither.
Arm parse_arm_or_schedule(const std::string& text);

/// Says on stderr why this program finds no baseline at all, if so.
void warn_without_baselines();

/// Every baseline of this build, with its default choice.
std::vector<Arm> all_baselines();

/// --impl, which may be given more than once.
void add_impl_option(Command& command, std::vector<std::string>& impls);

}  // namespace loopbrick
