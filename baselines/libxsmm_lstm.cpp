#include "baselines/libxsmm_lstm.h"

#include <algorithm>
#include <libxsmm.h>
#include <list>
#include <memory>
#include <omp.h>
#include <optional>
#include <span>

#include "baselines/buffer.h"
#include "baselines/libxsmm_status.h"
#include "baselines/thread_count.h"
#include "kernels/text.h"

namespace loopbrick {
namespace {

constexpr std::int64_t kMostInt = 0x7fffffff;

libxsmm_blasint block(std::int64_t extent) {
  std::int64_t size = std::min<std::int64_t>(extent, 64);
  while (extent % size != 0) --size;
  return static_cast<libxsmm_blasint>(size);
}

libxsmm_dnn_rnncell_desc description(const Lstm& lstm, int threads) {
  libxsmm_dnn_rnncell_desc desc{};
  desc.threads = threads;
  desc.K = static_cast<libxsmm_blasint>(lstm.k);
  desc.N = static_cast<libxsmm_blasint>(lstm.n);
  desc.C = static_cast<libxsmm_blasint>(lstm.c);
  desc.max_T = static_cast<libxsmm_blasint>(lstm.t);
  desc.bk = block(lstm.k);
  desc.bn = block(lstm.n);
  desc.bc = block(lstm.c);
  desc.cell_type = LIBXSMM_DNN_RNNCELL_LSTM;
  desc.datatype_in = LIBXSMM_DNN_DATATYPE_F32;
  desc.datatype_out = LIBXSMM_DNN_DATATYPE_F32;
  desc.buffer_format = LIBXSMM_DNN_TENSOR_FORMAT_NC;
  desc.filter_format = LIBXSMM_DNN_TENSOR_FORMAT_CKPACKED;
  return desc;
}

struct DestroyCell {
  void operator()(libxsmm_dnn_rnncell* cell) const { libxsmm_dnn_destroy_rnncell(cell); }
};
using Cell = std::unique_ptr<libxsmm_dnn_rnncell, DestroyCell>;

Cell make_cell(const Lstm& lstm, int threads) {
  libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
  Cell cell(libxsmm_dnn_create_rnncell(description(lstm, threads), &status));
  if (cell == nullptr) throw LibxsmmRefused{status};
  check_libxsmm(status);
  check_libxsmm(libxsmm_dnn_rnncell_allocate_forget_bias(cell.get(), 0.0F));  // it is part of b
  return cell;
}

/// A tensor of a cell with memory of its own.
class Tensor {
 public:
  Tensor(libxsmm_dnn_rnncell* cell, libxsmm_dnn_tensor_type type, Pages pages) {
    libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
    libxsmm_dnn_tensor_datalayout* const layout =
        libxsmm_dnn_rnncell_create_tensor_datalayout(cell, type, &status);
    check_libxsmm(status);
    memory_ = Buffer(libxsmm_dnn_get_tensor_elements(layout, &status), pages);
    tensor_.reset(libxsmm_dnn_link_tensor(layout, memory_.data(), &status));
    libxsmm_dnn_destroy_tensor_datalayout(layout);
    check_libxsmm(status);
    check_libxsmm(libxsmm_dnn_rnncell_bind_tensor(cell, tensor_.get(), type));
  }

  float* data() const { return memory_.data(); }

