#include "loops/operand_store.h"

#include <algorithm>
#include <string_view>

namespace loopbrick {

namespace {

/// Operands that no plan holds: all 14 of an LSTM's backward pass, and other layouts of the
/// weights.
constexpr int kMostUnused = 16;

std::size_t hash_of(std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::max<std::size_t>(1, std::hash<std::string_view>{}(text));
}

}  // namespace

void LaidOutOperand::load(
    std::span<const float> plain,
    const std::function<void(std::span<const float>, std::span<float>)>& lay_out) {
  const std::size_t hash = hash_of(plain);
  if (hash == loaded_) return;
  loaded_ = 0;
  buffer_.allow_writes(true);
  lay_out(plain, buffer_.floats());
  buffer_.allow_writes(false);
  loaded_ = hash;
}

std::shared_ptr<LaidOutOperand> OperandStore::take(const Key& key, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(kept_.begin(), kept_.end(),
                                  [&key](const Kept& kept) { return kept.key == key; });
  if (known != kept_.end()) {
    std::rotate(known, known + 1, kept_.end());
    return kept_.back().operand;
  }
  forget_unused(key.problem);
  kept_.push_back({key, std::make_shared<LaidOutOperand>(bytes, key.pages)});
  return kept_.back().operand;
}

/// Those of other problems, and all but the last few of this one.
void OperandStore::forget_unused(const std::string& problem) {
  int unused = 0;
  for (std::size_t i = kept_.size(); i-- > 0;) {
    const Kept& kept = kept_[i];
    if (kept.operand.use_count() > 1) continue;
    const bool stays = kept.key.problem == problem && ++unused <= kMostUnused;
    if (!stays) kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace loopbrick
