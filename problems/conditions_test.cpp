#include "problems/conditions.h"

#include <gtest/gtest.h>

#include "kernels/text.h"
#include "problems/refusal.h"

namespace loopbrick {
namespace {

TEST(Conditions, TextRoundTrips) {
  for (const char* text :
       {"t2 avx512 warm", "t1 ref cold", "t28 avx2 warm hugepages", "t4 avx512 cold denormals",
        "t64 avx512 cold hugepages denormals", "t2 avx512 warm once"}) {
    EXPECT_EQ(to_string(parse_conditions(text)), text);
  }
  const Conditions all{.threads = 3,
                       .isa = Isa::avx2,
                       .cache = CacheState::cold,
                       .pages = Pages::huge,
                       .flush_denormals = false};
  EXPECT_EQ(parse_conditions(to_string(all)), all);
}

TEST(Conditions, BadWordsAreNamed) {
  for (const auto& [text, word] : std::vector<std::pair<const char*, const char*>>{
           {"", "lacks a word"},
           {"t2 avx512", "lacks a word"},
           {"2 avx512 warm", "'2'"},
           {"t0 avx512 warm", "threads"},
           {"tt avx512 warm", "threads"},
           {"t2 avx1024 warm", "avx1024"},
           {"t2 avx512 hot", "'hot'"},
           {"t2 avx512 warm big", "'big'"},
           {"t2 avx512 warm denormals denormals", "'denormals'"},
           {"t2 avx512 warm hugepages hugepages", "'hugepages'"}}) {
    try {
      parse_conditions(text);
      ADD_FAILURE() << text;
    } catch (const ParseError& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
}

TEST(Refusal, SentenceTakesItsValues) {
  EXPECT_EQ(to_string(Refusal{"axis {axis}: {got} of {got} is over {limit}", 5, 3, 'k'}),
            "axis k: 5 of 5 is over 3");
  EXPECT_EQ(to_string(Refusal{"groups are not run"}), "groups are not run");
}

}  // namespace
}  // namespace loopbrick