 private:
  struct Destroy {
    void operator()(libxsmm_dnn_tensor* tensor) const { libxsmm_dnn_destroy_tensor(tensor); }
  };
  Buffer memory_;
  std::unique_ptr<libxsmm_dnn_tensor, Destroy> tensor_;
};

/// [4][k][c] to [4][k / bk][c / bc][bc][bk].
void block_weights(std::span<const float> plain, std::int64_t k, std::int64_t c, float* to) {
  const std::int64_t bk = block(k), bc = block(c);
  for (std::int64_t row = 0; row < 4 * k; ++row) {
    const std::int64_t k_block = row / bk;  // of all gates: bk divides k
    for (std::int64_t i = 0; i < c; ++i) {
      const std::int64_t tile = k_block * (c / bc) + i / bc;
      to[(tile * bc + i % bc) * bk + row % bk] = plain[static_cast<std::size_t>(row * c + i)];
    }
  }
}

class LibxsmmLstm {
 public:
  LibxsmmLstm(const Problem& problem, const Conditions& conditions)
      : lstm_(std::get<Lstm>(problem.shape)),
        threads_(conditions.threads),
        cell_(make_cell(lstm_, conditions.threads)),
        x_(cell_.get(), LIBXSMM_DNN_RNN_REGULAR_INPUT, conditions.pages),
        h0_(cell_.get(), LIBXSMM_DNN_RNN_REGULAR_HIDDEN_STATE_PREV, conditions.pages),
        c0_(cell_.get(), LIBXSMM_DNN_RNN_REGULAR_CS_PREV, conditions.pages),
        w_(cell_.get(), LIBXSMM_DNN_RNN_REGULAR_WEIGHT, conditions.pages),
        r_(cell_.get(), LIBXSMM_DNN_RNN_REGULAR_RECUR_WEIGHT, conditions.pages),
        b_(cell_.get(), LIBXSMM_DNN_RNN_REGULAR_BIAS, conditions.pages),
        h_(cell_.get(), LIBXSMM_DNN_RNN_REGULAR_HIDDEN_STATE, conditions.pages),
        c_(cell_.get(), LIBXSMM_DNN_RNN_REGULAR_CS, conditions.pages) {
    for (const auto type :
         {LIBXSMM_DNN_RNN_INTERNAL_I, LIBXSMM_DNN_RNN_INTERNAL_F, LIBXSMM_DNN_RNN_INTERNAL_O,
          LIBXSMM_DNN_RNN_INTERNAL_CI, LIBXSMM_DNN_RNN_INTERNAL_CO}) {
      gates_.emplace_back(cell_.get(), type, conditions.pages);
    }
    libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
    const auto kind = LIBXSMM_DNN_COMPUTE_KIND_FWD;
    scratch_ =
        buffer(libxsmm_dnn_rnncell_get_scratch_size(cell_.get(), kind, &status), conditions.pages);
    state_ = buffer(libxsmm_dnn_rnncell_get_internalstate_size(cell_.get(), kind, &status),
                    conditions.pages);
    check_libxsmm(status);
    check_libxsmm(libxsmm_dnn_rnncell_bind_scratch(cell_.get(), kind, scratch_.data()));
    check_libxsmm(libxsmm_dnn_rnncell_bind_internalstate(cell_.get(), kind, state_.data()));
  }

  /// x, h0, c0, w, r, b, as operands() lists them.
  void load(const Arrays& arrays) const {
    std::ranges::copy(arrays[0], x_.data());
    std::ranges::copy(arrays[1], h0_.data());
    std::ranges::copy(arrays[2], c0_.data());
    block_weights(arrays[3], lstm_.k, lstm_.c, w_.data());
    block_weights(arrays[4], lstm_.k, lstm_.k, r_.data());
    std::ranges::copy(arrays[5], b_.data());
  }

  void run() const {
    const ThreadCount scope(threads_);
#pragma omp parallel num_threads(threads_)
    libxsmm_dnn_rnncell_execute_st(cell_.get(), LIBXSMM_DNN_COMPUTE_KIND_FWD, 0,
                                   omp_get_thread_num());
  }

  void unload(const Arrays& arrays) const {
    std::copy_n(h_.data(), arrays[6].size(), arrays[6].data());
    std::copy_n(c_.data(), arrays[7].size(), arrays[7].data());
  }

  std::int64_t workspace_bytes() const { return scratch_.size_bytes() + state_.size_bytes(); }

 private:
  static Buffer buffer(std::size_t bytes, Pages pages) {
    return {static_cast<std::int64_t>(bytes / sizeof(float) + 1), pages};
  }

  Lstm lstm_;
  int threads_;
  Cell cell_;
  Tensor x_, h0_, c0_, w_, r_, b_, h_, c_;
  std::list<Tensor> gates_;
  Buffer scratch_, state_;
};

std::optional<Refusal> why_not(const Problem& problem) {
  const Lstm& l = std::get<Lstm>(problem.shape);
  if (problem.pass == Pass::bwd) return Refusal{"this row runs libxsmm's lstm forward only"};
  const std::int64_t most =
      std::max(saturating_product(saturating_product(l.t, l.n), std::max(l.c, l.k)),
               saturating_product(4, saturating_product(l.k, std::max(l.c, l.k))));
  if (most <= kMostInt) return std::nullopt;
  return Refusal{"libxsmm counts in an int: {got} elements are beyond {limit}", most, kMostInt};
}

}  // namespace

std::variant<Runnable, Refusal> libxsmm_lstm(const Problem& problem, const Conditions& conditions) {
  if (const auto reason = why_not(problem)) return *reason;
  try {
    const auto state = std::make_shared<const LibxsmmLstm>(problem, conditions);
    Runnable runnable;
    runnable.workspace_bytes = state->workspace_bytes();
    runnable.load = [state](const Arrays& arrays) { state->load(arrays); };
    runnable.run = [state] { state->run(); };
    runnable.unload = [state](const Arrays& arrays) { state->unload(arrays); };
    return runnable;
  } catch (const LibxsmmRefused& refused) {
    return Refusal{"libxsmm refuses this lstm with status {got}", refused.status};
  }
}

}  // namespace loopbrick
