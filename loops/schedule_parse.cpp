#include <algorithm>
#include <cctype>
#include <vector>

#include "kernels/text.h"
#include "loops/schedule.h"

namespace loopbrick {

namespace {

constexpr std::string_view kAxes = "bcfghkmnpqrstw";
constexpr std::int64_t kMostStep = INT32_MAX;
constexpr std::int64_t kMostWays = 4096;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

bool is_upper(char letter) { return std::isupper(static_cast<unsigned char>(letter)) != 0; }
bool is_letter(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; }
bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

/// Words between blanks; ; , { } @ and * stand alone even without blanks around them.
std::vector<std::string_view> split(std::string_view text) {
  constexpr std::string_view kAlone = ";,{}@*";
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    if (kAlone.find(text[at]) == std::string_view::npos) {
      while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) == 0 &&
             kAlone.find(text[end]) == std::string_view::npos) {
        ++end;
      }
    }
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

Axis parse_axis(char letter, std::string_view word) {
  const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (kAxes.find(lower) == std::string_view::npos) {
    throw ParseError(quoted(word) + ": no axis is called '" + letter + "', the axes are " +
                     std::string(kAxes));
  }
  return Axis{lower};
}

/// The digits at the front of `rest`, taken off it; `otherwise` if there are none.
std::int64_t take_count(std::string_view& rest, std::string_view what, std::int64_t most,
                        std::int64_t otherwise) {
  std::size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[digits])) ++digits;
  if (digits == 0) return otherwise;
  const std::int64_t count = parse_count(rest.substr(0, digits), what, 1, most);
  rest.remove_prefix(digits);
  return count;
}

Loop parse_loop(std::string_view word) {
  Loop loop;
  std::string_view rest = word;
  loop.axis = parse_axis(rest[0], word);
  loop.parallel = is_upper(rest[0]);
  rest.remove_prefix(1);
  if (!rest.empty() && is_letter(rest[0])) {
    loop.fused = parse_axis(rest[0], word);
    const bool is_pair = (loop.axis == Axis::p && loop.fused == Axis::q) ||
                         (loop.axis == Axis::h && loop.fused == Axis::w);
    if (is_upper(rest[0]) != loop.parallel || !is_pair) {
      throw ParseError(
          quoted(word) +
          " is not a flattened pair: it is written pq or PQ, backward by data hw or HW");
    }
    rest.remove_prefix(1);
  }
  loop.step =
      static_cast<std::int32_t>(take_count(rest, "step of " + std::string(word), kMostStep, 1));
  if (!rest.empty() && rest[0] == '/') {
    rest.remove_prefix(1);
    loop.ways =
        static_cast<std::int16_t>(take_count(rest, "ways of " + std::string(word), kMostWays, 0));
    if (loop.ways == 0 || !loop.parallel) {
      throw ParseError(quoted(word) + ": /ways is a count behind a parallel loop, like N/7");
    }
  }
  if (rest == "+") {
    if (!loop.parallel) throw ParseError(quoted(word) + ": + goes with a parallel loop, like N+");
    loop.private_sum = true;
    rest.remove_prefix(1);
  }
  if (!rest.empty()) {
    throw ParseError(quoted(word) + " is not a loop like k64, N or C64/4+ (at " + quoted(rest) +
                     ")");
  }
  return loop;
}

Pack parse_pack(std::string_view word) {
  Pack pack;
  std::string_view operand = word.substr(5);
  const bool closed = !operand.empty() && operand.back() == ')';
  if (closed) operand.remove_suffix(1);
  if (closed && !operand.empty() && operand.back() == '\'') {
    pack.transposed = true;
    operand.remove_suffix(1);
  }
  if (!closed || operand.empty() || operand.size() >= pack.operand.size()) {
    throw ParseError(quoted(word) + " is not a pack like pack(x) or pack(w')");
  }
  for (std::size_t i = 0; i < operand.size(); ++i) {
    if (!is_letter(operand[i])) throw ParseError(quoted(word) + ": an operand is named by letters");
    pack.operand[i] = operand[i];
  }
  return pack;
}

