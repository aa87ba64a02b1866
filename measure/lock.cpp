#include "measure/lock.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace loopbrick {
namespace {

constexpr mode_t kEveryone = 0666;

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw std::system_error(errno, std::generic_category(), what + " the lock '" + path + "'");
}

/// Opens the file without O_CREAT first: in a sticky folder Linux refuses O_CREAT on somebody
/// else's file (fs.protected_regular). flock needs no right to write.
int open_or_create(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
  while (true) {
    const int there = open(path.c_str(), kFlags);
    if (there >= 0 || errno != ENOENT) return there;
    const int made = open(path.c_str(), kFlags | O_CREAT | O_EXCL, kEveryone);
    if (made >= 0) {
      fchmod(made, kEveryone);  // the umask took bits away
      return made;
    }
    if (errno != EEXIST) return made;
  }
}

/// False if the file was deleted, and perhaps made anew, after we opened it.
bool is_still_at(const std::string& path, int descriptor) {
  struct stat ours {};
  struct stat theirs {};
  return fstat(descriptor, &ours) == 0 && stat(path.c_str(), &theirs) == 0 &&
         ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

void wait_for(int descriptor, const std::string& path, const std::function<void()>& waiting) {
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) fail("taking", path);
    waiting();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

MachineLock::MachineLock(const std::function<void()>& waiting, std::string path)
    : path_(std::move(path)) {
  while (descriptor_ < 0) {
    Descriptor file(open_or_create(path_));
    if (file.get() < 0) fail("opening", path_);
    wait_for(file.get(), path_, waiting);
    if (is_still_at(path_, file.get())) descriptor_ = file.release();
  }
}

MachineLock::~MachineLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

MachineLock::MachineLock(MachineLock&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

MachineLock& MachineLock::operator=(MachineLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

std::string MachineLock::default_path() {
  struct stat folder {};
  const bool shared =
      stat("/run/lock", &folder) == 0 && S_ISDIR(folder.st_mode) && (folder.st_mode & S_IWOTH) != 0;
  return shared ? "/run/lock/loopbrick.lock" : "/tmp/loopbrick.lock";
}

}  // namespace loopbrick
