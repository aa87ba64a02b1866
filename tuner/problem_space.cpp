#include "tuner/problem_space.h"

#include <memory>
#include <variant>

#include "loops/contraction.h"
#include "tuner/conv_space.h"
#include "tuner/conv_weights_space.h"
#include "tuner/gemm_space.h"
#include "tuner/lstm_model.h"
#include "tuner/lstm_space.h"
#include "tuner/model.h"

namespace loopbrick {

namespace {

/// The space that `Points` declares, whose functions share its tables.
template <typename Points, typename Costs>
Space space_of(std::shared_ptr<const Points> points, std::shared_ptr<const Costs> model) {
  Space space;
  space.choices = points->choices();
  space.why_not = [points](const Point& point) { return points->why_not(point); };
  space.text = [points](const Point& point) { return to_string(points->schedule(point)); };
  space.predict = [points, model](const Point& point) {
    return model->predict(points->schedule(point)).seconds;
  };
  return space;
}

std::optional<Point> point_of(const ConvSpace& conv, const std::string& text) {
  const std::optional<Point> point = conv.point(parse_schedule(text));
  if (!point || to_string(conv.schedule(*point)) != text) return std::nullopt;
  Point prefix;
  for (const std::uint16_t value : *point) {
    prefix.push_back(value);
    if (conv.why_not(prefix)) return std::nullopt;
  }
  return point;
}

/// Nothing can be chosen, for this reason.
Space refused(const Refusal& refusal) {
  Space space;
  space.choices = {{"schedule", {"none"}}};
  space.why_not = [refusal](const Point&) { return refusal; };
  space.text = [](const Point&) { return std::string(); };
  space.predict = [](const Point&) { return 0.0; };
  return space;
}

}  // namespace

Space problem_space(const Problem& problem, const Conditions& conditions, const Machine& machine,
                    const Limits& limits) {
  if (std::holds_alternative<Lstm>(problem.shape)) {
    if (problem.type != DType::f32) return refused({.sentence = "only f32 has kernels"});
    const auto points = std::make_shared<const LstmSpace>(problem, conditions);
    Space space =
        space_of(points, std::make_shared<const LstmModel>(problem, conditions, machine, limits));
    space.state = [points](const Point& point) { return points->state(point); };
    return space;
  }
  const std::variant<Contraction, Refusal> found = contraction(problem);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return refused(*refusal);
  const auto model = std::make_shared<const Model>(problem, conditions, machine, limits);
  const auto& loops = std::get<Contraction>(found);
  if (!std::holds_alternative<Conv>(problem.shape)) {
    return space_of(std::make_shared<const GemmSpace>(loops, conditions), model);
  }
  if (problem.pass == Pass::bwd_w) {
    const auto weights = std::make_shared<const ConvWeightsSpace>(loops, conditions);
    Space space = space_of(weights, model);
    space.point = [weights](const std::string& text) {
      return weights->point(parse_schedule(text));
    };
    return space;
  }
  auto conv = std::make_shared<const ConvSpace>(loops, conditions);
  Space space = space_of(conv, model);
  space.state = [conv](const Point& point) { return conv->state(point); };
  space.point = [conv](const std::string& text) { return point_of(*conv, text); };
  return space;
}

}  // namespace loopbrick