template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};

template <typename Value, std::size_t Count>
Value pick(std::string_view word, std::string_view value, const Named<Value> (&table)[Count]) {
  std::string names;
  for (const auto& row : table) {
    if (row.name == value) return row.value;
    names += (names.empty() ? "" : " or ") + std::string(row.name);
  }
  throw ParseError(quoted(word) + ": " + quoted(value) + " is not " + names);
}

Axis mark_axis(std::string_view word, std::string_view value) {
  if (value.size() != 1 || is_upper(value[0])) {
    throw ParseError(quoted(word) + ": " + quoted(value) + " is not one lower-case axis");
  }
  return parse_axis(value[0], word);
}

void parse_tile(std::string_view word, std::string_view value, Marks& marks) {
  const std::size_t cross = value.find('x');
  if (cross == std::string_view::npos) throw ParseError(quoted(word) + " is not like tile=6x64");
  marks.tile_rows = static_cast<int>(
      parse_count(value.substr(0, cross), "rows of " + std::string(word), 1, 4096));
  marks.tile_cols = static_cast<int>(
      parse_count(value.substr(cross + 1), "columns of " + std::string(word), 1, 4096));
}

void parse_mark(std::string_view word, Marks& marks) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  if (key == "tile") {
    parse_tile(word, value, marks);
  } else if (key == "batch") {
    marks.batch = pick<BatchForm>(word, value,
                                  {{"address", BatchForm::address},
                                   {"offset", BatchForm::offset},
                                   {"stride", BatchForm::stride}});
  } else if (key == "rim") {
    marks.rim = pick<Rim>(word, value, {{"window", Rim::window}, {"copy", Rim::copy}});
  } else if (key == "vec") {
    marks.vec = mark_axis(word, value);
  } else if (key == "store") {
    marks.stream = pick<bool>(word, value, {{"plain", false}, {"stream", true}});
  } else if (key == "next") {
    marks.next = mark_axis(word, value);
  } else if (key == "ahead") {
    marks.ahead = static_cast<int>(parse_count(value, std::string(word), 0, 64));
  } else if (key == "deal") {
    marks.deal = pick<Deal>(word, value, {{"static", Deal::even}, {"dynamic", Deal::dynamic}});
  } else if (key == "rotate") {
    marks.rotate = mark_axis(word, value);
  } else if (key == "sum") {
    marks.tree = pick<bool>(word, value, {{"flat", false}, {"tree", true}});
  } else if (key == "post") {
    marks.post_apart = pick<bool>(word, value, {{"tile", false}, {"apart", true}});
  } else {
    throw ParseError(quoted(word) +
                     " is not a mark: tile batch rim vec store next ahead deal rotate sum post");
  }
}

/// Walks the words once, left to right; one member function a rule of the grammar.
class Parser {
 public:
  explicit Parser(std::string_view text) : words_(split(text)) {}

  Schedule schedule() {
    if (words_.empty())
      throw ParseError("the schedule is empty: it is like 'N k64 p q14 @ c64 * c r s'");
    steps(0);
    if (!done()) throw ParseError(quoted(word()) + " closes a block that nothing opened");
    return schedule_;
  }

 private:
  bool done() const { return at_ == words_.size(); }
  std::string_view word() const { return done() ? std::string_view() : words_[at_]; }
  bool take(std::string_view expected) {
    if (word() != expected) return false;
    ++at_;
    return true;
  }

  void steps(int depth) {
    while (!done() && word() != "}") {
      const int index = step(depth);
      if (take(";")) {
        schedule_.steps[index].barrier = true;
      } else if (!take(",") && !done() && word() != "}") {
        throw ParseError(quoted(word()) + " stands where ';' or ',' ends the step");
      }
    }
  }

  int step(int depth) {
    if (schedule_.steps.full()) {
      throw ParseError(quoted(word()) + ": a schedule has at most " +
                       std::to_string(schedule_.steps.capacity()) + " steps");
    }
    schedule_.steps.push_back({});
    const int index = schedule_.steps.size() - 1;
    schedule_.steps[index].depth = depth;
    head(schedule_.steps[index]);
    body(index, depth);
    marks(schedule_.steps[index].marks);
    return index;
  }

