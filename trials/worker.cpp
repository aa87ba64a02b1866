// The worker's side. One request, one answer; before an arm's code runs, a "stage" message says
// which, so that the client knows what a dead worker died of. The client ends the worker by closing
// the socket, or by killing it.
#include "trials/worker.h"

#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "measure/quota.h"
#include "measure/system_files.h"
#include "trials/attempt_text.h"
#include "trials/channel.h"
#include "trials/network_request.h"
#include "trials/request.h"
#include "trials/worker_process.h"

namespace loopbrick {
namespace {

/// More address space than what is mapped now and what is free could only end in swapping or in
/// the system killing somebody: an allocation that fails becomes an outcome.
void limit_memory(int threads) {
  const auto available = available_memory();
  std::istringstream mapped(field(read_text("/proc/self/status").value_or(""), "VmSize"));
  std::int64_t kibibytes = 0;
  if (!available || !(mapped >> kibibytes)) return;
  const std::int64_t stacks_and_arenas = (std::int64_t{1} << 30) + (std::int64_t{threads} << 27);
  const auto limit = static_cast<rlim_t>(kibibytes * 1024 + *available + stacks_and_arenas);
  rlimit now{};
  if (getrlimit(RLIMIT_AS, &now) != 0 || now.rlim_cur <= limit) return;
  now.rlim_cur = limit;
  setrlimit(RLIMIT_AS, &now);
}

/// Dies with the client, leaves no core file, is the first to go when memory runs out. Ctrl-C
/// reaches the whole process group: the client decides when the worker ends.
void behave_as_worker() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : kForTheCaller) std::signal(signal, SIG_IGN);
  const rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
  std::ofstream("/proc/self/oom_score_adj") << 1000;
}

void apply_conditions(const Conditions& conditions) {
  limit_memory(conditions.threads);
  if (conditions.pages == Pages::small) prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

class Worker {
 public:
  Worker(int socket, const Find& find) : channel_(FileDescriptor(socket)), find_(find) {}

  void serve() {
    Message request;
    while (channel_.receive(request) == Channel::Got::message) {
      try {
        answer(request);
      } catch (const std::exception& error) {
        channel_.send({.verb = "failed", .fields = {error.what()}});
      }
    }
  }

 private:
  void answer(const Message& request) {
    if (request.verb == "setup") {
      set_up(request);
    } else if (request.verb == "network") {
      network(read_network(request));
    } else if (!examiner_) {
      throw std::runtime_error("the worker was asked to '" + request.verb + "' before 'setup'");
    } else if (request.verb == "fill") {
      fill(request);
    } else if (request.verb == "check") {
      channel_.send(attempt_message(examiner_->check(read_check(request), announce())));
    } else if (request.verb == "attempt") {
      attempt(read_attempt_request(request));
    } else if (request.verb == "count") {
      count(read_count_request(request));
    } else if (request.verb == "rounds") {
      rounds(read_rounds_request(request));
    } else {
      throw std::runtime_error("the worker does not know '" + request.verb + "'");
    }
  }

  void set_up(const Message& request) {
    Examination examination = read_setup(request);
    apply_conditions(examination.conditions);
    examiner_.emplace(std::move(examination), find_);
    channel_.send({.verb = "ready", .fields = {}});
  }

  void fill(const Message& request) {
    const double seconds = examiner_->fill(static_cast<std::size_t>(Fields(request).count()));
    channel_.send({.verb = "filled", .fields = {number_text(seconds)}});
  }

  void attempt(const AttemptRequest& request) {
    channel_.send(attempt_message(examiner_->attempt(request.arm, request.sampling, announce())));
  }

  void network(const NetworkRequest& request) {
    apply_conditions(request.network.conditions);
    send(time_network_here(request.network, request.ways, request.share, find_, announce()));
  }

  void count(const CountRequest& request) {
    const Counted done = examiner_->count(request.arm, request.seconds, announce());
    channel_.send(attempt_message(done.attempt));
    channel_.send(readings_message(done.readings));
  }

  void rounds(const RoundsRequest& request) {
    send(examiner_->rounds(request.arms, request.share, announce()));
  }

  void send(const Rounds& done) {
    for (const Attempt& arm : done.arms) channel_.send(attempt_message(arm));
    Message peaks{.verb = "peaks", .fields = {}};
    for (const double peak : done.peak_flops) peaks.fields.push_back(number_text(peak));
    channel_.send(peaks);
  }

  Announce announce() {
    return [this](int arm, std::string_view stage) {
      channel_.send({.verb = "stage", .fields = {std::to_string(arm), std::string(stage)}});
    };
  }

  Channel channel_;
  const Find& find_;
  std::optional<Examiner> examiner_;
};

}  // namespace

int serve(int socket, const Find& find) {
  behave_as_worker();
  Worker(socket, find).serve();
  return 0;
}

int worker_main(int socket, std::span<const Implementation> table) {
  return serve(socket, [table](std::string_view name) -> const Implementation* {
    for (const Implementation& row : table) {
      if (row.name == name) return &row;
    }
    return nullptr;
  });
}

}  // namespace loopbrick
