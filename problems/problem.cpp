#include "problems/problem.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "problems/operands.h"
#include "problems/shape_text.h"

namespace loopbrick {
namespace {

struct PassName {
  std::string_view name;
  Pass pass;
};

// The first name of a pass is the printed one.
constexpr std::array kPasses = {
    PassName{"fwd", Pass::fwd},        PassName{"train", Pass::train},
    PassName{"bwd_d", Pass::bwd_d},    PassName{"bwd_w", Pass::bwd_w},
    PassName{"bwd", Pass::bwd},        PassName{"fprop", Pass::fwd},
    PassName{"forward", Pass::fwd},    PassName{"dgrad", Pass::bwd_d},
    PassName{"bwd_data", Pass::bwd_d}, PassName{"wgrad", Pass::bwd_w},
    PassName{"upd", Pass::bwd_w},      PassName{"bwd_weights", Pass::bwd_w}};

struct KindName {
  std::string_view name;
  std::string_view kind;
};

constexpr std::array kKinds = {KindName{"gemm", "gemm"}, KindName{"brgemm", "gemm"},
                               KindName{"conv", "conv"}, KindName{"fc", "fc"},
                               KindName{"ip", "fc"},     KindName{"lstm", "lstm"},
                               KindName{"rnn", "lstm"}};

constexpr std::array kTypes = {DType::f32, DType::bf16, DType::s8};
constexpr std::array kLayouts = {Layout::blocked, Layout::nhwc};

std::optional<Pass> find_pass(std::string_view word) {
  const auto pass = std::ranges::find(kPasses, word, &PassName::name);
  return pass == kPasses.end() ? std::nullopt : std::optional(pass->pass);
}

std::optional<std::string_view> find_kind(std::string_view word) {
  const auto kind = std::ranges::find(kKinds, word, &KindName::name);
  return kind == kKinds.end() ? std::nullopt : std::optional(kind->kind);
}

template <typename Value, std::size_t count>
std::optional<Value> find_by_text(const std::array<Value, count>& values, std::string_view word) {
  const auto found =
      std::ranges::find_if(values, [&](Value value) { return to_string(value) == word; });
  return found == values.end() ? std::nullopt : std::optional(*found);
}

/// A typed text in its pieces; what was not typed is nothing.
struct Words {
  std::optional<std::string_view> kind;
  std::optional<Pass> pass;
  std::optional<DType> type;
  std::optional<Layout> layout;
  std::string_view descriptor;
  bool bias = false;
  Activation activation = Activation::none;
};

/// Sets `slot` if the word has a meaning; a second word of the same sort is an error.
template <typename Value>
bool take(std::optional<Value>& slot, const std::optional<Value>& meaning, std::string_view word) {
  if (!meaning) return false;
  if (slot) throw ParseError(fmt::format("'{}' is a second word of its sort in the problem", word));
  slot = meaning;
  return true;
}

bool take_word(Words& words, std::string_view word) {
  return take(words.kind, find_kind(word), word) || take(words.pass, find_pass(word), word) ||
         take(words.type, find_by_text(kTypes, word), word) ||
         take(words.layout, find_by_text(kLayouts, word), word);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  for (auto begin = text.begin(); begin != text.end();) {
    begin = std::find_if_not(begin, text.end(), is_blank);
    const auto end = std::find_if(begin, text.end(), is_blank);
    if (begin != end) words.emplace_back(begin, end);
    begin = end;
  }
  return words;
}

void take_post_op(Words& words, std::string_view name) {
  const bool late = words.activation != Activation::none;
  if (name == "bias" && !words.bias && !late) {
    words.bias = true;
  } else if (const auto activation = find_activation(name); activation && !late) {
    words.activation = *activation;
  } else {
    throw ParseError(fmt::format(
        "'+{}' is no post-op here; post-ops are +bias, then +relu, +sigmoid, +tanh, +gelu_erf or "
        "+gelu_tanh",
        name));
  }
}

/// "ih5kh3+bias+relu": the descriptor, then post-ops.
void take_descriptor(Words& words, std::string_view word) {
  std::size_t plus = word.find('+');
  words.descriptor = word.substr(0, plus);
  while (plus != std::string_view::npos) {
    const std::size_t begin = plus + 1;
    plus = word.find('+', begin);
    take_post_op(words, word.substr(begin, plus == std::string_view::npos ? plus : plus - begin));
  }
}

Words parse_words(std::string_view text) {
  Words words;
  const std::vector<std::string_view> pieces = split(text);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (take_word(words, pieces[i])) continue;
    if (i + 1 < pieces.size()) {
      throw ParseError(
          fmt::format("'{}' in '{}' is no kind, pass, type or layout, and '{}' stands behind it",
                      pieces[i], text, pieces[i + 1]));
    }
    take_descriptor(words, pieces[i]);
  }
  if (words.descriptor.empty()) {
    throw ParseError(fmt::format(
        "'{}' has no sizes; a problem is like conv fwd f32 mb2ic64ih56oc64kh3ph1", text));
  }
  return words;
}

/// Where n"name" stands in a text, quotes included; empty if there is none.
std::string_view quoted_name(std::string_view text) {
  const std::size_t begin = text.find("n\"");
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text.find('"', begin + 2);
  if (end == std::string_view::npos)
    throw ParseError(fmt::format("the name in '{}' lacks its closing quote", text));
  return text.substr(begin, end + 1 - begin);
}

std::string without_name(std::string_view text) {
  const std::string_view name = quoted_name(text);
  if (name.empty()) return std::string(text);
  const auto begin = static_cast<std::size_t>(name.data() - text.data());
  return std::string(text.substr(0, begin)) + std::string(text.substr(begin + name.size()));
}

Shape parse_shape(std::string_view kind, std::string_view descriptor, std::int64_t minibatch) {
  if (kind == "gemm") return parse_gemm(descriptor);
  if (kind == "fc") return parse_fc(descriptor, minibatch);
  if (kind == "lstm") return parse_lstm(descriptor, minibatch);
  return parse_conv(descriptor, minibatch);
}

std::vector<Pass> passes_of(const Shape& shape) {
  if (std::holds_alternative<Gemm>(shape)) return {Pass::fwd};
  if (std::holds_alternative<Lstm>(shape)) return {Pass::fwd, Pass::train, Pass::bwd};
  return {Pass::fwd, Pass::bwd_d, Pass::bwd_w};
}

void check_pass(const Problem& problem) {
  const std::vector<Pass> passes = passes_of(problem.shape);
  if (std::ranges::find(passes, problem.pass) != passes.end()) return;
  std::string names;
  for (const Pass pass : passes) names += fmt::format(" {}", to_string(pass));
  throw ParseError(
      fmt::format("{} has no pass {}; it has{}", kind_of(problem), to_string(problem.pass), names));
}

void check_post_ops(const Problem& problem) {
  if (!problem.bias && problem.activation == Activation::none) return;
  if (problem.pass == Pass::fwd && !std::holds_alternative<Lstm>(problem.shape)) return;
  if (!std::holds_alternative<Fc>(problem.shape)) {
    throw UnsupportedProblem(
        fmt::format("{} {} takes no post-ops", kind_of(problem), to_string(problem.pass)));
  }
}

/// A layer's text serves all its passes: dx does not depend on the bias.
bool has_bias(const Words& words, Pass pass) { return words.bias && pass != Pass::bwd_d; }

void check_sizes(const Problem& problem, std::string_view text) {
  for (const Operand& operand : operands(problem)) {
    if (saturating_product(elements(operand), size_bytes(problem.type)) == INT64_MAX) {
      throw ParseError(fmt::format("'{}': tensor {} is beyond 2^63 bytes", text, operand.name));
    }
  }
  if (total_bytes(problem) == INT64_MAX) {
    throw ParseError(fmt::format("'{}': the tensors together are beyond 2^63 bytes", text));
  }
}

std::string descriptor_of(const Problem& problem) {
  return std::visit([](const auto& shape) { return to_string(shape); }, problem.shape);
}

double product(std::initializer_list<std::int64_t> factors) {
  double result = 1.0;
  for (const std::int64_t factor : factors) result *= static_cast<double>(factor);
  return result;
}

double multiply_adds_of(const Gemm& gemm) { return product({gemm.m, gemm.n, gemm.k, gemm.batch}); }

double multiply_adds_of(const Conv& conv) {
  return product({conv.n, conv.k, conv.c / conv.groups, conv.p, conv.q, conv.r, conv.s});
}

double multiply_adds_of(const Fc& fc) { return product({fc.n, fc.c, fc.k}); }

double multiply_adds_of(const Lstm& lstm) {
  return 4.0 * product({lstm.t, lstm.n, lstm.k}) * (product({lstm.c}) + product({lstm.k}));
}

}  // namespace

