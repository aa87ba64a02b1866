#include "cli/interrupt.h"

#include <csignal>

namespace loopbrick {
namespace {

// A signal handler can reach nothing but this.
std::atomic<bool> stop_asked{false};

void ask_to_stop(int signal) {
  stop_asked = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_for_interrupts() {
  static const bool installed = [] {
    std::signal(SIGINT, ask_to_stop);
    std::signal(SIGTERM, ask_to_stop);
    if (std::signal(SIGHUP, ask_to_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
    return true;
  }();
  static_cast<void>(installed);
}

const std::atomic<bool>& interrupted() { return stop_asked; }

}  // namespace loopbrick
