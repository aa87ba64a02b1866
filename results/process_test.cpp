// What only other processes can show: kill -9, two writers at once, a full disk, another user.
#include <gtest/gtest.h>

#include <SQLiteCpp/Database.h>
#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <random>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>

#include "results/check.h"
#include "results/fixture.h"
#include "results/test_folder.h"

extern char** environ;

namespace loopbrick {
namespace {

/// A running results_fixture whose standard output we read.
class Writer {
 public:
  explicit Writer(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), RESULTS_FIXTURE);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    const int code = posix_spawn(&pid_, RESULTS_FIXTURE, &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    out_ = fdopen(ends[0], "r");
    if (code != 0) throw std::runtime_error("no " RESULTS_FIXTURE);
  }
  ~Writer() {
    std::fclose(out_);
    if (pid_ != 0) wait();
  }
  Writer(const Writer&) = delete;

  std::string line() {
    std::string text;
    for (int c = std::fgetc(out_); c != EOF && c != '\n'; c = std::fgetc(out_))
      text += static_cast<char>(c);
    return text;
  }
  std::vector<std::string> rest() {
    std::vector<std::string> lines;
    for (std::string next = line(); !next.empty(); next = line()) lines.push_back(next);
    return lines;
  }
  void kill() const { ::kill(pid_, SIGKILL); }

