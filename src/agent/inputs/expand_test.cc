#include "agent/inputs/expand.h"

#include <gtest/gtest.h>

#include "agent/inputs/limits.h"

namespace muster::agent {
namespace expand_test {

const Variables kVariables = {{"A", "a"},       {"B_2", "two"},   {"EMPTY", ""},    {"REF", "$(A)"},
                              {"DOLLAR", "$$"}, {"a.b-c", "odd"}, {"$(A", "nested"}};

struct Row {
  std::string_view text;
  std::string_view expanded;
};

class Expand : public ::testing::TestWithParam<Row> {};

TEST_P(Expand, AsWritten) {
  EXPECT_EQ(expand(GetParam().text, kVariables, 100), GetParam().expanded);
}

INSTANTIATE_TEST_SUITE_P(KnownNames, Expand,
                         ::testing::Values(Row{"", ""}, Row{"plain", "plain"}, Row{"$(A)", "a"},
                                           Row{"x$(A)y$(B_2)z", "xaytwoz"}, Row{"$(A)$(A)", "aa"},
                                           Row{"[$(EMPTY)]", "[]"}, Row{"$(a.b-c)", "odd"},
                                           Row{"$(A)\xc3\xa4", "a\xc3\xa4"}));
INSTANTIATE_TEST_SUITE_P(UnknownNamesStay, Expand,
                         ::testing::Values(Row{"$(NO)", "$(NO)"}, Row{"$()", "$()"},
                                           Row{"$( A)", "$( A)"}, Row{"$(NO)$(A)", "$(NO)a"}));
INSTANTIATE_TEST_SUITE_P(ADollarForItself, Expand,
                         ::testing::Values(Row{"$$", "$"}, Row{"$$$$", "$$"}, Row{"$$(A)", "$(A)"},
                                           Row{"$$$(A)", "$a"}, Row{"$$$$(A)", "$$(A)"},
                                           Row{"a$$b", "a$b"}));
INSTANTIATE_TEST_SUITE_P(OtherDollarsStay, Expand,
                         ::testing::Values(Row{"$", "$"}, Row{"$A", "$A"}, Row{"a$", "a$"},
                                           Row{"${A}", "${A}"}, Row{"$ (A)", "$ (A)"},
                                           Row{"$\xc3\xa4", "$\xc3\xa4"}));
INSTANTIATE_TEST_SUITE_P(AnOpenReferenceStays, Expand,
                         ::testing::Values(Row{"$(A", "$(A"}, Row{"$(", "$("}, Row{"$(A$$", "$(A$"},
                                           Row{"$($A", "$($A"}, Row{"$((A", "$((A"}));
// One pass: neither values nor names are looked into, and a name ends at the first bracket.
INSTANTIATE_TEST_SUITE_P(OnePass, Expand,
                         ::testing::Values(Row{"$(REF)", "$(A)"}, Row{"$(DOLLAR)(A)", "$$(A)"},
                                           Row{"$($(A))", "nested)"}, Row{"$(A))", "a)"}));

TEST(ExpandWithin, MakesNoMoreThanItsLimit) {
  EXPECT_EQ(expand("$(B_2)$(B_2)", kVariables, 6), "twotwo");
  EXPECT_EQ(expand("$(B_2)$(B_2)", kVariables, 5), std::nullopt);
  EXPECT_EQ(expand("plain", kVariables, 5), "plain");
  EXPECT_EQ(expand("plain", kVariables, 4), std::nullopt);
  EXPECT_EQ(expand("a$b", kVariables, 2), std::nullopt);
  EXPECT_EQ(expand("$(NO)", kVariables, 4), std::nullopt);
}

TEST(ExpandAll, RefusesWhatIsNoPathAnyMore) {
  const Variables variables = {{"A", std::string(kMostPath / 2, 'a')}};
  EXPECT_EQ(expand_all("$(A)$(A)", variables)->size(), kMostPath);
  EXPECT_EQ(expand_all("$(A)$(A)x", variables).error().message,
            "with its variables filled in a path has more than 4096 bytes");
}

TEST(ExpandAll, IsTheSameWhereEveryNameHasAValue) {
  EXPECT_EQ(expand_all("x/$(A)/$$(B)", kVariables), "x/a/$(B)");
}

TEST(ExpandAll, NamesWhatHasNoValueOnceAndSorted) {
  EXPECT_EQ(expand_all("$(Z)/$(NO)/$(A)/$(Z)/$(EMPTY)", kVariables).error().message,
            "missing value for EMPTY, NO, Z");
}

}  // namespace expand_test
}  // namespace muster::agent
