#include "json/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/testing.h"
#include "json/write.h"

namespace muster::json {
namespace document_test {

TEST(Document, OutlivesTheTreeItCopies) {
  DocumentPtr document;
  {
    Arena arena;
    document = Document::of(*parse(arena, R"({"a":[1,"two",{"b":null}],"c":true})"));
  }
  EXPECT_EQ(write(document->root()), R"({"a":[1,"two",{"b":null}],"c":true})");
}

TEST(Document, SaysWhatItsTextWouldSay) {
  Arena arena;
  const Value tree = Value::object(arena);
  tree.set("whole", Value::of(2.0));
  tree.set("large", Value::of(1e300));
  tree.set("broken", Value::view("a\xff z \xe2\x80\xa8"));
  tree.set("key \xc3", Value::of(0));
  const DocumentPtr document = Document::of(tree);
  const Value root = document->root();
  const Value read = *parse(arena, write(tree));
  EXPECT_EQ(write(root), write(read));
  EXPECT_EQ(root.get("whole").kind(), read.get("whole").kind());
  EXPECT_EQ(root.get("large").kind(), Kind::kDouble);
  EXPECT_EQ(root.get("broken").as_string(), read.get("broken").as_string());
  EXPECT_EQ(root.members().back().key, read.members().back().key);
}

TEST(Document, IsNotChangedThroughACopy) {
  Arena arena;
  const DocumentPtr document = Document::of(*parse(arena, R"({"a":{"b":["c"]}})"));
  const Value copy = changeable(arena, document);
  copy.get("a").set("b", "d");
  copy.set("e", Value::of(1));
  EXPECT_EQ(write(copy), R"({"a":{"b":"d"},"e":1})");
  EXPECT_EQ(write(document->root()), R"({"a":{"b":["c"]}})");
}

TEST(Document, IsKeptByTheArenaOfItsCopies) {
  Arena arena;
  DocumentPtr document = Document::of(*parse(arena, R"({"a":"text"})"));
  Arena later;
  const Value copy = changeable(later, document);
  document = nullptr;
  EXPECT_EQ(write(copy), R"({"a":"text"})");
}

TEST(BodyText, IsThatOfTheTreeIfThereIsOne) {
  Arena arena;
  http::Request request{.method = {}, .target = {}, .headers = {}, .body = "text", .peer = {}};
  EXPECT_EQ(body_text(request), "text");
  request.document = Document::of(*parse(arena, R"({"a":1})"));
  EXPECT_EQ(body_text(request), R"({"a":1})");
}

}  // namespace document_test
}  // namespace muster::json
