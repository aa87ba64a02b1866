#pragma once
#include "loops/schedule.h"

namespace loopbrick {

/// A pass by data is a convolution of dy: a schedule in the letters of the forward pass becomes one
/// in its own (k and c change places, p q become h w, x becomes dy), and the other way round.
///
/// `has_phases`  a loop over the phases f stands as far right as it may: left of the pixels, of the
/// taps and of the loops that threads share from there on.
Schedule by_data_letters(Schedule schedule, bool has_phases);
Schedule forward_letters(Schedule schedule);

}  // namespace loopbrick
