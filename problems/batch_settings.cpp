#include "problems/batch_settings.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "problems/lists.h"

namespace loopbrick {
namespace {

struct DirectionName {
  std::string_view name;
  Direction direction;
};

constexpr std::array kDirections = {
    DirectionName{"FWD_D", {Pass::fwd, false}},   DirectionName{"FWD_I", {Pass::fwd, false}},
    DirectionName{"FWD_B", {Pass::fwd, true}},    DirectionName{"BWD_D", {Pass::bwd_d, false}},
    DirectionName{"BWD_W", {Pass::bwd_w, false}}, DirectionName{"BWD_WB", {Pass::bwd_w, true}}};

void take_directions(BatchSettings& settings, std::string_view value) {
  settings.directions.clear();
  for (const std::string_view name : split_list(value)) {
    if (name == "BWD_DW") {
      throw UnsupportedProblem(fmt::format("--dir={} asks for two gradients at once", name));
    }
    const auto direction = std::ranges::find(kDirections, name, &DirectionName::name);
    if (direction == kDirections.end()) {
      throw ParseError(fmt::format("'{}' is no --dir like FWD_D, FWD_B, BWD_D or BWD_W", name));
    }
    settings.directions.push_back(direction->direction);
  }
}

/// The passes of benchdnn's rnn driver: FWD_D keeps what a backward pass needs.
void take_propagation(BatchSettings& settings, std::string_view value) {
  constexpr std::array kPropagations = {DirectionName{"FWD_D", {Pass::train, false}},
                                        DirectionName{"FWD_I", {Pass::fwd, false}},
                                        DirectionName{"BWD_DW", {Pass::bwd, false}}};
  settings.directions.clear();
  for (const std::string_view name : split_list(value)) {
    const auto found = std::ranges::find(kPropagations, name, &DirectionName::name);
    if (found == kPropagations.end())
      throw ParseError(fmt::format("'{}' is no --prop like FWD_D, FWD_I or BWD_DW", name));
    settings.directions.push_back(found->direction);
  }
}

/// One type, or the same for source, weights and destination: "f32" and "f32:f32:f32".
DType parse_types(std::string_view text) {
  const std::vector<std::string_view> types = split_list(text, ':');
  const bool same = !types.empty() && std::ranges::count(types, types.front()) == std::ssize(types);
  for (const DType type : {DType::f32, DType::bf16, DType::s8}) {
    if (same && to_string(type) == types.front()) return type;
  }
  throw UnsupportedProblem(fmt::format("--dt={} is not f32, bf16 or s8 throughout", text));
}

void take_types(BatchSettings& settings, std::string_view value) {
  settings.types.clear();
  for (const std::string_view types : split_list(value))
    settings.types.push_back(parse_types(types));
}

void take_minibatches(BatchSettings& settings, std::string_view value) {
  settings.minibatches.clear();
  for (const std::string_view count : split_list(value)) {
    settings.minibatches.push_back(parse_count(count, "--mb", 0));
  }
}

void take_batches(BatchSettings& settings, std::string_view value) {
  settings.batches.clear();
  for (const std::string_view count : split_list(value))
    settings.batches.push_back(parse_count(count, "--bs", 0));
}

void take_leading(BatchSettings& settings, std::string_view value) {
  settings.leading.clear();
  for (const std::string_view leading : split_list(value)) settings.leading.emplace_back(leading);
}

void take_layout(BatchSettings& settings, std::string_view value) {
  if (value == "axb" || value == "acb" || value == "acdb" || value == "nhwc") {
    settings.layout = Layout::nhwc;
  } else if (value == "any" || value.empty()) {
    settings.layout = Layout::blocked;
  } else {
    throw UnsupportedProblem(
        fmt::format("activations in layout {} are neither any nor axb", value));
  }
}

void take_algorithm(BatchSettings&, std::string_view value) {
  constexpr std::array<std::string_view, 5> kKnown = {"", "auto", "direct", "DIRECT",
                                                      "VANILLA_LSTM"};
  if (std::ranges::find(kKnown, value) != kKnown.end()) return;
  throw UnsupportedProblem(
      fmt::format("--alg={} is neither the direct algorithm nor VANILLA_LSTM", value));
}

/// From right to left is the same work on the reversed sequence; both ways are two layers.
void take_order(BatchSettings& settings, std::string_view value) {
  settings.lstm_directions = value == "concat" || value == "sum" ? 2 : 1;
  constexpr std::array<std::string_view, 5> kKnown{"", "left2right", "right2left", "concat", "sum"};
  if (std::ranges::find(kKnown, value) != kKnown.end()) return;
  throw UnsupportedProblem(
      fmt::format("--direction={} is not left2right, right2left, concat or sum", value));
}

/// A cell with more than the usual parts.
void take_extra(BatchSettings&, std::string_view value) {
  if (value.empty() || value == "false" || value == "0") return;
  throw UnsupportedProblem("the cell has no peepholes, projection or linear gates");
}

void take_post_ops(BatchSettings& settings, std::string_view value) {
  const std::optional<Activation> activation =
      value.empty() ? Activation::none : find_activation(value);
  if (!activation) {
    throw UnsupportedProblem(fmt::format(
        "the post-ops known are relu, logistic, tanh, gelu_erf and gelu_tanh, not {}", value));
  }
  settings.activation = *activation;
}

void take_alpha(BatchSettings&, std::string_view value) {
  if (value != "1") throw UnsupportedProblem(fmt::format("--alpha={} scales the product", value));
}

void take_beta(BatchSettings&, std::string_view value) {
  if (value != "0")
    throw UnsupportedProblem(fmt::format("--beta={} adds to C; a gemm overwrites it", value));
}

void refuse(BatchSettings&, std::string_view value) {
  if (!value.empty()) throw UnsupportedProblem(fmt::format("the attribute {} is not known", value));
}

void pass_over(BatchSettings&, std::string_view) {}

void reset(BatchSettings& settings, std::string_view) { settings = {}; }

struct Option {
  std::string_view name;
  void (*take)(BatchSettings&, std::string_view value);
};

constexpr std::array kOptions = {
    Option{"reset", reset},
    Option{"dir", take_directions},
    Option{"prop", take_propagation},
    Option{"dt", take_types},
    Option{"cfg", take_types},
    Option{"mb", take_minibatches},
    Option{"bs", take_batches},
    Option{"ld", take_leading},
    Option{"stag", take_layout},
    Option{"dtag", take_layout},
    Option{"alg", take_algorithm},
    Option{"direction", take_order},
    Option{"with-peephole", take_extra},
    Option{"with-projection", take_extra},
    Option{"skip-nonlinear", take_extra},
    Option{"alpha", take_alpha},
    Option{"beta", take_beta},
    Option{"attr-post-ops", take_post_ops},
    Option{"attr-scales", refuse},
    Option{"attr-zero-points", refuse},
    Option{"attr-dropout", refuse},
    Option{"attr-rounding-mode", refuse},
    Option{"strides", refuse},
    Option{"bia-dt", refuse},
    Option{"bia_dt", refuse},
    Option{"brgemm-attr", refuse},
    Option{"flags", refuse},
    Option{"activation", pass_over},  // of a vanilla RNN
    Option{"scaling", pass_over},
    Option{"trivial-strides", pass_over},
    Option{"attr-acc-mode", pass_over},
    Option{"attr-deterministic", pass_over},
    Option{"attr-fpmath", pass_over},
    Option{"attr-scratchpad", pass_over},
    Option{"allow-enum-tags-only", pass_over},
    Option{"canonical", pass_over},
    Option{"cold-cache", pass_over},
    Option{"ctx-exe", pass_over},
    Option{"ctx-init", pass_over},
    Option{"engine", pass_over},
    Option{"fast-ref", pass_over},
    Option{"fix-times-per-prb", pass_over},
    Option{"impl", pass_over},
    Option{"inplace", pass_over},
    Option{"match", pass_over},
    Option{"max-ms-per-prb", pass_over},
    Option{"mem-check", pass_over},
    Option{"mode", pass_over},
    Option{"mode-modifier", pass_over},
    Option{"num-streams", pass_over},
    Option{"perf-template", pass_over},
    Option{"repeats-per-prb", pass_over},
    Option{"skip-impl", pass_over},
    Option{"verbose", pass_over},
    Option{"wtag", pass_over},
};

}  // namespace

void BatchSettings::take(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals).substr(2);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  const auto option = std::ranges::find(kOptions, name, &Option::name);
  if (option == kOptions.end())
    throw ParseError(fmt::format("'--{}' is no option of a batch file", name));
  refusals.erase(std::string(name));
  try {
    option->take(*this, value);
  } catch (const UnsupportedProblem& reason) {
    refusals.emplace(name, reason.what());
  }
}

}  // namespace loopbrick
