#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

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

// Eight bytes are looked at as one: a fault must be seen in each of them, and beside other words.
TEST(IsUtf8, SeesAFaultAtEveryPlace) {
  EXPECT_TRUE(is_utf8(""));
  for (std::size_t size = 1; size <= 24; ++size) {
    const std::string sound(size, 'a');
    EXPECT_TRUE(is_utf8(sound));
    for (std::size_t at = 0; at < size; ++at) {
      std::string broken = sound;
      broken[at] = '\x80';
      EXPECT_FALSE(is_utf8(broken)) << at << " of " << size;
      broken.replace(at, 1, "\u00e9");
      EXPECT_TRUE(is_utf8(broken)) << at << " of " << size;
    }
  }
}

}  // namespace utf8_test
}  // namespace muster
