#pragma once
#include "loops/strided_copy.h"
#include "loops/weights.h"
#include "problems/problem.h"

namespace loopbrick {

/// Where the elements of an activation [image][channel][row][column] lie in its problem's layout:
/// [image][channel block][row][column][channel].
struct ImageAccess {
  AxisAccess image, channel, row, column;
};
ImageAccess image_access(Layout layout, std::int64_t channels, std::int64_t rows,
                         std::int64_t columns);

/// Likewise an activation of a fully connected layer: [channel block][entry][channel].
struct EntryAccess {
  AxisAccess entry, channel;
};
EntryAccess entry_access(Layout layout, std::int64_t entries, std::int64_t channels);

/// Weights and their gradients as passes backward get and give them, whatever the schedule: blocks
/// of the channels as in the activations. k is the innermost axis, as the forward pass wants it.
WeightLayout forward_weights(const Problem& problem);

/// operands(problem)[operand] as the loops see it, with the axes of its plain twin.
///
/// Needs  it is not laid out by the plan (weights of a forward pass).
StridedArray operand_array(const Problem& problem, int operand);

}  // namespace loopbrick
