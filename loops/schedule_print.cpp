#include <cctype>

#include "loops/schedule.h"

namespace loopbrick {

namespace {

std::string letters(const Loop& loop) {
  std::string text(1, static_cast<char>(loop.axis));
  if (loop.fused != Axis::none) text += static_cast<char>(loop.fused);
  if (loop.parallel) {
    for (char& letter : text) {
      letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    }
  }
  return text;
}

std::string to_string(const Loop& loop) {
  std::string text = letters(loop);
  if (loop.step != 1) text += std::to_string(loop.step);
  if (loop.ways != 0) text += "/" + std::to_string(loop.ways);
  if (loop.private_sum) text += "+";
  return text;
}

std::string to_string(const Pack& pack) {
  return "pack(" + std::string(pack.operand.data()) + (pack.transposed ? "')" : ")");
}

std::string to_string(const Sum& sum) {
  std::string text(1, static_cast<char>(sum.axis));
  text += std::to_string(sum.depth);
  if (!sum.batch.empty()) text += " *";
  for (const Axis axis : sum.batch) text += std::string(" ") + static_cast<char>(axis);
  return text;
}

std::string call_text(const Step& step) {
  std::string text = "@";
  for (int i = 0; i < step.sums.size(); ++i) {
    text += (i == 0 ? " " : " + ") + to_string(step.sums[i]);
  }
  return text;
}

std::string marks_text(const Marks& marks) {
  std::string text;
  const auto add = [&text](const std::string& mark) { text += " " + mark; };
  const auto letter = [](Axis axis) { return std::string(1, static_cast<char>(axis)); };
  if (marks.tile_rows != 0) {
    add("tile=" + std::to_string(marks.tile_rows) + "x" + std::to_string(marks.tile_cols));
  }
  if (marks.batch != BatchForm::offset) add("batch=" + std::string(to_string(marks.batch)));
  if (marks.rim == Rim::copy) add("rim=copy");
  if (marks.vec != Axis::none) add("vec=" + letter(marks.vec));
  if (marks.stream) add("store=stream");
  if (marks.next != Axis::none) add("next=" + letter(marks.next));
  if (marks.ahead != 0) add("ahead=" + std::to_string(marks.ahead));
  if (marks.deal == Deal::dynamic) add("deal=dynamic");
  if (marks.rotate != Axis::none) add("rotate=" + letter(marks.rotate));
  if (marks.tree) add("sum=tree");
  if (marks.post_apart) add("post=apart");
  return text;
}

std::string head_text(const Step& step) {
  std::string text = step.once ? "once: " : "";
  if (step.name[0] != '\0') text += std::string(step.name.data()) + ": ";
  for (const Element& element : step.elements) {
    text += (element.is_pack() ? to_string(element.pack) : to_string(element.loop)) + " ";
  }
  return text;
}

/// Prints the steps from `at` on that lie at `depth`, with the blocks that they hold; leaves `at`
/// behind them.
std::string steps_text(const Schedule& schedule, int& at, int depth) {
  std::string text;
  while (at < schedule.steps.size() && schedule.steps[at].depth == depth) {
    const Step& step = schedule.steps[at++];
    text += head_text(step);
    if (step.body == Body::call) text += call_text(step);
    if (step.body == Body::pack) text += to_string(step.pack);
    if (step.body == Body::elt) text += "elt";
    if (step.body == Body::block) text += "{ " + steps_text(schedule, at, depth + 1) + " }";
    text += marks_text(step.marks);
    const bool more = at < schedule.steps.size() && schedule.steps[at].depth == depth;
    if (step.barrier) text += " ;";
    if (more && !step.barrier) text += " ,";
    if (more) text += " ";
  }
  return text;
}

}  // namespace

std::string to_string(const Schedule& schedule) {
  int at = 0;
  return steps_text(schedule, at, 0);
}

}  // namespace loopbrick
