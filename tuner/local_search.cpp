#include <algorithm>
#include <memory>
#include <vector>

#include "tuner/open_points.h"

// Local search: from the model's first choice to the first neighbour that is faster, and so on;
// where no neighbour is, the climb ends and the next one starts from the model's next choice.

namespace loopbrick {

namespace {

class LocalSearch {
 public:
  LocalSearch(const Space& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  std::optional<Ask> next(std::span<const Seen> history) {
    if (ranked_.empty()) ranked_ = ranking(space_, seed_);
    // Where the climb stands follows from the answers in their order, each of which is read once.
    for (; read_ < history.size(); ++read_) read(history.first(read_ + 1));
    Random random = random_for(seed_, history);
    const std::optional<Point> point =
        open_.empty() ? next_open(space_, ranked_, history, random) : open_.back();
    if (!point) return std::nullopt;
    return Ask{.point = *point, .give_up_above = give_up_above(history)};
  }

 private:
  /// The last answer moves the climb to its point, or leaves one neighbour less.
  void read(std::span<const Seen> history) {
    const Seen& seen = history.back();
    const bool is_start = open_.empty();
    open_.erase(std::remove(open_.begin(), open_.end(), seen.point), open_.end());
    if (!seen.ok || (!is_start && seen.seconds >= seconds_)) return;
    seconds_ = seen.seconds;
    open_ = open_neighbours(seen.point, history);
  }

  /// Points with one choice changed that nobody has asked about, shuffled.
  std::vector<Point> open_neighbours(const Point& point, std::span<const Seen> history) const {
    Random random = random_for(seed_, history);
    std::vector<Point> neighbours;
    for (int choice = 0; choice < point.size(); ++choice) {
      const std::size_t values = space_.choices[static_cast<std::size_t>(choice)].values.size();
      for (std::size_t value = 0; value < values; ++value) {
        if (value == point[choice]) continue;
        const auto to = changed(space_, point, choice, static_cast<std::uint16_t>(value), random);
        if (!to || is_seen(history, *to)) continue;
        if (std::find(neighbours.begin(), neighbours.end(), *to) == neighbours.end())
          neighbours.push_back(*to);
      }
    }
    for (std::size_t i = neighbours.size(); i > 1; --i)
      std::swap(neighbours[i - 1], neighbours[random() % i]);
    return neighbours;
  }

  const Space& space_;
  std::uint64_t seed_;
  std::vector<Ranked> ranked_;
  std::size_t read_ = 0;     ///< answers of the history
  std::vector<Point> open_;  ///< neighbours that are left; none: a climb is to start
  double seconds_ = 0.0;     ///< where the climb stands
};

}  // namespace

Strategy begin_local(const Space& space, std::uint64_t seed) {
  return [search = std::make_shared<LocalSearch>(space, seed)](std::span<const Seen> history) {
    return search->next(history);
  };
}

}  // namespace loopbrick
