#pragma once
#include <array>
#include <csignal>
#include <memory>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "trials/channel.h"

namespace loopbrick {

/// Signals that a terminal or a batch system sends to the whole process group: the caller decides
/// what they mean, and the worker goes on until it is told.
inline constexpr std::array kForTheCaller{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// What a worker is started with.
struct WorkerStart {
  std::string program;
  std::vector<std::string> environment;  ///< NAME=VALUE
  std::vector<int> inherited;            ///< descriptors that keep their numbers
};

/// A running `program worker FD` and the socket to it. Killed when destroyed.
///
/// Errors   the constructor throws std::system_error when the program cannot be started.
class WorkerProcess {
 public:
  explicit WorkerProcess(const WorkerStart& start);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&&) = delete;

  Channel& channel() { return *channel_; }

  /// Ends it at once.
  void kill();

  /// Of a worker that closed its socket: what it died of, e.g. "SIGSEGV (Segmentation fault)".
  std::string cause_of_death();

  /// Was it the kernel that ran out of memory? Known after cause_of_death.
  bool was_killed() const { return was_killed_; }

 private:
  pid_t process_ = -1;
  bool was_killed_ = false;
  std::unique_ptr<Channel> channel_;
};

/// The environment of a worker: this process's without what steers OpenMP and the libraries behind
/// the baselines (unless `keep`), and then `settings`, which win.
std::vector<std::string> worker_environment(const std::vector<std::string>& settings, bool keep);

}  // namespace loopbrick
