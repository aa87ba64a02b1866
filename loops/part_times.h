#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

namespace loopbrick {

/// The parts of an LSTM's run. Transposition: of w and r, backward only; element-wise includes db.
enum class LstmPart { inputs, states, elementwise, transposition, dh, dx, dw, dr };
inline constexpr std::size_t kLstmParts = 8;

/// Seconds of each thread in each part, summed over the runs that were given these times.
///
/// Threads  each number adds to its own.
class PartTimes {
 public:
  explicit PartTimes(int threads) : rows_(static_cast<std::size_t>(threads)) {}

  void add(int number, LstmPart part, double seconds) noexcept {
    rows_[static_cast<std::size_t>(number)].seconds[static_cast<std::size_t>(part)] += seconds;
  }

  /// Of all threads together.
  double seconds(LstmPart part) const {
    double sum = 0.0;
    for (const Row& row : rows_) sum += row.seconds[static_cast<std::size_t>(part)];
    return sum;
  }

 private:
  struct alignas(64) Row {  // a cache line of its own: no thread slows another one
    std::array<double, kLstmParts> seconds{};
  };
  std::vector<Row> rows_;
};

/// Does `work` as thread `number`, on the clock if there are times to keep.
template <typename Work>
void timed(PartTimes* times, int number, LstmPart part, const Work& work) {
  if (times == nullptr) return work();
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  times->add(number, part, taken.count());
}

}  // namespace loopbrick
