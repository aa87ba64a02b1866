#pragma once
#include <filesystem>
#include <string>
#include <unistd.h>

#include "results/store.h"
#include "tuner/station.h"
#include "tuner/test_machine.h"

namespace loopbrick {

/// For tests: a store in a file of its own, with a machine, a build and a campaign; gone with the
/// object.
class TestStore {
 public:
  TestStore() : file_(fresh_file()), store_(file_, Access::write) {
    store_.add_machine({.id = test_machine().id,
                        .cpu = "test",
                        .isa = "avx512",
                        .cores = 2,
                        .threads = 2,
                        .sockets = 1});
    store_.add_build({.id = "test build",
                      .version = "0",
                      .commit = "0",
                      .compiler = "g++",
                      .build_type = "test"});
    campaign_ = store_.add_campaign(
        {.command = "test", .machine = test_machine().id, .build = "test build"});
  }
  ~TestStore() {
    for (const char* suffix : {"", "-wal", "-shm"})
      std::filesystem::remove(file_.string() + suffix);
  }
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;

  Store& store() { return store_; }

  Station station() const {
    return {.machine = test_machine(),
            .limits = test_limits(2),
            .campaign = campaign_,
            .build = "test build"};
  }

 private:
  static std::filesystem::path fresh_file() {
    static int count = 0;
    return std::filesystem::temp_directory_path() /
           ("loopbrick_tuner_" + std::to_string(getpid()) + "_" + std::to_string(++count) + ".db");
  }

  std::filesystem::path file_;
  Store store_;
  std::int64_t campaign_ = 0;
};

}  // namespace loopbrick