std::string_view to_string(Pass pass) {
  return std::ranges::find(kPasses, pass, &PassName::pass)->name;
}

Pass parse_pass(std::string_view text) {
  if (const auto pass = find_pass(text)) return *pass;
  throw ParseError(
      fmt::format("'{}' is no pass; passes are fwd, train, bwd_d, bwd_w and bwd", text));
}

std::string_view parse_kind(std::string_view text) {
  if (const auto kind = find_kind(text)) return *kind;
  throw ParseError(
      fmt::format("'{}' is no kind of problem; kinds are gemm, conv, fc and lstm", text));
}

std::string_view kind_of(const Problem& problem) {
  constexpr std::array<std::string_view, 4> kNames = {"gemm", "conv", "fc", "lstm"};
  return kNames[problem.shape.index()];
}

std::string_view to_string(Layout layout) { return layout == Layout::nhwc ? "nhwc" : "blocked"; }

Layout parse_layout(std::string_view text) {
  if (const auto layout = find_by_text(kLayouts, text)) return *layout;
  throw ParseError(fmt::format("'{}' is no layout; layouts are blocked and nhwc", text));
}

std::string to_string(const Problem& problem) {
  const bool is_gemm = std::holds_alternative<Gemm>(problem.shape);
  std::string text(kind_of(problem));
  if (!is_gemm) text += fmt::format(" {}", to_string(problem.pass));
  text += fmt::format(" {}", to_string(problem.type));
  if (problem.layout != Layout::blocked) text += fmt::format(" {}", to_string(problem.layout));
  text += fmt::format(" {}", descriptor_of(problem));
  if (problem.bias) text += "+bias";
  if (problem.activation != Activation::none)
    text += fmt::format("+{}", to_string(problem.activation));
  return text;
}

