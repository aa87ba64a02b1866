#include "trials/worker_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>

namespace loopbrick {
namespace {

/// Frees what posix_spawn was told.
struct SpawnOrders {
  SpawnOrders() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnOrders() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnOrders(const SpawnOrders&) = delete;
  SpawnOrders& operator=(const SpawnOrders&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

/// Nothing to read, and whatever a library prints goes to stderr: stdout is for results.
void order_standard_files(SpawnOrders& orders) {
  posix_spawn_file_actions_addopen(&orders.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&orders.files, STDERR_FILENO, STDOUT_FILENO);
}

/// Blocked from the first instruction on: a Ctrl-C before the worker ignores it does not end it,
/// which would look like a fault of the candidate.
void order_signals(SpawnOrders& orders) {
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : kForTheCaller) sigaddset(&blocked, signal);
  posix_spawnattr_setsigmask(&orders.attributes, &blocked);
  posix_spawnattr_setflags(&orders.attributes, POSIX_SPAWN_SETSIGMASK);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

/// Duplicating a descriptor onto itself keeps it open over exec.
pid_t spawn(const WorkerStart& start, int socket) {
  SpawnOrders orders;
  order_standard_files(orders);
  order_signals(orders);
  posix_spawn_file_actions_adddup2(&orders.files, socket, socket);
  for (const int kept : start.inherited) {
    posix_spawn_file_actions_adddup2(&orders.files, kept, kept);
  }
  const std::vector<std::string> arguments{"loopbrick", "worker", std::to_string(socket)};
  pid_t process = -1;
  const int error = posix_spawn(&process, start.program.c_str(), &orders.files, &orders.attributes,
                                pointers(arguments).data(), pointers(start.environment).data());
  if (error != 0) {
    throw std::system_error(error, std::generic_category(),
                            fmt::format("starting the worker '{}'", start.program));
  }
  return process;
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string signal_text(int signal) {
  const char* const name = sigabbrev_np(signal);
  const char* const words = sigdescr_np(signal);
  return fmt::format("SIG{} ({})", name == nullptr ? std::to_string(signal) : name,
                     words == nullptr ? "unknown signal" : words);
}

bool steers_a_library(std::string_view setting) {
  constexpr std::array<std::string_view, 9> kPrefixes{
      "OMP_", "GOMP_", "KMP_", "OPENBLAS_", "GOTO_", "MKL_", "DNNL_", "ONEDNN_", "LIBXSMM_"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return setting.starts_with(prefix); });
}

/// Does `setting` (NAME=VALUE) name the same variable as one of `others`?
bool is_set_in(std::string_view setting, const std::vector<std::string>& others) {
  const std::string_view name = setting.substr(0, setting.find('=') + 1);
  return std::any_of(others.begin(), others.end(),
                     [&](const std::string& other) { return other.starts_with(name); });
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerStart& start) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "making a socket for the worker");
  }
  channel_ = std::make_unique<Channel>(FileDescriptor(ends[0]));
  const FileDescriptor theirs(ends[1]);
  process_ = spawn(start, theirs.get());
}

WorkerProcess::~WorkerProcess() { kill(); }

void WorkerProcess::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  wait_for(process_);
  process_ = -1;
}

std::string WorkerProcess::cause_of_death() {
  if (process_ <= 0) return "it was ended";
  const int status = wait_for(process_);
  process_ = -1;
  was_killed_ = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (WIFSIGNALED(status)) return signal_text(WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

std::vector<std::string> worker_environment(const std::vector<std::string>& settings, bool keep) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view setting = *variable;
    const bool ours_wins = is_set_in(setting, settings);
    if (!ours_wins && (keep || !steers_a_library(setting))) all.emplace_back(setting);
  }
  all.insert(all.end(), settings.begin(), settings.end());
  return all;
}

}  // namespace loopbrick
