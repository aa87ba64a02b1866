#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loops/schedule.h"
#include "problems/conditions.h"
#include "problems/problem.h"
#include "tuner/space.h"

namespace loopbrick {

/// The schedules of an LSTM's pass that are tried: forward the fused and the diffused form, rows,
/// columns and depth of a call, the order of the loops; backward the same for each of its products
/// (dw and dr alike).
///
/// Threads  const members may be called at once.
class LstmSpace {
 public:
  LstmSpace(const Problem& problem, const Conditions& conditions);

  std::vector<Choice> choices() const;
  std::optional<Refusal> why_not(const Point& point) const;
  Schedule schedule(const Point& point) const;

  /// Prefixes of one length with equal states have equal subtrees.
  std::uint64_t state(const Point& point) const;

 private:
  /// A choice whose values are texts or numbers (0: "none").
  struct Options {
    std::string name;
    std::vector<std::string> texts;
    std::vector<std::int64_t> numbers;
    bool is_refinement = false;
  };
  void add_numbers(const std::string& name, std::vector<int> numbers);
  void add_texts(const std::string& name, std::vector<std::string> texts);
  void add_register_tiles();
  void add_forward();
  void add_backward();
  std::int64_t number(const Point& point, int place) const;
  const std::string& text(const Point& point, int place) const;
  bool is_backward() const { return problem_.pass == Pass::bwd; }
  std::string forward(const Point& point) const;
  std::string backward(const Point& point) const;
  std::string marks(const Point& point) const;
  std::optional<Refusal> why_not_forward(const Point& point) const;
  std::optional<Refusal> why_not_backward(const Point& point) const;

  Problem problem_;
  Lstm lstm_;
  Conditions conditions_;
  std::vector<Options> options_;
};

}  // namespace loopbrick
