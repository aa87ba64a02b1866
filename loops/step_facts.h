#pragma once
#include <cstdint>
#include <vector>

#include "loops/contraction.h"
#include "loops/ranges.h"
#include "loops/schedule.h"

namespace loopbrick {

/// Questions that both why_not and the nest ask about a step over a contraction.

/// The steps of the loops over `axis`, outermost first (those over a flattened pair do not count as
/// loops over either).
Steps steps_over(const Step& step, Axis axis);
Steps steps_over_flattened(const Step& step);

bool flattens(const Step& step);

/// Elements of `axis` that one call covers at most: the last step, or the whole extent if nobody
/// walks it.
std::int64_t last_step(const Contraction& contraction, const Step& step, Axis axis);

/// Place of the first pack among the elements, or -1.
int pack_at(const Step& step);

/// Place of the first loop over the axis, or -1.
int place_of_loop(const Step& step, Axis axis);

/// The steps of the loops over `axis` that stand left of element `at`, and right of it.
Steps steps_before(const Step& step, Axis axis, int at);
Steps steps_behind(const Step& step, Axis axis, int at);

/// The largest range of the axis that the loops left of the pack leave.
std::int64_t range_before_pack(const Contraction& contraction, const Step& step, Axis axis);

/// The step with the call: all of a schedule, or what follows "once: pack(w') ;".
const Step& main_step(const Schedule& schedule);

/// The weights are transposed before the timed run: "once: pack(w') ; ...".
bool transposes_once(const Schedule& schedule);

/// The same with the weights transposed before the timed run; `schedule` is one step.
Schedule with_weights_once(const Schedule& schedule);

/// What the step's pack, if there is one, copies.
bool packs_weights(const Step& step);
bool packs_input(const Step& step);

/// Columns of a call, depth of a batch entry: never more than the extent.
std::int64_t tile_columns(const Contraction& contraction, const Step& step);
std::int64_t entry_depth(const Contraction& contraction, const Step& step);

/// True if padding is left out by row windows: there is a rim, and no padded copy hides it.
bool has_windows(const Contraction& contraction, const Step& step);

}  // namespace loopbrick
