#include "cli/command_line.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>

#include "kernels/text.h"

namespace loopbrick {
namespace {

std::string example_text(const std::vector<std::string>& lines) {
  std::string text = lines.size() == 1 ? "Example:" : "Examples:";
  for (const std::string& line : lines) text += "\n  loopbrick " + line;
  return text;
}

CLI::Option* described(CLI::Option* option, const Argument& argument) {
  if (!argument.type.empty()) option->type_name(argument.type);
  if (!argument.standard.empty()) option->default_str(argument.standard);
  return option->required(argument.is_required);
}

/// With the variable's value as the default that help shows.
CLI::Option* with_value(CLI::Option* option, const Argument& argument) {
  if (!argument.is_required && argument.standard.empty()) option->capture_default_str();
  return described(option, argument);
}

/// A check that help does not spell out.
CLI::Validator silent(CLI::Validator check) { return check.description(""); }

/// CLI::Range lets it pass, since it is neither below nor above.
std::string refuse_nan(const std::string& text) {
  double value = 0.0;
  const bool is_nan = CLI::detail::lexical_cast(text, value) && std::isnan(value);
  return is_nan ? "'" + text + "' is not a number" : "";
}

/// What CLI11 reads as an unsigned number may have a sign, and wraps around.
std::string refuse_sign(const std::string& text) {
  return text.starts_with('-') ? "'" + text + "' is below 0" : "";
}

template <typename Number>
void add_number(CLI::App& app, const Argument& argument, Number& value, Bounds bounds) {
  const auto least = static_cast<Number>(bounds.least);
  const auto most = static_cast<Number>(bounds.most);
  with_value(app.add_option(argument.name, value, argument.help), argument)
      ->check(silent(CLI::Range(least, most)))
      ->check(refuse_nan, "");
}

ArgumentFacts argument_facts(const CLI::Option& option) {
  const bool is_positional = option.get_positional();
  const bool is_flag = option.get_items_expected_max() == 0;
  return {.name = option.get_name(is_positional, true),
          .help = option.get_description(),
          .type = is_flag ? std::string() : option.get_type_name(),
          .standard = is_flag ? std::string() : option.get_default_str(),
          .is_positional = is_positional,
          .is_required = option.get_required()};
}

/// The lines of example_text.
std::vector<std::string> examples_in(const std::string& footer) {
  std::vector<std::string> lines;
  std::istringstream text(footer);
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("  ")) lines.push_back(line.substr(2));
  }
  return lines;
}

std::string shell_quoted(std::string_view argument) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(argument);
  }
  std::string text = "'";
  for (const char letter : argument) {
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return text + "'";
}

}  // namespace

void Command::add(const Argument& argument, std::string& value) {
  with_value(app_.add_option(argument.name, value, argument.help), argument);
}

void Command::add(const Argument& argument, std::string& value,
                  const std::vector<std::string>& choices) {
  with_value(app_.add_option(argument.name, value, argument.help), argument)
      ->check(silent(CLI::IsMember(choices)));
  choices_[app_.get_name() + " " + argument.name] = choices;
}

void Command::add(const Argument& argument, std::optional<std::string>& value) {
  const auto take = [&value](const std::string& text) { value = text; };
  described(app_.add_option_function<std::string>(argument.name, take, argument.help), argument);
}

void Command::add(const Argument& argument, std::vector<std::string>& values) {
  CLI::Option* option = described(app_.add_option(argument.name, values, argument.help), argument);
  if (argument.name.starts_with("-")) option->take_all()->allow_extra_args(false);
}

void Command::add(const Argument& argument, int& value, Bounds bounds) {
  add_number(app_, argument, value, bounds);
}

void Command::add(const Argument& argument, std::int64_t& value, Bounds bounds) {
  add_number(app_, argument, value, bounds);
}

void Command::add(const Argument& argument, std::uint64_t& value) {
  with_value(app_.add_option(argument.name, value, argument.help), argument)
      ->check(refuse_sign, "");
}

void Command::add(const Argument& argument, double& value, Bounds bounds) {
  add_number(app_, argument, value, bounds);
}

void Command::add_flag(const std::string& name, const std::string& help, bool& value) {
  app_.add_flag(name, value, help);
}

void Command::examples(const std::vector<std::string>& lines) { app_.footer(example_text(lines)); }

void Command::hide() { app_.group(""); }

void Command::runs(std::function<ExitCode()> action) {
  app_.callback([action = std::move(action), &exit = exit_] { exit = action(); });
}

CommandLine::CommandLine(std::string version, std::vector<std::string> arguments)
    : arguments_(std::move(arguments)),
      app_(std::make_unique<CLI::App>(
          "Loop nests around one batch-reduce GEMM kernel: tuned, checked and compared",
          "loopbrick")) {
  app_->require_subcommand(1);
  app_->set_version_flag("--version", std::move(version),
                         "Version, commit, compiler and kind of build");
}

CommandLine::~CommandLine() = default;

Command CommandLine::add_command(const std::string& name, const std::string& sentence) {
  return {*app_->add_subcommand(name, sentence), exit_, choices_};
}

void CommandLine::examples(const std::vector<std::string>& lines) {
  app_->footer(example_text(lines));
}

std::vector<CommandFacts> CommandLine::facts() const {
  std::vector<CommandFacts> all;
  for (const CLI::App* command : app_->get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    all.push_back({.name = command->get_name(), .sentence = command->get_description()});
    CommandFacts& facts = all.back();
    for (const CLI::Option* option : command->get_options())
      facts.arguments.push_back(argument_facts(*option));
    for (ArgumentFacts& argument : facts.arguments) {
      const auto choices = choices_.find(facts.name + " " + argument.name);
      if (choices != choices_.end()) argument.choices = choices->second;
    }
    facts.examples = examples_in(command->get_footer());
  }
  return all;
}

std::string CommandLine::text() const {
  std::string text = "loopbrick";
  for (const std::string& argument : arguments_) text += " " + shell_quoted(argument);
  return text;
}

ExitCode CommandLine::run() {
  check_name();
  try {
    std::vector<std::string> reversed(arguments_.rbegin(), arguments_.rend());  // as CLI11 wants it
    app_->parse(reversed);
  } catch (const CLI::Success& success) {
    app_->exit(success);  // prints help or version
    return ExitCode::fine;
  } catch (const CLI::ParseError& error) {
    throw ParseError(std::string(error.what()) + " (see --help)");
  }
  return exit_;
}

/// CLI11 would only say that there is no subcommand.
void CommandLine::check_name() const {
  if (arguments_.empty() || arguments_[0].starts_with("-")) return;
  std::string names;
  for (const CLI::App* command : app_->get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == arguments_[0]) return;
    if (!command->get_group().empty()) names += " " + command->get_name();
  }
  throw ParseError("'" + arguments_[0] + "' is not a command; there are" + names);
}

}  // namespace loopbrick
