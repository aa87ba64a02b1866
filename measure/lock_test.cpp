#include "measure/lock.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "measure/recorded_tree.h"

namespace loopbrick {
namespace {

void do_not_wait() { throw std::runtime_error("busy"); }

std::string lock_in(const RecordedTree& tree) { return tree.root() + "/loopbrick.lock"; }

/// Another process that holds the lock until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& path) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    process_ = fork();
    if (process_ == 0) {
      const MachineLock lock(do_not_wait, path);
      if (write(ends[1], "x", 1) != 1) _exit(1);
      while (true) pause();
    }
    char ready = 0;
    if (read(ends[0], &ready, 1) != 1) throw std::runtime_error("no holder");
    close(ends[0]);
    close(ends[1]);
  }
  ~Holder() { kill(); }

  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
};

TEST(MachineLock, IsHeldByOneAtATime) {
  const RecordedTree tree;
  {
    const MachineLock lock(do_not_wait, lock_in(tree));
    EXPECT_EQ(lock.path(), lock_in(tree));
    EXPECT_THROW(MachineLock(do_not_wait, lock_in(tree)), std::runtime_error);
  }
  EXPECT_NO_THROW(MachineLock(do_not_wait, lock_in(tree)));
}

TEST(MachineLock, ExcludesAnotherProcessUntilItDies) {
  const RecordedTree tree;
  Holder holder(lock_in(tree));
  EXPECT_THROW(MachineLock(do_not_wait, lock_in(tree)), std::runtime_error);
  int waited = 0;
  const MachineLock lock(
      [&] {
        if (++waited == 2) holder.kill();  // as kill -9 of a measuring program
      },
      lock_in(tree));
  EXPECT_GE(waited, 2);
}

TEST(MachineLock, FileIsForEveryUserWhateverTheUmask) {
  const RecordedTree tree;
  const mode_t before = umask(0077);
  const MachineLock lock(do_not_wait, lock_in(tree));
  umask(before);
  struct stat file {};
  ASSERT_EQ(stat(lock.path().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0666U);
}

TEST(MachineLock, NeedsNoRightToWriteTheFile) {
  const RecordedTree tree;
  tree.write("loopbrick.lock", "");
  std::filesystem::permissions(lock_in(tree), std::filesystem::perms::owner_read);
  EXPECT_NO_THROW(MachineLock(do_not_wait, lock_in(tree)));
}

TEST(MachineLock, AFileThatWasDeletedMeanwhileIsMadeAnew) {
  const RecordedTree tree;
  Holder holder(lock_in(tree));
  const MachineLock lock(
      [&] {
        std::filesystem::remove(lock_in(tree));
        holder.kill();
      },
      lock_in(tree));
  EXPECT_TRUE(std::filesystem::exists(lock_in(tree)));
  EXPECT_THROW(MachineLock(do_not_wait, lock_in(tree)), std::runtime_error);
}

TEST(MachineLock, MovesWithItsHolder) {
  const RecordedTree tree;
  MachineLock lock(do_not_wait, lock_in(tree));
  const MachineLock moved = std::move(lock);
  EXPECT_THROW(MachineLock(do_not_wait, lock_in(tree)), std::runtime_error);
}

TEST(MachineLock, AFolderThatIsNotThereIsNamed) {
  try {
    const MachineLock lock(do_not_wait, "/no/such/folder/loopbrick.lock");
    FAIL() << "locked";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/folder"), std::string::npos);
  }
}

TEST(MachineLock, DefaultPathIsInAFolderForEverybody) {
  const std::string path = MachineLock::default_path();
  EXPECT_TRUE(path == "/run/lock/loopbrick.lock" || path == "/tmp/loopbrick.lock") << path;
}

}  // namespace
}  // namespace loopbrick
