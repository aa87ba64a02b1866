#include "trials/worker_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/time.h>
#include <system_error>

namespace loopbrick {
namespace {

using std::chrono::milliseconds;

bool contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// Two channels that are connected.
std::pair<Channel, Channel> connected() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
  return {Channel(FileDescriptor(ends[0])), Channel(FileDescriptor(ends[1]))};
}

Channel::Deadline soon() { return std::chrono::steady_clock::now() + milliseconds(50); }

TEST(Channel, KeepsMessagesApart) {
  auto [left, right] = connected();
  ASSERT_TRUE(left.send({"first", {std::string(200'000, 'x').substr(0, 100'000)}}));
  ASSERT_TRUE(left.send({"second", {}}));
  Message message;
  ASSERT_EQ(right.receive(message), Channel::Got::message);
  EXPECT_EQ(message.fields.at(0).size(), 100'000U);
  ASSERT_EQ(right.receive(message), Channel::Got::message);
  EXPECT_EQ(message.verb, "second");
}

TEST(Channel, TellsLateFromClosed) {
  auto [left, right] = connected();
  Message message;
  EXPECT_EQ(right.receive(message, soon()), Channel::Got::late);
  { const Channel gone = std::move(left); }
  EXPECT_EQ(right.receive(message, soon()), Channel::Got::closed);
  EXPECT_FALSE(right.send({"hello", {}}));
}

TEST(Channel, WaitsThroughSignals) {
  auto [left, right] = connected();
  struct sigaction action {};
  action.sa_handler = [](int) {};  // no SA_RESTART: poll returns EINTR
  struct sigaction before {};
  sigaction(SIGALRM, &action, &before);
  const itimerval often{.it_interval = {0, 5000}, .it_value = {0, 5000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  Message message;
  EXPECT_EQ(right.receive(message, soon()), Channel::Got::late);
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}

TEST(WorkerEnvironment, LeavesOutWhatSteersLibraries) {
  setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  setenv("OMP_NUM_THREADS", "77", 1);
  setenv("LOOPBRICK_HARMLESS", "1", 1);
  const std::vector<std::string> clean = worker_environment({"OMP_NUM_THREADS=2"}, false);
  EXPECT_TRUE(contains(clean, "OMP_NUM_THREADS=2"));
  EXPECT_FALSE(contains(clean, "OMP_NUM_THREADS=77"));
  EXPECT_FALSE(contains(clean, "OPENBLAS_CORETYPE=Prescott"));
  EXPECT_TRUE(contains(clean, "LOOPBRICK_HARMLESS=1"));
  const std::vector<std::string> kept = worker_environment({"OMP_NUM_THREADS=2"}, true);
  EXPECT_TRUE(contains(kept, "OPENBLAS_CORETYPE=Prescott"));
  EXPECT_FALSE(contains(kept, "OMP_NUM_THREADS=77"));
}

TEST(WorkerProcess, AProgramThatIsNotThereIsNamed) {
  try {
    const WorkerProcess worker({.program = "/no/such/worker", .environment = {}, .inherited = {}});
    FAIL() << "started";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/worker"), std::string::npos);
  }
}

TEST(WorkerProcess, SaysWhatItDiedOf) {
  WorkerProcess worker({.program = "/bin/false", .environment = {}, .inherited = {}});
  Message message;
  EXPECT_EQ(worker.channel().receive(message), Channel::Got::closed);
  EXPECT_EQ(worker.cause_of_death(), "exit code 1");
}

}  // namespace
}  // namespace loopbrick
