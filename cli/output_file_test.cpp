#include "cli/output_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <unistd.h>

#include "kernels/text.h"
#include "results/store.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

class OutputFile : public testing::Test {
 protected:
  OutputFile()
      : folder_(fs::temp_directory_path() / ("loopbrick_output_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~OutputFile() override { fs::remove_all(folder_); }

  std::string text(const fs::path& file) {
    std::stringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  }
  std::string refusal(const fs::path& file) {
    try {
      check_output_file("--out", file);
    } catch (const ParseError& error) {
      return error.what();
    }
    return "none";
  }

  fs::path folder_;
};

TEST_F(OutputFile, IsWrittenWholeOverWhatWasThere) {
  write_whole(folder_ / "a", "long enough to leave a rest");
  write_whole(folder_ / "a", "short");
  EXPECT_EQ(text(folder_ / "a"), "short");
  EXPECT_FALSE(fs::exists(folder_ / "a.part"));
}

TEST_F(OutputFile, AFailureKeepsWhatWasThere) {
  write_whole(folder_ / "a", "old");
  fs::create_directory(folder_ / "a.part");  // so that nothing can be written under this name
  EXPECT_THROW(write_whole(folder_ / "a", "new"), WorldFailure);
  EXPECT_EQ(text(folder_ / "a"), "old");
}

TEST_F(OutputFile, ADatabaseIsNeverOverwritten) {
  const fs::path file = folder_ / "a.db";
  { const Store store(file, Access::write); }
  EXPECT_EQ(refusal(file), "--out '" + file.string() + "' is a database: name another file");
  write_whole(folder_ / "text", "SQLite is no word that makes a database");
  EXPECT_EQ(refusal(folder_ / "text"), "none");
}

TEST_F(OutputFile, WhatIsNoFileIsRefused) {
  EXPECT_EQ(refusal(""), "--out has an empty file name");
  EXPECT_EQ(refusal(folder_), "--out '" + folder_.string() + "' is a folder: name a file");
  EXPECT_EQ(refusal(folder_ / "none" / "a"),
            "--out: there is no folder '" + (folder_ / "none").string() + "'");
  EXPECT_EQ(refusal(folder_ / "new"), "none");
  EXPECT_EQ(refusal("/dev/stdout"), "none");
}

}  // namespace
}  // namespace loopbrick
