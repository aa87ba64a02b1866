#include "problems/batch_file.h"

#include <algorithm>
#include <fmt/format.h>

#include "problems/batch_settings.h"
#include "problems/shape_text.h"
#include "problems/text_file.h"

namespace loopbrick {
namespace {

constexpr int kDeepest = 8;  ///< files that include files

template <typename Value>
std::vector<Value> or_else(std::vector<Value> values, Value otherwise) {
  if (values.empty()) values.push_back(otherwise);
  return values;
}

/// What the command line replaces is what it says from now on.
void apply(BatchSettings& settings, const BatchOptions& options) {
  if (!options.passes.empty()) settings.directions.clear();
  for (const Pass pass : options.passes) settings.directions.push_back({.pass = pass});
  if (!options.types.empty()) settings.types = options.types;
  if (!options.minibatches.empty()) settings.minibatches = options.minibatches;
}

std::string with_gemm_options(std::string_view shape, std::int64_t batch,
                              const std::string& leading) {
  std::string text(shape);
  if (batch >= 0) text += fmt::format("bs{}", batch);
  if (!leading.empty()) text += "ld" + leading;
  return text;
}

/// A minibatch in place of the shape's own, checked like a typed one.
Problem with_minibatch(Problem problem, std::int64_t minibatch) {
  if (minibatch == 0) return problem;
  if (auto* conv = std::get_if<Conv>(&problem.shape)) conv->n = minibatch;
  if (auto* fc = std::get_if<Fc>(&problem.shape)) fc->n = minibatch;
  if (auto* lstm = std::get_if<Lstm>(&problem.shape)) lstm->n = minibatch;
  return parse_problem(to_string(problem));
}

/// One of the combinations that an option line asks for.
struct Combination {
  DType type;
  Direction direction;
  std::int64_t minibatch;
  std::int64_t batch;  ///< -1: the shape's own
  std::string leading;
};

std::vector<Combination> combinations(const BatchSettings& settings,
                                      const ProblemDefaults& defaults) {
  std::vector<Combination> all;
  for (const DType type : or_else(settings.types, defaults.type)) {
    for (const Direction& direction :
         or_else(settings.directions, Direction{.pass = defaults.pass})) {
      for (const std::int64_t minibatch : or_else<std::int64_t>(settings.minibatches, 0)) {
        for (const std::int64_t batch : or_else<std::int64_t>(settings.batches, -1)) {
          for (const std::string& leading : or_else<std::string>(settings.leading, "")) {
            all.push_back({type, direction, minibatch, batch, leading});
          }
        }
      }
    }
  }
  return all;
}

class BatchReader {
 public:
  explicit BatchReader(const BatchOptions& options) : options_(options) {}

  void read(std::string_view name, std::string_view text, const std::filesystem::path& folder) {
    if (++depth_ > kDeepest)
      throw ParseError(fmt::format("{} is included {} files deep", name, kDeepest));
    std::int64_t number = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      read_line(fmt::format("{}:{}", name, ++number), text.substr(0, end), folder);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    --depth_;
  }

  std::vector<BatchEntry> take_entries() { return std::move(entries_); }

 private:
  void read_line(const std::string& place, std::string_view line,
                 const std::filesystem::path& folder) {
    constexpr std::string_view kBlanks = " \t\r";
    for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
      const std::string_view token = line.substr(begin, end - begin);
      if (token.starts_with('#')) return;
      read_token(place, token, folder);
      begin = line.find_first_not_of(kBlanks, end);
    }
  }

  void read_token(const std::string& place, std::string_view token,
                  const std::filesystem::path& folder) {
    constexpr std::string_view kInclude = "--batch=";
    if (token.starts_with(kInclude)) return include(place, folder / token.substr(kInclude.size()));
    try {
      if (token.starts_with("--")) {
        settings_.take(token);
      } else {
        read_shape(place, token);
      }
    } catch (const ParseError& error) {
      throw ParseError(fmt::format("{}: {}", place, error.what()));
    }
  }

  void include(const std::string& place, const std::filesystem::path& file) {
    std::string text;
    try {
      text = read_text_file(file);
    } catch (const ParseError& error) {
      throw ParseError(fmt::format("{}: {}", place, error.what()));
    }
    read(file.filename().string(), text, file.parent_path());
  }

  void read_shape(const std::string& place, std::string_view shape) {
    BatchSettings settings = settings_;
    apply(settings, options_);
    const ProblemName name = parse_problem_name(shape).value_or(ProblemName{place});
    const std::vector<LayerTexts> layers = layers_of(settings, shape);
    for (const Combination& combination : combinations(settings, options_.defaults)) {
      for (const LayerTexts& layer : layers) {
        entries_.push_back({.name = name.name.empty() ? place : name.name,
                            .multiplicity = name.multiplicity * layer.count,
                            .problem = make_problem(settings, layer.text, combination)});
      }
    }
  }

  /// A shape of an LSTM may stand for several layers; two directions of a stack read each other's
  /// results, which no layer does: that stays a stack.
  std::vector<LayerTexts> layers_of(const BatchSettings& settings, std::string_view shape) const {
    if (parse_kind(options_.defaults.kind) != "lstm") return {{std::string(shape), 1}};
    const std::string_view sizes = shape.substr(0, shape.find("n\""));
    std::vector<LayerTexts> layers = split_lstm_stack(sizes);
    if (settings.lstm_directions == 1) return layers;
    const bool is_stack = layers.size() > 1 || layers.front().count > 1;
    if (is_stack) return {{std::string(sizes), 1}};
    layers.front().count = settings.lstm_directions;
    return layers;
  }

  std::variant<Problem, std::string> make_problem(const BatchSettings& settings,
                                                  std::string_view shape,
                                                  const Combination& combination) const {
    if (!settings.refusals.empty()) return settings.refusals.begin()->second;
    const Pass pass = combination.direction.pass;
    if (settings.activation != Activation::none && (pass == Pass::bwd_d || pass == Pass::bwd_w))
      return "benchdnn's post-ops belong to the forward pass";
    ProblemDefaults defaults = options_.defaults;
    defaults.type = combination.type;
    defaults.pass = pass;
    if (settings.layout != Layout::blocked) defaults.layout = settings.layout;
    std::string text = with_gemm_options(shape, combination.batch, combination.leading);
    if (combination.direction.bias) text += "+bias";
    if (settings.activation != Activation::none)
      text += "+" + std::string(to_string(settings.activation));
    try {
      return with_minibatch(parse_problem(text, defaults), combination.minibatch);
    } catch (const UnsupportedProblem& reason) {
      return std::string(reason.what());
    } catch (const ParseError& error) {
      throw ParseError(
          fmt::format("{} (read as {}; --kind says otherwise)", error.what(), defaults.kind));
    }
  }

  const BatchOptions& options_;
  BatchSettings settings_;
  std::vector<BatchEntry> entries_;
  int depth_ = 0;
};

}  // namespace

std::vector<BatchEntry> parse_batch(std::string_view name, std::string_view text,
                                    const std::filesystem::path& folder,
                                    const BatchOptions& options) {
  BatchReader reader(options);
  reader.read(name, text, folder);
  return reader.take_entries();
}

std::vector<BatchEntry> load_batch(const std::filesystem::path& file, const BatchOptions& options) {
  return parse_batch(file.filename().string(), read_text_file(file), file.parent_path(), options);
}

}  // namespace loopbrick
