#include "baselines/large_lstm.h"

#include <algorithm>
#include <memory>

#include "baselines/buffer.h"
#include "baselines/lstm_gates.h"

namespace loopbrick {
namespace {

struct LargeLstm {
  LargeLstm(const Lstm& shape, const Conditions& conditions, Multiply library)
      : lstm(shape),
        threads(conditions.threads),
        multiply(library),
        x(shape.t * shape.n * shape.c, conditions.pages),
        h0(shape.n * shape.k, conditions.pages),
        c0(shape.n * shape.k, conditions.pages),
        w(4 * shape.k * shape.c, conditions.pages),
        r(4 * shape.k * shape.k, conditions.pages),
        b(4 * shape.k, conditions.pages),
        gates(shape.t * shape.n * 4 * shape.k, conditions.pages),
        h(shape.t * shape.n * shape.k, conditions.pages),
        c(shape.t * shape.n * shape.k, conditions.pages) {}

  /// x, h0, c0, w, r, b, as operands() lists them.
  void load(const Arrays& arrays) const {
    const Buffer* const inputs[] = {&x, &h0, &c0, &w, &r, &b};
    for (std::size_t i = 0; i < std::size(inputs); ++i)
      std::ranges::copy(arrays[i], inputs[i]->data());
  }

  void run() const {
    multiply({.m = lstm.t * lstm.n,
              .n = 4 * lstm.k,
              .k = lstm.c,
              .a = x.data(),
              .lda = lstm.c,
              .b = w.data(),
              .ldb = lstm.c,
              .b_transposed = true,
              .c = gates.data(),
              .ldc = 4 * lstm.k},
             threads);
    const std::int64_t states = lstm.n * lstm.k;
    for (std::int64_t t = 0; t < lstm.t; ++t) {
      const float* const last_h = t == 0 ? h0.data() : h.data() + (t - 1) * states;
      const float* const last_c = t == 0 ? c0.data() : c.data() + (t - 1) * states;
      run_step(last_h, last_c, gates.data() + t * 4 * states, h.data() + t * states,
               c.data() + t * states);
    }
  }

  void run_step(const float* last_h, const float* last_c, float* step_gates, float* step_h,
                float* step_c) const {
    multiply({.m = lstm.n,
              .n = 4 * lstm.k,
              .k = lstm.k,
              .a = last_h,
              .lda = lstm.k,
              .b = r.data(),
              .ldb = lstm.k,
              .b_transposed = true,
              .c = step_gates,
              .ldc = 4 * lstm.k,
              .accumulate = true},
             threads);
    apply_lstm_gates(lstm.n, lstm.k, step_gates, b.data(), last_c, step_c, step_h, threads);
  }

  void unload(const Arrays& arrays) const {
    std::copy_n(h.data(), arrays[6].size(), arrays[6].data());
    std::copy_n(c.data(), arrays[7].size(), arrays[7].data());
  }

  Lstm lstm;
  int threads;
  Multiply multiply;
  Buffer x, h0, c0, w, r, b, gates, h, c;
};

}  // namespace

Runnable large_lstm(const Problem& problem, const Conditions& conditions, Multiply multiply) {
  const auto state =
      std::make_shared<const LargeLstm>(std::get<Lstm>(problem.shape), conditions, multiply);
  Runnable runnable;
  runnable.included = "an element-wise pass over the gates of each step";
  runnable.workspace_bytes = state->gates.size_bytes();
  runnable.load = [state](const Arrays& arrays) { state->load(arrays); };
  runnable.run = [state] { state->run(); };
  runnable.unload = [state](const Arrays& arrays) { state->unload(arrays); };
  return runnable;
}

}  // namespace loopbrick
