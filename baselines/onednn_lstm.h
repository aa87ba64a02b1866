#pragma once
#include "baselines/onednn_execution.h"
#include "problems/implementation.h"

namespace loopbrick {

/// The three passes of an LSTM layer, activations as the problem gives them, weights in the layouts
/// that oneDNN picks. Runnable::flag is left empty.
///
/// oneDNN returns the last cell state only. The others are made when the results are fetched, by a
/// primitive of one step from the states that were computed: nothing of that is timed. Backward,
/// the forward pass that fills oneDNN's workspace runs while the operands are loaded.
///
/// Errors  throws dnnl::error where oneDNN has no such primitive, std::bad_alloc.
Runnable onednn_lstm(const dnnl::engine& engine, const Problem& problem,
                     const Conditions& conditions);

}  // namespace loopbrick
