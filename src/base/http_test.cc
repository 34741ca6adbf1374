#include "base/http.h"

#include <gtest/gtest.h>

namespace muster::http {
namespace http_test {

TEST(FindHeader, IgnoresCaseAndTakesTheFirst) {
  const Headers headers = {{"Accept", "a"}, {"content-TYPE", "json"}, {"accept", "b"}};
  EXPECT_EQ(find_header(headers, "accept"), "a");
  EXPECT_EQ(find_header(headers, "Content-Type"), "json");
  EXPECT_EQ(find_header(headers, "content"), "");
  EXPECT_EQ(find_header({}, "x"), "");
}

TEST(Chunk, OwnedTextLivesAsLongAsTheChunk) {
  Chunk chunk;
  {
    const Chunk made = Chunk::own("kept");
    chunk = made;
  }
  EXPECT_EQ(chunk.text, "kept");
  EXPECT_EQ(Chunk::literal("static").keep, nullptr);
}

}  // namespace http_test
}  // namespace muster::http
