#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "loops/guarded_buffer.h"
#include "problems/conditions.h"

namespace loopbrick {

/// One operand laid out as a plan wants it.
///
/// An input that was loaded can't be written until it is loaded again: a plan that writes over its
/// inputs crashes instead of spoiling the plans that run after it.
class LaidOutOperand {
 public:
  LaidOutOperand(std::int64_t bytes, Pages pages) : buffer_(bytes, pages) {}

  /// Copies an input, unless the buffer holds these very values already.
  void load(std::span<const float> plain,
            const std::function<void(std::span<const float>, std::span<float>)>& lay_out);

  std::span<float> floats() const { return buffer_.floats(); }
  void* data() const { return buffer_.data(); }

 private:
  GuardedBuffer buffer_;
  std::size_t loaded_ = 0;  ///< hash of the plain values; 0: none
};

/// Keeps operands for the plans of a search. Plans that want the same operand of the same problem
/// in the same layout get the same buffer, so they must run one after the other: thousands of
/// candidates take turns, and laying out their operands would cost more than most of them run.
///
/// Errors   take throws std::bad_alloc.
/// Threads  take may be called at once.
class OperandStore {
 public:
  struct Key {
    std::string problem;
    int operand = 0;
    std::string layout;  ///< Plan::layout
    Pages pages{};

    friend bool operator==(const Key&, const Key&) = default;
  };
  std::shared_ptr<LaidOutOperand> take(const Key& key, std::int64_t bytes);

 private:
  struct Kept {
    Key key;
    std::shared_ptr<LaidOutOperand> operand;
  };
  void forget_unused(const std::string& problem);

  std::mutex mutex_;
  std::vector<Kept> kept_;  ///< least recently taken first
};

}  // namespace loopbrick
