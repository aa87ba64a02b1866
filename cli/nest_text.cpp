#include "cli/nest_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace loopbrick {
namespace {

std::string letter(Axis axis) { return std::string(1, static_cast<char>(axis)); }

std::string_view trimmed(const char* text, std::size_t most) {
  return std::string_view(text, most).substr(0, std::string_view(text, most).find('\0'));
}

std::string pack_text(const Pack& pack) {
  return fmt::format("copy {}{} densely", trimmed(pack.operand.data(), pack.operand.size()),
                     pack.transposed ? " transposed" : "");
}

std::int64_t extent_of(const Contraction& contraction, const Loop& loop) {
  if (loop.fused == Axis::none) return contraction.extent(loop.axis);
  return contraction.extent(loop.axis) * contraction.extent(loop.fused);
}

std::string loop_text(const Contraction& contraction, const Loop& loop) {
  const std::string name = letter(loop.axis) + (loop.fused == Axis::none ? "" : letter(loop.fused));
  std::string text =
      fmt::format("for {} of {} by {}", name, extent_of(contraction, loop), loop.step);
  if (loop.parallel) text += "  # shared by the threads";
  if (loop.ways > 0) text += fmt::format(", {} ways", loop.ways);
  if (loop.private_sum) text += ", a result of its own for each way, added at the end";
  return text;
}

/// Elements of a sum that the loops around the call leave to it.
std::int64_t left_by_loops(const Contraction& contraction, const Step& step, Axis axis) {
  std::int64_t left = contraction.extent(axis);
  for (const Element& element : step.elements) {
    if (element.loop.axis == axis) left = std::min<std::int64_t>(left, element.loop.step);
  }
  return left;
}

std::string call_text(const Contraction& contraction, const Step& step) {
  std::string text = "kernel:";
  for (const Sum& sum : step.sums) {
    text += fmt::format(" entries of {} {}", sum.depth, letter(sum.axis));
    for (const Axis axis : sum.batch) {
      text += fmt::format(", over {} {}", left_by_loops(contraction, step, axis), letter(axis));
    }
  }
  return text;
}

std::string body_text(const Contraction& contraction, const Step& step) {
  if (step.body == Body::call) return call_text(contraction, step);
  if (step.body == Body::pack) return pack_text(step.pack) + " for all threads";
  return step.body == Body::elt ? "element-wise" : "the steps below";
}

}  // namespace

std::string nest_text(const Contraction& contraction, const Schedule& schedule) {
  std::string text;
  for (const Step& step : schedule.steps) {
    std::size_t indent = 2 + 2 * static_cast<std::size_t>(step.depth);
    const auto add = [&](const std::string& line) {
      text += std::string(indent, ' ') + line + "\n";
      indent += 2;
    };
    if (step.once) add("once, outside the timed call:");
    for (const Element& element : step.elements) {
      add(element.is_pack() ? pack_text(element.pack) : loop_text(contraction, element.loop));
    }
    add(body_text(contraction, step));
  }
  return text;
}

}  // namespace loopbrick
