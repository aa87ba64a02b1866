#pragma once
#include <string>
#include <vector>

#include "loops/wisdom.h"
#include "loops/wisdom_fit.h"
#include "results/store.h"
#include "tuner/record.h"

namespace loopbrick {

/// The best confirmed schedule of every problem under every conditions; with `machine` empty, of
/// every machine.
Wisdom confirmed_wisdom(const Store& store, const std::string& machine);

/// Keeps the entries that `machine` can use. Returns what was thought of each, in their order; what
/// is stale was not kept.
std::vector<Judgement> keep_wisdom(const Wisdom& wisdom, const std::string& machine, Store& store);

/// The imported schedules that can run here, the best fit first.
std::vector<std::string> imported_schedules(const TrialContext& context, const Store& store);

/// The one of them that stands in where nothing was measured; nothing if none was found for as many
/// threads.
std::optional<WisdomEntry> imported_choice(const TrialContext& context, const Store& store);

}  // namespace loopbrick