  void marks(Marks& marks) {
    std::vector<std::string_view> seen;
    for (; word().find('=') != std::string_view::npos; ++at_) {
      const std::string_view key = word().substr(0, word().find('='));
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        throw ParseError(quoted(word()) + ": the step has a mark " + std::string(key) + " already");
      }
      seen.push_back(key);
      parse_mark(word(), marks);
    }
  }

  void head(Step& step) {
    for (; !done(); ++at_) {
      const std::string_view here = word();
      if (here.back() == ':') {
        name(here.substr(0, here.size() - 1), step);
      } else if (here.starts_with("pack(")) {
        add(step, {.loop = {}, .pack = parse_pack(here)}, here);
      } else if (here != "elt" && is_letter(here[0]) && here.find('=') == std::string_view::npos) {
        add(step, {.loop = parse_loop(here), .pack = {}}, here);
      } else {
        break;
      }
    }
  }

  static void name(std::string_view text, Step& step) {
    const bool fits = !text.empty() && text.size() < step.name.size() && step.elements.empty();
    if (!fits || step.name[0] != '\0' || step.once) {
      throw ParseError(quoted(text) + ": a step has one name of at most 7 letters, at its front");
    }
    if (text == "once") {
      step.once = true;
      return;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!is_letter(text[i])) throw ParseError(quoted(text) + ": a step's name has letters only");
      step.name[i] = text[i];
    }
  }

  static void add(Step& step, const Element& element, std::string_view here) {
    if (step.elements.full()) {
      throw ParseError(quoted(here) + ": a step has at most " +
                       std::to_string(step.elements.capacity()) + " loops");
    }
    step.elements.push_back(element);
  }

  void body(int index, int depth) {
    Step& step = schedule_.steps[index];
    if (take("@")) {
      step.body = Body::call;
      do sum(step);
      while (take("+"));
    } else if (take("elt")) {
      step.body = Body::elt;
    } else if (take("{")) {
      step.body = Body::block;
      steps(depth + 1);
      if (!take("}")) throw ParseError("a block is not closed: '}' is missing");
      if (index + 1 == schedule_.steps.size()) throw ParseError("'{ }' has no step inside");
    } else if (!step.elements.empty() && step.elements.back().is_pack()) {
      step.body = Body::pack;
      step.pack = step.elements.back().pack;
      step.elements.pop_back();
    } else {
      throw ParseError((done() ? "the end" : quoted(word())) +
                       " stands where a step has its call '@ ...', pack, elt or { }");
    }
  }

  void sum(Step& step) {
    const std::string_view here = word();
    if (done() || !is_letter(here[0]) || is_upper(here[0])) {
      throw ParseError((done() ? "the end" : quoted(here)) + " is not a depth like c64");
    }
    if (step.sums.full()) throw ParseError(quoted(here) + ": a call has at most two sums");
    Sum sum{.axis = parse_axis(here[0], here), .depth = 1, .batch = {}};
    std::string_view rest = here.substr(1);
    sum.depth =
        static_cast<std::int32_t>(take_count(rest, "depth of " + std::string(here), kMostStep, 1));
    if (!rest.empty()) throw ParseError(quoted(here) + " is not a depth like c64");
    ++at_;
    if (take("*")) batch(sum);
    step.sums.push_back(sum);
  }

  void batch(Sum& sum) {
    while (!done() && word().size() == 1 && is_letter(word()[0])) {
      if (is_upper(word()[0]) || sum.batch.full()) {
        throw ParseError(quoted(word()) + ": behind * stand at most four lower-case axes");
      }
      sum.batch.push_back(parse_axis(word()[0], word()));
      ++at_;
    }
    if (sum.batch.empty()) throw ParseError("no axis stands behind '*'");
  }

  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  Schedule schedule_;
};

}  // namespace

Schedule parse_schedule(std::string_view text) { return Parser(text).schedule(); }

}  // namespace loopbrick
