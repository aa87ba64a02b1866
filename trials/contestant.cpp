#include "trials/contestant.h"

#include <exception>
#include <fmt/format.h>
#include <new>

#include "kernels/text.h"
#include "measure/quota.h"
#include "measure/sampler.h"

namespace loopbrick {
namespace {

/// Runs a piece of the arm's code; whatever it throws is the arm's fault.
template <typename Piece>
auto blame(const char* outcome, const Piece& piece) {
  try {
    return piece();
  } catch (const Failed&) {
    throw;
  } catch (const ParseError& error) {
    throw Failed{"not_applicable", error.what()};
  } catch (const std::bad_alloc&) {
    throw Failed{"out_of_memory", "an allocation failed"};
  } catch (const std::exception& error) {
    throw Failed{outcome, error.what()};
  } catch (...) {
    throw Failed{outcome, "it threw something that is no std::exception"};
  }
}

void require_memory(std::int64_t bytes, const char* what) {
  const auto available = available_memory();
  if (!available || bytes <= *available) return;
  throw Failed{"out_of_memory", fmt::format("{} of {} bytes do not fit into the {} that are free",
                                            what, bytes, *available)};
}

Runnable prepared_by(const Implementation& row, const Problem& problem, const std::string& choice,
                     const Conditions& conditions) {
  return blame("jit_failed", [&] {
    std::variant<Runnable, Refusal> result = row.prepare(problem, choice, conditions);
    if (const auto* const refusal = std::get_if<Refusal>(&result)) {
      throw Failed{"not_applicable", to_string(*refusal)};
    }
    return std::get<Runnable>(std::move(result));
  });
}

void describe(const Runnable& runnable, Attempt& attempt) {
  attempt.ran = runnable.implementation;
  attempt.included = runnable.included;
  attempt.flag = runnable.flag;
  attempt.executed_flops = runnable.executed_flops;
  attempt.workspace_bytes = runnable.workspace_bytes;
}

}  // namespace

Contestant::Contestant(const Arm& arm, int index, const Find& find, const Announce& announce)
    : arm_(arm), index_(index), find_(find), announce_(announce) {}

void Contestant::announce(std::string_view stage) { announce_(index_, stage); }

void Contestant::prepare(const Problem& problem, const Conditions& conditions, int copies) {
  announce("prepare");
  const Implementation* const row = blame("jit_failed", [&] { return find_(arm_.implementation); });
  if (row == nullptr) {
    throw Failed{"not_applicable", fmt::format("'{}' is no implementation", arm_.implementation)};
  }
  attempt.version = blame("jit_failed", row->version);
  require_memory(saturating_product(copies, total_bytes(problem)), "operands");
  const auto start = steady_now();
  copies_.push_back(prepared_by(*row, problem, arm_.choice, conditions));
  attempt.prepare_seconds = std::chrono::duration<double>(steady_now() - start).count();
  describe(copies_.front(), attempt);
  require_memory(saturating_product(copies, attempt.workspace_bytes), "a workspace");
  while (this->copies() < copies) {
    copies_.push_back(prepared_by(*row, problem, arm_.choice, conditions));
  }
}

void Contestant::load(const Arrays& arrays) {
  announce("load");
  blame("crashed", [&] {
    for (const Runnable& copy : copies_) copy.load(arrays);
  });
  next_ = 0;
}

void Contestant::call() {
  last_ = next_;
  next_ = (next_ + 1) % copies_.size();
  blame("crashed", [&] { copies_[last_].run(); });
}

void Contestant::unload(const Arrays& arrays) {
  announce("unload");
  blame("crashed", [&] { copies_[last_].unload(arrays); });
}

}  // namespace loopbrick
