#include "results/file_system.h"

#include <gtest/gtest.h>

#include <SQLiteCpp/Database.h>

#include "results/database_file.h"
#include "results/test_folder.h"

namespace loopbrick {
namespace {

FileSystemOf always(std::int64_t magic) {
  return [magic](const std::filesystem::path&) { return std::optional(magic); };
}

TEST(FileSystem, NetworksAreKnownByTheirMagic) {
  EXPECT_EQ(network_file_system("x.db", always(0x6969)), "NFS");
  EXPECT_EQ(network_file_system("x.db", always(0xFF534D42)), "CIFS");
  EXPECT_EQ(network_file_system("x.db", always(0x0BD00BD0)), "Lustre");
  EXPECT_FALSE(network_file_system("x.db", always(0xEF53)));      // ext4
  EXPECT_FALSE(network_file_system("x.db", always(0x01021994)));  // tmpfs
  EXPECT_FALSE(network_file_system(
      "x.db", [](const std::filesystem::path&) { return std::optional<std::int64_t>(); }));
}

TEST(FileSystem, TheFolderOfAFileIsAsked) {
  std::filesystem::path asked;
  network_file_system("/tmp/new.db", [&](const std::filesystem::path& folder) {
    asked = folder;
    return std::optional<std::int64_t>(0x6969);
  });
  EXPECT_EQ(asked, "/tmp");
  EXPECT_TRUE(file_system_of("/").has_value());
  EXPECT_FALSE(file_system_of("/no such folder").has_value());
}

class NetworkDatabase : public TestFolder {};

TEST_F(NetworkDatabase, HasNoLogThatNeedsSharedMemory) {
  const auto mode = [&](std::int64_t magic) {
    const auto database = open_database(path("x.db"), Access::write, always(magic));
    return database->execAndGet("PRAGMA journal_mode").getString() +
           database->execAndGet("PRAGMA synchronous").getString();
  };
  EXPECT_EQ(mode(0xEF53), "wal1");
  EXPECT_EQ(mode(0x6969), "delete2");  // one that was local before, too
}

}  // namespace
}  // namespace loopbrick
