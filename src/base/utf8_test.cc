#include "base/utf8.h"

#include <gtest/gtest.h>

namespace muster {
namespace utf8_test {

TEST(CutUtf8, KeepsWholeLettersOnly) {
  EXPECT_EQ(cut_utf8("abc", 3), "abc");
  EXPECT_EQ(cut_utf8("abcd", 3), "abc");
  EXPECT_EQ(cut_utf8("a\u00e9b", 2), "a") << "the second letter has two bytes";
  EXPECT_EQ(cut_utf8("a\u00e9b", 3), "a\u00e9");
  EXPECT_EQ(cut_utf8("\U0001F600", 3), "");
  EXPECT_EQ(cut_utf8("", 0), "");
}

TEST(CutUtf8, BytesThatAreNoLettersCountOneByOne) {
  EXPECT_EQ(cut_utf8("\xFF\xFE\xFD", 2), "\xFF\xFE");
}

}  // namespace utf8_test
}  // namespace muster
