#include "agent/probes/hpack.h"

#include <gmock/gmock.h>

namespace muster::agent {
namespace hpack_test {

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

std::string texts(const Result<std::vector<HeaderField>>& fields) {
  if (!fields) return "error";
  std::string out;
  for (const HeaderField& field : *fields) out += field.name + "=" + field.value + ";";
  return out;
}

// The examples of RFC 7541, appendix C.
TEST(Huffman, ReadsTheExamplesOfItsSpecification) {
  EXPECT_EQ(
      huffman_text(bytes({0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff})),
      "www.example.com");
  EXPECT_EQ(huffman_text(bytes({0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf})), "no-cache");
  EXPECT_EQ(huffman_text(bytes({0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xb8, 0xe8, 0xb4, 0xbf})),
            "custom-value");
  EXPECT_EQ(huffman_text(bytes({0xd0, 0x7a, 0xbe, 0x94, 0x10, 0x54, 0xd4, 0x44, 0xa8, 0x20, 0x05,
                                0x95, 0x04, 0x0b, 0x81, 0x66, 0xe0, 0x82, 0xa6, 0x2d, 0x1b, 0xff})),
            "Mon, 21 Oct 2013 20:13:21 GMT");
  EXPECT_EQ(huffman_text(""), "");
}

TEST(Huffman, RefusesWhatIsNoText) {
  EXPECT_FALSE(huffman_text(bytes({0xff, 0xff, 0xff, 0xff})));  // the end mark
  EXPECT_FALSE(huffman_text(bytes({0xff})));                    // more padding than there may be
  EXPECT_FALSE(huffman_text(bytes({0x00})));                    // zeros behind the last symbol
}

TEST(Hpack, ReadsWhatItWrites) {
  std::string block;
  const std::string long_value(300, 'v');
  append_header(block, "grpc-status", "5");
  append_header(block, "long", long_value);
  EXPECT_EQ(texts(read_headers(block)), "grpc-status=5;long=" + long_value + ";");
}

TEST(Hpack, KnowsTheStatusOfTheStaticTable) {
  EXPECT_EQ(texts(read_headers(bytes({0x88}))), ":status=200;");
  EXPECT_EQ(texts(read_headers(bytes({0x8d, 0x8e}))), ":status=404;:status=500;");
  // Literal with an indexed name, without and with indexing; content-type is nobody's business.
  EXPECT_EQ(texts(read_headers(bytes({0x08, 3}) + "503")), ":status=503;");
  EXPECT_EQ(texts(read_headers(bytes({0x48, 3}) + "302")), ":status=302;");
  EXPECT_EQ(texts(read_headers(bytes({0x5f, 1}) + "x")), "=x;");
}

TEST(Hpack, SkipsATableOfSizeZero) {
  EXPECT_EQ(texts(read_headers(bytes({0x20, 0x88}))), ":status=200;");
}

TEST(Hpack, RefusesWhatItCannotKnow) {
  EXPECT_EQ(texts(read_headers(bytes({0xbe}))), "error");  // the first dynamic entry
  EXPECT_EQ(texts(read_headers(bytes({0x80}))), "error");  // index zero
  EXPECT_EQ(texts(read_headers(bytes({0x00, 5}) + "ab")), "error");
  EXPECT_EQ(texts(read_headers(bytes({0x00}))), "error");
  EXPECT_EQ(texts(read_headers(bytes({0x00, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}))),
            "error");
}

}  // namespace hpack_test
}  // namespace muster::agent
