#include "loops/schedule.h"

#include <gtest/gtest.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

TEST(Schedule, TextRoundTrips) {
  for (const char* text :
       {"N k64 p q14 @ c64 * c r s", "N+ k64 c64 r s p7 @ q28 * p",
        "N/7+ C64/4 k64 r s p7 @ q28 * p", "N p4 pack(x) k64 pq28 @ c64 * c",
        "C64 K64 pack(w') ; N24 C64 @ k64 * k", "K64 pack(dy') ; C64 n48 @ k64 * k vec=n",
        "t { N24 K64 g @ c64 * c + h64 * h ; }",
        "wx: T N24 K64 g @ c64 * c ; rh: t { N24 K64 g @ h64 * h ; }",
        "t { N24 K64 elt ; N24 H64 @ k64 * g k ; } ; T N24 C64 @ k64 * g k , C64 K64 g @ n24 * n t "
        ","
        " H64 K64 g @ n24 * n t",
        "once: K64 pack(w) ; N k64 @ c1 tile=6x64 batch=address rim=copy store=stream next=p "
        "ahead=2 "
        "deal=dynamic"
        " rotate=k sum=tree post=apart",
        "N PQ28 k64 @ c64 * c batch=stride ;"}) {
    EXPECT_EQ(to_string(parse_schedule(text)), text);
  }
}

TEST(Schedule, DefaultsAreNeverPrinted) {
  EXPECT_EQ(to_string(parse_schedule(
                "n1  k64 @c64*c  batch=offset rim=window store=plain deal=static ahead=0")),
            "n k64 @ c64 * c");
}

TEST(Schedule, EveryFieldIsInTheText) {
  const char* base = "N k64 p q14 @ c64 * c r s";
  for (const char* other :
       {"n k64 p q14 @ c64 * c r s", "N K64 p q14 @ c64 * c r s", "N k32 p q14 @ c64 * c r s",
        "N k64 p q7 @ c64 * c r s", "N/2 k64 p q14 @ c64 * c r s", "N+ k64 p q14 @ c64 * c r s",
        "N k64 p q14 @ c32 * c r s", "N k64 p q14 @ c64 * c s r", "N k64 pq14 @ c64 * c r s",
        "N k64 pack(x) p q14 @ c64 * c r s", "a: N k64 p q14 @ c64 * c r s",
        "once: N k64 p q14 @ c64 * c r s", "N k64 p q14 @ c64 * c r s ;",
        "N k64 p q14 @ c64 * c r s tile=6x64", "N k64 p q14 @ c64 * c r s tile=6x32"}) {
    EXPECT_FALSE(parse_schedule(base) == parse_schedule(other)) << other;
    EXPECT_NE(to_string(parse_schedule(base)), to_string(parse_schedule(other)));
  }
}

struct Bad {
  const char* text;
  const char* piece;
};

TEST(Schedule, ParseNamesTheBadPiece) {
  for (const Bad& bad : {Bad{"", "empty"},
                         Bad{"N k64", "the end"},
                         Bad{"N z4 @ c64", "'z4'"},
                         Bad{"k0 @ c64", "k0"},
                         Bad{"k-4 @ c64", "'k-4'"},
                         Bad{"k4x @ c64", "'k4x'"},
                         Bad{"k99999999999 @ c64", "k99999999999"},
                         Bad{"k64/2 @ c64", "'k64/2'"},
                         Bad{"k64+ @ c64", "'k64+'"},
                         Bad{"N/0 @ c64", "N/0"},
                         Bad{"pQ4 @ c64", "'pQ4'"},
                         Bad{"nk4 @ c64", "'nk4'"},
                         Bad{"k64 @ C64", "'C64'"},
                         Bad{"k64 @ c64 *", "'*'"},
                         Bad{"k64 @ c64 * C", "'C'"},
                         Bad{"k64 @ c64 zap", "'zap'"},
                         Bad{"k64 @ c64 zap=1", "'zap=1'"},
                         Bad{"k64 @ c64 tile=6", "'tile=6'"},
                         Bad{"k64 @ c64 tile=0x64", "tile=0x64"},
                         Bad{"k64 @ c64 tile=6x64 tile=7x32", "'tile=7x32'"},
                         Bad{"k64 @ c64 batch=list", "'list'"},
                         Bad{"k64 @ c64 rim=zero", "'zero'"},
                         Bad{"pack( k64 @ c64", "'pack('"},
                         Bad{"t { k64 @ c64", "'}'"},
                         Bad{"t { }", "no step"},
                         Bad{"k64 @ c64 }", "'}'"},
                         Bad{"a:b: k64 @ c64", "'a:b'"},
                         Bad{"@ c64 + h64 + k64", "'k64'"},
                         Bad{"n n n n n n n n n n n n n @ c64", "12"}}) {
    try {
      parse_schedule(bad.text);
      ADD_FAILURE() << "accepted '" << bad.text << "'";
    } catch (const ParseError& error) {
      EXPECT_NE(std::string(error.what()).find(bad.piece), std::string::npos)
          << bad.text << ": " << error.what();
    }
  }
}

TEST(Schedule, AMarkGivenTwiceIsRefusedInAStepOnly) {
  EXPECT_THROW(parse_schedule("k64 @ c64 ahead=2 tile=6x64 ahead=2"), ParseError);
  EXPECT_NO_THROW(parse_schedule("t { k64 @ c64 tile=6x64; k64 @ c64 tile=7x32 }"));
}

}  // namespace
}  // namespace loopbrick
