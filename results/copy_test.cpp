#include "results/copy.h"

#include <gtest/gtest.h>

#include "results/fixture.h"
#include "results/test_folder.h"

namespace loopbrick {
namespace {

class Copy : public TestFolder {};

TEST_F(Copy, HasEverythingWhileTheOtherIsOpenAndIsOneFile) {
  Store store(path("a.db"), Access::write);
  write_fixture(store, {"fwd"}, {"onednn"});
  copy_database(path("a.db"), path("b.db"));
  const Store copy(path("b.db"), Access::read);
  for (const char* table : {"trial", "sample", "comparison", "campaign", "layer"}) {
    const std::string count = "SELECT count(*) FROM " + std::string(table);
    EXPECT_EQ(copy.query(count).rows, store.query(count).rows) << table;
  }
  EXPECT_EQ(copy.trial(1), store.trial(1));
  EXPECT_FALSE(std::filesystem::exists(path("b.db-wal")));
  EXPECT_EQ(copy.journal_mode(), "delete");
}

TEST_F(Copy, WritesOverNothing) {
  Store(path("a.db"), Access::write);
  EXPECT_THROW(copy_database(path("a.db"), path("a.db")), BadDatabase);
  EXPECT_THROW(copy_database(path("none.db"), path("b.db")), BadDatabase);
  EXPECT_FALSE(std::filesystem::exists(path("b.db")));
}

}  // namespace
}  // namespace loopbrick
