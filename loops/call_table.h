#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/kernel_cache.h"
#include "loops/contraction.h"
#include "loops/rim_table.h"
#include "loops/schedule.h"
#include "problems/conditions.h"

namespace loopbrick {

/// What happens to a tile of C besides the sum.
struct PostOps {
  bool bias = false;
  Activation activation = Activation::none;
  bool adds = false;  ///< calls may add to what C holds already (CallSite::first is theirs to say)

  bool any() const { return bias || activation != Activation::none; }
};

/// The summed axes that a batch walks beside the depth and the filter's taps: b of a GEMM, images
/// and lines of a pass by weights.
Few<Axis, 2> outer_axes(const Contraction& contraction);

/// Where one call starts and how far it reaches.
struct CallSite {
  std::int64_t columns = 0;
  std::int64_t lines = 0;
  std::int64_t rows = 0;                    ///< in each line
  std::int64_t depth = 0;                   ///< elements of the depth axis that the batch walks
  std::array<std::int64_t, 2> outer{1, 1};  ///< of outer_axes
  std::int64_t first_line = 0, first_row = 0, first_tap_down = 0, first_tap_across = 0;
  bool first = false;  ///< overwrites C
  bool last = false;   ///< finishes C
};

/// The batch of one kernel call: entries in group order, and how many each group has.
struct CallBatch {
  std::vector<BatchOffset> entries;
  std::vector<std::int64_t> counts;
};

/// The kernels and batch lists for every kind of call that a step meets: sizes of the last tiles,
/// the ways the rim cuts a tile, full and partial depth. Made once; looked up by where a call
/// starts.
class CallTable {
 public:
  /// `a` and `b` are the operands as the calls see them (packed, laid out by the plan).
  CallTable(const Contraction& contraction, const Step& step, const Access& a, const Access& b,
            const PostOps& post, const Conditions& conditions, KernelCache& kernels);

  struct Operands {
    const float* a;
    const float* b;
    float* c;
    const float* bias;
  };
  /// Runs the one call at `site`, as several kernel calls where depth or windows need them.
  /// `scratch` holds longest_batch() addresses.
  void call(const CallSite& site, const Operands& operands, BatchAddress* scratch) const noexcept;

  std::int64_t longest_batch() const { return longest_batch_; }
  const std::vector<std::shared_ptr<const BrgemmKernel>>& all() const {
    return kernels_;
  }  ///< holes are null

 private:
  /// One kernel call of a site: what of the batch it takes, and where its kernels and batches stand
  /// in the tables.
  struct Piece {
    std::int64_t rows = 0;
    std::vector<TapGroup> groups;
    Range depths;
    std::int64_t entry = 0;  ///< depth of one entry
    std::size_t kernels = 0;
    std::size_t batches = 0;
  };

  void find_sizes(const Contraction& contraction, const Step& step);
  std::vector<Piece> pieces(const Contraction& contraction, const Step& step,
                            const RowPattern& pattern, std::int64_t depth) const;
  void make_batches(const Contraction& contraction, const Step& step, const Access& a,
                    const Access& b);
  bool is_met(std::size_t piece, std::size_t pieces, bool first, bool last, bool looped) const;
  void make_kernels(const Contraction& contraction, const Step& step, const Access& a,
                    const Access& b, const PostOps& post, const Conditions& conditions,
                    KernelCache& kernels);
  void set_batch_strides(const Piece& piece, BrgemmSpec& spec) const;
  void call_kernel(const BrgemmKernel& kernel, const CallBatch& batch, const Operands& operands,
                   BatchAddress* scratch) const noexcept;

  std::unique_ptr<RimTable> rim_;
  std::vector<std::int64_t> columns_, lines_, depths_;
  std::array<std::vector<std::int64_t>, 2> outers_;  ///< of each outer axis
  std::vector<std::vector<Piece>> pieces_;           ///< [pattern][depth]
  std::vector<CallBatch> batches_;  ///< [piece][tap rows][first outer][second outer]
  std::vector<std::shared_ptr<const BrgemmKernel>>
      kernels_;  ///< [piece][lines][columns][first][last]
  std::int64_t longest_batch_ = 0;
  bool has_post_ = false;
  bool by_address_ = false;
  bool by_stride_ = false;
};

}  // namespace loopbrick
