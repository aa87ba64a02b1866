#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// The C++ interface of the installed library: nothing but the standard library, C++17.

namespace loopbrick {

/// What may be chosen about a layer besides the problem. What is empty or 0 is chosen for you.
struct PrimitiveOptions {
  int threads = 0;       ///< OpenMP threads of a run; 0: as many as may run here
  std::string wisdom;    ///< file that `loopbrick export wisdom` wrote; empty: none
  std::string schedule;  ///< text of one; instead of the wisdom's or the model's
  std::string isa;       ///< avx512, avx2 or ref; empty: the best that the CPU has
  /// For backward passes by data with a schedule or wisdom found with --once: the weights are
  /// transposed by prepare, and run does not see later changes of them.
  bool transposes_once = false;
};

/// One array of a layer.
struct PrimitiveOperand {
  std::string name;                   ///< x, w, b, y, dy, ...
  std::vector<std::int64_t> extents;  ///< of the plain array, row-major: NCHW, OIHW, [n][c], ...
  std::int64_t elements = 0;          ///< of the plain array
  std::int64_t bytes = 0;             ///< as run wants it: a multiple of 64
};

/// A layer made ready to run: kernels generated, loops fixed, nothing measured.
///
/// The schedule is the one that was given; else the best fitting entry of the wisdom that was found
/// with as many threads; else what the cost model ranks first. For the last the machine is probed,
/// once in a process and in less than 2 s.
///
/// Layouts  docs/library.md. Activations lie in the layout of the problem, whatever the schedule;
///          weights lie as the schedule wants and are copied there by lay_out.
/// Errors   members throw std::runtime_error with one line that names the bad piece;
///          std::bad_alloc.
/// Threads  run and compute use a workspace of the object: one call at a time. Different objects
///          may run at once. Floating-point modes are the caller's; stored times were measured with
///          denormals flushed to zero and with one thread pinned to each core.
class Primitive {
 public:
  /// `problem` as the command line takes it: "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1+bias+relu".
  explicit Primitive(const std::string& problem, const PrimitiveOptions& options = {});
  ~Primitive();
  Primitive(Primitive&&) noexcept;
  Primitive& operator=(Primitive&&) noexcept;

  const std::string& problem() const;     ///< in its canonical form
  const std::string& conditions() const;  ///< "t2 avx512 warm"
  const std::string& schedule() const;
  const std::string& origin()
      const;                      ///< of the schedule: "given", "wisdom", "wisdom of ...", "model"
  double flops() const;           ///< of one run, as the field counts them
  double stored_seconds() const;  ///< that the wisdom has for one run; 0: none

  const std::vector<PrimitiveOperand>& inputs() const;
  const std::vector<PrimitiveOperand>& outputs() const;

  /// Copies a plain array into one of inputs()[input].bytes, 64-byte aligned.
  void lay_out(std::size_t input, const float* plain, float* own) const;

  /// Copies an output to a plain array.
  void take_back(std::size_t output, const float* own, float* plain) const;

  /// Once the inputs are laid out, before the first run and whenever they changed: for a backward
  /// pass of an LSTM runs the forward pass that it needs; with transposes_once transposes weights.
  /// Else does nothing.
  void prepare(const std::vector<const float*>& inputs);

  /// One run on laid-out arrays, 64-byte aligned; every output is overwritten.
  void run(const std::vector<const float*>& inputs, const std::vector<float*>& outputs);

  /// The same on plain arrays of any alignment, with all copies: for those who don't count time.
  void compute(const std::vector<const float*>& inputs, const std::vector<float*>& outputs);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// "0.1.0".
std::string library_version();

}  // namespace loopbrick
