#include "problems/verbose_log.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "kernels/text.h"

namespace loopbrick {
namespace {

std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> all;
  for (std::size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator)) {
    all.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  all.push_back(text);
  return all;
}

/// One executed primitive.
struct Call {
  std::string_view engine, primitive, propagation, memory, attributes, auxiliary, problem;
};

/// The fields behind "exec"; nothing for any other line.
std::optional<Call> read_call(std::string_view line) {
  if (!line.starts_with("onednn_verbose,") && !line.starts_with("dnnl_verbose,"))
    return std::nullopt;
  const std::vector<std::string_view> fields = pieces(line, ',');
  const auto exec = std::find(fields.begin(), fields.end(), "exec");
  if (fields.end() - exec < 10) return std::nullopt;
  return Call{exec[1], exec[2], exec[4], exec[5], exec[6], exec[7], exec[8]};
}

std::optional<std::string_view> kind_of(std::string_view primitive) {
  if (primitive == "convolution") return "conv";
  if (primitive == "inner_product") return "fc";
  if (primitive == "matmul") return "gemm";
  if (primitive == "rnn") return "lstm";
  return std::nullopt;
}

std::string_view pass_of(std::string_view kind, std::string_view propagation) {
  if (propagation == "backward_data") return "bwd_d";
  if (propagation.starts_with("backward_weights")) return "bwd_w";
  if (kind == "lstm" && propagation == "forward_training") return "train";
  return propagation == "backward" ? "bwd" : "fwd";
}

/// "src_f32::blocked:acdb:f0" in the memory's list, by its name.
std::string_view memory_of(const Call& call, std::string_view name) {
  for (const std::string_view each : pieces(call.memory, ' ')) {
    if (each.starts_with(name)) return each;
  }
  return {};
}

/// Post-ops that we have, in the order that we have them; throws for others.
std::string post_ops(const Call& call) {
  const std::string_view bias = memory_of(call, "bia_");
  std::string text = bias.empty() || bias.starts_with("bia_undef") ? "" : "+bias";
  constexpr std::string_view kMark = "post-ops:";
  const std::size_t begin = call.attributes.find(kMark);
  if (begin == std::string_view::npos) return text;
  std::string_view ops = call.attributes.substr(begin + kMark.size());
  ops = ops.substr(0, ops.find(' '));
  while (!ops.empty() && (ops.back() == ';' || ops.back() == '\'')) ops.remove_suffix(1);
  if (ops.starts_with('\'')) ops.remove_prefix(1);
  constexpr std::string_view kEltwise = "eltwise_";
  if (!ops.starts_with(kEltwise) || ops.find('+') != std::string_view::npos)
    throw UnsupportedProblem(fmt::format("post-ops '{}' are none of ours", ops));
  ops.remove_prefix(kEltwise.size());
  const std::size_t colon = std::min(ops.find(':'), ops.size());
  const std::string_view factors = ops.substr(colon);  // ":alpha:beta"
  if (factors.find_first_not_of(":0.") != std::string_view::npos)
    throw UnsupportedProblem(fmt::format("post-ops 'eltwise_{}' have factors", ops));
  return text + "+" + std::string(ops.substr(0, colon));
}

/// What a problem text has no place for: the bottom letters of an LSTM, the result of a product.
std::string descriptor(std::string_view kind, std::string_view problem) {
  if (kind == "lstm")
    return std::string(problem.substr(0, std::min(problem.find("dic"), problem.find("dlc"))));
  if (kind != "gemm") return std::string(problem);
  return std::string(problem.substr(0, problem.rfind(':')));
}

Problem problem_of(const Call& call, std::string_view kind) {
  if (kind == "lstm" && call.auxiliary.find("vanilla_lstm") == std::string_view::npos)
    throw UnsupportedProblem("a recurrent cell that is no LSTM");
  if (kind == "lstm" && call.auxiliary.find("left2right") == std::string_view::npos)
    throw UnsupportedProblem("an LSTM that does not run from left to right");
  const bool is_layered = kind == "conv" || kind == "fc";
  const std::string_view source = memory_of(call, "src");
  if (source.find("f32") == std::string_view::npos) {
    throw UnsupportedProblem(fmt::format("type '{}'", source.substr(0, source.find(':'))));
  }
  for (const char* name : {"wei", "dst"}) {
    const std::string_view memory = memory_of(call, name);
    if (!memory.empty() && memory.find("f32") == std::string_view::npos)
      throw UnsupportedProblem(fmt::format("type '{}'", memory.substr(0, memory.find(':'))));
  }
  if (call.attributes.find("scale") != std::string_view::npos)
    throw UnsupportedProblem("scaled operands");
  if (kind == "gemm") {
    if (!post_ops(call).empty()) throw UnsupportedProblem("a product with bias or post-ops");
    return parse_problem("gemm f32 " + descriptor(kind, call.problem));
  }
  const bool is_nhwc = is_layered && source.find(":acdb:") != std::string_view::npos;
  const bool has_post_ops =
      (is_layered && call.propagation.starts_with("forward")) ||
      (kind == "fc" && pass_of(kind, call.propagation) == to_string(Pass::bwd_w));
  const std::string text =
      fmt::format("{} {} f32 {}{}{}", kind, pass_of(kind, call.propagation), is_nhwc ? "nhwc " : "",
                  descriptor(kind, call.problem), has_post_ops ? post_ops(call) : "");
  return parse_problem(text);
}

void add(Suite& suite, const Problem& problem) {
  const auto same = std::ranges::find(suite.layers, problem, &SuiteLayer::problem);
  if (same != suite.layers.end()) {
    ++same->count;
  } else {
    suite.layers.push_back({std::to_string(suite.layers.size() + 1), problem, 1});
  }
}

}  // namespace

VerboseLog parse_verbose_log(std::string_view name, std::string_view text) {
  VerboseLog log{.suite = {.name = std::string(name), .layers = {}}, .skipped = {}};
  for (std::string_view line : pieces(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::optional<Call> call = read_call(line);
    if (!call) continue;
    const std::optional<std::string_view> kind = kind_of(call->primitive);
    if (!kind) continue;
    ++log.calls;
    try {
      if (call->engine != "cpu") throw UnsupportedProblem(fmt::format("engine '{}'", call->engine));
      add(log.suite, problem_of(*call, *kind));
    } catch (const ParseError& reason) {
      ++log.skipped[reason.what()];
    }
  }
  return log;
}

std::string to_csv(const Suite& suite) {
  std::string text = "layer,problem,count\n";
  for (const SuiteLayer& each : suite.layers) {
    text += fmt::format("{},{},{}\n", each.layer, to_string(each.problem), each.count);
  }
  return text;
}

}  // namespace loopbrick