  /// The exit code, or minus the signal.
  int wait() {
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  std::FILE* out_ = nullptr;
};

class Processes : public TestFolder {
 protected:
  std::string file() const { return path("results.db").string(); }
  std::string value(const std::string& sql) const {
    return Store(file(), Access::read).query(sql).rows.at(0).at(0).value_or("NULL");
  }
  void expect_whole(std::size_t trials) const {
    EXPECT_EQ(value("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(value("SELECT count(*) FROM trial"), std::to_string(trials));
    EXPECT_EQ(value("SELECT count(*) FROM sample"), std::to_string(3 * trials));
  }
};

/// At whatever instant it comes: while the file is made, within a transaction, between two. More of
/// them: --gtest_repeat.
TEST_F(Processes, AKillLosesNoTrialThatWasReported) {
  constexpr int kKills = 20;
  std::random_device seed;
  std::uniform_int_distribution<int> microseconds(0, 60000);
  std::size_t reported = 0;
  for (int i = 0; i < kKills; ++i) {
    Writer writer({"trials", file(), "1000000", "kill" + std::to_string(i)});
    if (i % 4 > 0) reported = std::max(reported, std::stoul("0" + writer.line()));
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(seed)));
    writer.kill();
    for (const auto& id : writer.rest()) reported = std::max(reported, std::stoul("0" + id));
    EXPECT_EQ(writer.wait(), -SIGKILL);
    const Store survivor(file(), Access::write);  // and writing goes on
    EXPECT_EQ(survivor.query("PRAGMA integrity_check").rows[0][0], "ok");
    EXPECT_GE(std::stoul(survivor.query("SELECT count(*) FROM trial").rows[0][0].value()),
              reported);
  }
  EXPECT_GT(reported, static_cast<std::size_t>(kKills) / 2);
  EXPECT_EQ(value("SELECT max(id) - count(*) FROM trial"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM trial WHERE (SELECT count(*) FROM sample WHERE trial = "
                  "trial.id) <> 3"),
            "0");
  EXPECT_EQ(value("SELECT count(*) FROM campaign WHERE ended IS NOT NULL"), "0");
  for (const Finding& finding : check_database(file()))
    EXPECT_EQ(finding.faults, 0) << finding.check << ": " << finding.example;
}

TEST_F(Processes, TwoWritersBothSucceed) {
  {
    Writer one({"trials", file(), "150", "one"});  // neither has made the file yet
    Writer two({"trials", file(), "150", "two"});
    EXPECT_EQ(one.rest().size(), 150U);
    EXPECT_EQ(two.rest().size(), 150U);
    EXPECT_EQ(one.wait(), 0);
    EXPECT_EQ(two.wait(), 0);
  }
  expect_whole(300);
  EXPECT_EQ(value("SELECT count(DISTINCT choice) FROM trial"), "300");
}

/// Looking at the file anew must not drop the locks of a connection that is open already.
TEST_F(Processes, AnotherProgramThatClosesLeavesTheLogOfAnOpenStore) {
  { const Store made(file(), Access::write); }  // the next one looks at a header
  Store store(file(), Access::write);
  store.add_machine(fixture_machine());
  store.query("SELECT count(*) FROM machine");
  Writer other({"trials", file(), "1", "other"});
  EXPECT_EQ(other.line(), "1");
  EXPECT_EQ(other.wait(), 0);
  EXPECT_TRUE(std::filesystem::exists(file() + "-wal"));
}

TEST_F(Processes, TheSecondToOpenANewFileWaitsForTheFirst) {
  SQLite::Database first(file(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  first.exec("BEGIN IMMEDIATE");
  first.exec("CREATE TABLE first(x)");
  Writer second({"trials", file(), "1", "second"});
  std::this_thread::sleep_for(
      std::chrono::milliseconds(300));  // it is waiting by now, and holds nothing
  first.exec("COMMIT");
  EXPECT_EQ(second.line(), "1");
  EXPECT_EQ(second.wait(), 0);
}

TEST_F(Processes, AReaderDoesNotStopAWriter) {
  Writer writer({"trials", file(), "100", "written"});
  writer.line();
  const Store reader(file(), Access::read);
  for (int i = 0; i < 50; ++i)
    EXPECT_FALSE(reader.query("SELECT count(*) FROM trial").rows.empty());
  EXPECT_EQ(writer.rest().size(), 99U);
  EXPECT_EQ(writer.wait(), 0);
}

TEST_F(Processes, AFullDiskIsReportedAndKeepsWhatWasStored) {
  Store(file(), Access::write);
  Writer writer({"limited", "300000", file(), "1000000", "limited"});
  std::vector<std::string> lines = writer.rest();
  EXPECT_EQ(writer.wait(), 5);
  ASSERT_GT(lines.size(), 1U);
  EXPECT_NE(lines.back().find(file()), std::string::npos) << lines.back();
  expect_whole(lines.size() - 1);
}

TEST_F(Processes, AFullDiskAtTheStartIsReported) {
  Writer writer({"limited", "10000", file(), "1", "limited"});
  EXPECT_NE(writer.line().find(file()), std::string::npos);
  EXPECT_EQ(writer.wait(), 5);
}

bool everybody_can_enter(std::filesystem::path folder) {
  for (; folder != folder.root_path(); folder = folder.parent_path()) {
    const auto rights = std::filesystem::status(folder).permissions();
    if ((rights & std::filesystem::perms::others_exec) == std::filesystem::perms::none)
      return false;
  }
  const auto rights = std::filesystem::status(folder).permissions();
  return (rights & std::filesystem::perms::others_exec) != std::filesystem::perms::none;
}

/// As root this runs as nobody; as anyone else the folder's permissions are enough.
TEST_F(Processes, AFileInAFolderOfAnotherUserCanBeReadOnly) {
  namespace fs = std::filesystem;
  {
    Writer({"trials", file(), "3", "mine"}).rest();
  }
  const auto folder = fs::path(file()).parent_path();
  const auto writers = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  if (!everybody_can_enter(folder.parent_path())) {
    GTEST_SKIP() << "needs a temporary folder that the user nobody may enter";
  }
  fs::permissions(folder, fs::perms::all & ~writers);
  Writer reader({"nobody", file(), "read"});
  EXPECT_EQ(reader.line(), "3");
  EXPECT_EQ(reader.wait(), 0);
  Writer writer({"nobody", file(), "write"});
  EXPECT_NE(writer.line().find("read-only"), std::string::npos);
  EXPECT_EQ(writer.wait(), 2);
  fs::permissions(folder, fs::perms::owner_all);
}

}  // namespace
}  // namespace loopbrick