std::optional<ProblemName> parse_problem_name(std::string_view text) {
  std::string_view name = quoted_name(text);
  if (name.empty()) return std::nullopt;
  name = name.substr(2, name.size() - 3);
  const std::size_t star = name.rfind('*');
  if (star == std::string_view::npos) return ProblemName{std::string(name)};
  return ProblemName{std::string(name.substr(0, star)),
                     parse_count(name.substr(star + 1), "multiplicity", 1)};
}

Problem parse_problem(std::string_view text, const ProblemDefaults& defaults) {
  const std::string unnamed = without_name(text);
  const Words words = parse_words(unnamed);
  const std::string_view kind = words.kind.value_or(parse_kind(defaults.kind));
  const bool is_gemm = kind == "gemm";
  if (is_gemm && words.layout)
    throw ParseError(fmt::format("'{}': a gemm has no layout of activations", text));
  const Problem problem{
      .shape = parse_shape(kind, words.descriptor, defaults.minibatch),
      .pass = words.pass.value_or(defaults.pass),
      .type = words.type.value_or(defaults.type),
      .layout = is_gemm ? Layout::blocked : words.layout.value_or(defaults.layout),
      .bias = has_bias(words, words.pass.value_or(defaults.pass)),
      .activation = words.activation};
  check_pass(problem);
  check_post_ops(problem);
  check_sizes(problem, text);
  return problem;
}

double flops(const Problem& problem) {
  const double forward =
      2.0 * std::visit([](const auto& shape) { return multiply_adds_of(shape); }, problem.shape);
  return problem.pass == Pass::bwd ? 2.0 * forward : forward;
}

std::int64_t channel_block(Layout layout, std::int64_t channels) {
  constexpr std::int64_t kWidest = 64;
  constexpr std::int64_t kNarrowest = 16;  // a vector: narrower blocks would cut every tile short
  const std::int64_t divisor =
      std::min(kWidest, channels & -channels);  // the largest power of two in it
  return layout == Layout::nhwc || divisor < kNarrowest ? channels : divisor;
}

}  // namespace loopbrick
