#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <unistd.h>

namespace loopbrick {

/// A folder of the test's own, gone when the test ends.
class TestFolder : public testing::Test {
 protected:
  TestFolder() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(testing::TempDir()) / (std::string(info->test_suite_name()) + "-" +
                                                     info->name() + "-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~TestFolder() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

}  // namespace loopbrick
