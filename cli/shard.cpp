#include "cli/shard.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <vector>

#include "kernels/text.h"
#include "problems/operands.h"

namespace loopbrick {
namespace {

constexpr int kMost = 1'000'000;

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end || value < 0 || value > kMost) return {};
  return value;
}

/// Errors  throws ParseError if it is set to something else.
std::optional<int> number_in(const Variable& variable, const char* name) {
  const auto text = variable(name);
  if (!text) return std::nullopt;
  const auto number = whole_number(*text);
  if (!number) throw ParseError(fmt::format("--shard auto: {}='{}' is no number", name, *text));
  return number;
}

/// Names of what a launcher sets: the number of this process, from 0, and how many there are.
struct Ranks {
  const char* rank;
  const char* size;
};

// MPI before Slurm: all processes that mpirun starts inside of a job see the job's SLURM_PROCID.
constexpr Ranks kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                {"PMI_RANK", "PMI_SIZE"},
                                {"SLURM_PROCID", "SLURM_NTASKS"}};

std::optional<Shard> by_processes(const Variable& variable) {
  for (const Ranks& launcher : kLaunchers) {
    const auto rank = number_in(variable, launcher.rank);
    const auto size = number_in(variable, launcher.size);
    if (rank && size) return Shard{.number = *rank + 1, .of = *size};
  }
  return std::nullopt;
}

std::optional<Shard> by_array(const Variable& variable) {
  const auto id = number_in(variable, "SLURM_ARRAY_TASK_ID");
  const auto count = number_in(variable, "SLURM_ARRAY_TASK_COUNT");
  if (!id || !count) return std::nullopt;
  const int least = number_in(variable, "SLURM_ARRAY_TASK_MIN").value_or(0);
  const int step = std::max(1, number_in(variable, "SLURM_ARRAY_TASK_STEP").value_or(1));
  return Shard{.number = (*id - least) / step + 1, .of = *count};
}

bool is_possible(const Shard& shard) {
  return shard.number >= 1 && shard.number <= shard.of && shard.of <= kMost;
}

Shard by_launcher(const Variable& variable) {
  const auto job = by_array(variable);
  const auto process = by_processes(variable);
  if (!job && !process) {
    throw ParseError(
        "--shard auto: neither mpirun nor srun nor a Slurm array started this program; say which "
        "part it is, like --shard 1/4");
  }
  const Shard outer = job.value_or(Shard{});
  const Shard inner = process.value_or(Shard{});
  if (is_possible(outer) && is_possible(inner) && outer.of <= kMost / inner.of) {
    return {.number = (outer.number - 1) * inner.of + inner.number, .of = outer.of * inner.of};
  }
  throw ParseError(fmt::format("--shard auto: the launcher says process {} of {} in job {} of {}",
                               inner.number, inner.of, outer.number, outer.of));
}

double work(const NamedProblem& named) {
  return flops(named.problem) * static_cast<double>(named.multiplicity);
}

/// Which part each problem goes to, counted from 0.
std::vector<std::size_t> deal(const std::vector<NamedProblem>& problems, int parts) {
  std::vector<std::size_t> order(problems.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return work(problems[left]) > work(problems[right]);
  });
  std::vector<double> load(static_cast<std::size_t>(parts));
  std::vector<std::size_t> part(problems.size());
  for (const std::size_t i : order) {
    const auto least = std::min_element(load.begin(), load.end());  // the first of equal ones
    *least += work(problems[i]);
    part[i] = static_cast<std::size_t>(least - load.begin());
  }
  return part;
}

}  // namespace

std::optional<std::string> environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Shard parse_shard(std::string_view text, const Variable& variable) {
  if (text == "auto") return by_launcher(variable);
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const Shard shard{.number = whole_number(text.substr(0, slash)).value_or(0),
                      .of = whole_number(text.substr(slash + 1)).value_or(0)};
    if (is_possible(shard)) return shard;
  }
  throw ParseError(
      fmt::format("--shard '{}' is neither auto nor a part like 1/4, 2/4, 3/4 or 4/4", text));
}

What part_of(const What& what, const Shard& shard) {
  const std::vector<std::size_t> part = deal(what.problems, shard.of);
  What own{.problems = {}, .refused = what.refused};
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] + 1 == static_cast<std::size_t>(shard.number))
      own.problems.push_back(what.problems[i]);
  }
  return own;
}

std::string part_name(const std::string& file, const Shard& shard) {
  const std::filesystem::path path(file);
  const std::string name = fmt::format("{}-{}of{}{}", path.stem().string(), shard.number, shard.of,
                                       path.extension().string());
  return (path.parent_path() / name).string();
}

}  // namespace loopbrick
