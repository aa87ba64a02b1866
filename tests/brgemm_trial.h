#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/brgemm_kernel.h"
#include "tests/guarded_floats.h"

namespace loopbrick {

/// Values of A, B, C and the bias. Sums of small integers are exact, so they are compared exactly.
enum class Fill { integers, uniform, ones, tenths };

/// Operands for one call of a kernel, for tests: exactly as large as needed between unreadable
/// pages, inputs and lists read-only, NaN wherever the kernel has no business (and in C where it
/// only writes).
class BrgemmTrial {
 public:
  struct Options {
    std::vector<std::int64_t> counts{1};  ///< of each window group
    Fill fill = Fill::integers;
    GuardedFloats::Flush flush = GuardedFloats::Flush::back;
    unsigned seed = 1;
  };

  BrgemmTrial(const BrgemmSpec& spec, const Options& options);

  /// Runs the kernel, then the reference on operands of the same values.
  ///
  /// Returns  nothing if C agrees with the reference and its gaps are untouched, else what differs.
  std::string run(const BrgemmKernel& kernel);

  /// C of the last run, rows of n values without gaps.
  std::vector<float> result() const;

 private:
  void place_entries();
  void fill_inputs();
  void fill_list();
  void fill_c();
  float value();
  std::string difference(const std::vector<float>& wanted) const;
  double tolerance() const;
  std::int64_t entries() const;
  BrgemmCall call();

  BrgemmSpec spec_;
  Options options_;
  unsigned state_;
  std::vector<BatchOffset>
      places_;  ///< where the entries lie, in elements from the start of A and B
  GuardedFloats a_, b_, c_, bias_, list_, counts_;
  std::int64_t a_origin_ = 0;  ///< of the first row's first element: strides of A may be negative
  std::int64_t c_origin_ = 0;
};

/// The instruction sets that this CPU runs, `ref` included.
std::vector<Isa> runnable_isas();

}  // namespace loopbrick
