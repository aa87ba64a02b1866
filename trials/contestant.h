#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trials/examiner.h"

namespace loopbrick {

/// Ends an attempt: caught where the attempt began and turned into its outcome.
struct Failed {
  std::string outcome;
  std::string reason;
};

/// An arm with its buffers: what an attempt is made on.
///
/// Errors  every member throws Failed when the arm misbehaves.
class Contestant {
 public:
  Contestant(const Arm& arm, int index, const Find& find, const Announce& announce);

  /// Makes the arm ready, with `copies` sets of buffers.
  void prepare(const Problem& problem, const Conditions& conditions, int copies);

  void load(const Arrays& arrays);     ///< into every copy
  void call();                         ///< one run, on the next copy in turn
  void unload(const Arrays& arrays);   ///< from the copy that was run last
  void release() { copies_.clear(); }  ///< gives the buffers back; prepare again to go on
  void announce(std::string_view stage);

  /// Those that the arm's calls run. Needs a prepared arm.
  const std::vector<std::shared_ptr<const BrgemmKernel>>& kernels() const {
    return copies_.front().kernels;
  }

  bool is_ok() const { return attempt.outcome == "ok"; }
  bool is_ready() const { return !copies_.empty(); }
  int copies() const { return static_cast<int>(copies_.size()); }

  Attempt attempt;  ///< what is known of the arm so far
  int calls = 1;    ///< in one sample of rounds

 private:
  Arm arm_;
  int index_;
  const Find& find_;
  const Announce& announce_;
  std::vector<Runnable> copies_;
  std::size_t next_ = 0;
  std::size_t last_ = 0;
};

}  // namespace loopbrick
