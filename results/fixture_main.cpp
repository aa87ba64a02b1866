// A writer of databases for tests that need a process of its own: to be killed, to compete, to run
// out of disk, or to be another user; and for the plots' tests.
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "results/fixture.h"

namespace loopbrick {
namespace {

using Arguments = std::vector<std::string>;

int write_plausible(const Arguments& arguments) {  // FILE PASSES OTHERS, both separated by commas
  const auto split = [](const std::string& text) {
    Arguments parts{""};
    for (const char c : text) c == ',' ? parts.emplace_back() : parts.back() += c;
    return parts;
  };
  Store store(arguments.at(0), Access::write);
  write_fixture(store, split(arguments.at(1)), split(arguments.at(2)));
  return 0;
}

int write_trials(const Arguments& arguments) {  // FILE COUNT NAME: prints each id once it is safe
  Store store(arguments.at(0), Access::write);
  store.add_machine(fixture_machine());
  store.add_build(fixture_build());
  const auto campaign = store.add_campaign(fixture_campaign("write " + arguments.at(2)));
  for (int i = 0; i < std::stoi(arguments.at(1)); ++i) {
    fmt::print("{}\n", store.add_trial(fixture_trial(
                           campaign, fmt::format("{} {}", arguments.at(2), i), 1e-3)));
    std::fflush(stdout);
  }
  return 0;
}

int write_limited(
    const Arguments& arguments) {  // BYTES FILE COUNT NAME: no file may grow beyond BYTES
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = std::stoul(arguments.at(0)),
                     .rlim_max = std::stoul(arguments.at(0))};
  setrlimit(RLIMIT_FSIZE, &limit);
  return write_trials({arguments.begin() + 1, arguments.end()});
}

int open_as_nobody(const Arguments& arguments) {  // FILE read|write: prints the number of trials
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && setuid(kNobody) != 0) return 1;
  const Store store(arguments.at(0), arguments.at(1) == "write" ? Access::write : Access::read);
  fmt::print("{}\n", store.query("SELECT count(*) FROM trial").rows.at(0).at(0).value());
  return 0;
}

int run(const std::string& verb, const Arguments& arguments) {
  if (verb == "plausible") return write_plausible(arguments);
  if (verb == "trials") return write_trials(arguments);
  if (verb == "limited") return write_limited(arguments);
  if (verb == "nobody") return open_as_nobody(arguments);
  return 1;
}

}  // namespace
}  // namespace loopbrick

int main(int argc, char** argv) {
  try {
    return argc < 2 ? 1 : loopbrick::run(argv[1], {argv + 2, argv + argc});
  } catch (const loopbrick::BadDatabase& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  } catch (const loopbrick::WorldFailure& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 5;
  }
}
