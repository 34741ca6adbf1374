// Objects as kube-apiserver 1.36 wrote them: decoding one gives back the same text, field for field
// in the same order, because they have been through its Go types already.
#include <gmock/gmock.h>

#include "api/decode/decode.h"
#include "api/testing.h"
#include "json/write.h"

namespace muster::api {
namespace recorded_test {

using json::Value;

TEST(RecordedObjects, DecodeToThemselves) {
  const json::Tree recorded(read_testdata("recorded_objects.json"));
  const Registry& registry = Registry::builtin();
  ASSERT_GT(recorded.root.size(), 100U);
  for (const Value entry : recorded.root.items()) {
    const Value object = entry.get("object");
    const std::string_view api_version = object.get("apiVersion").as_string();
    const std::string_view kind = object.get("kind").as_string();
    const Schema* const type = registry.type_of_kind(api_version, kind);
    const Resource* const resource = registry.find_kind(api_version, kind);
    ASSERT_NE(type, nullptr) << api_version << " " << kind;
    const std::string before = json::write(object);
    json::Arena arena;
    DecodeReport report;
    const Result<Value> decoded =
        decode_type(arena, object, *type, resource != nullptr && resource->custom, report);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message << "\n" << before;
    EXPECT_EQ(json::write(*decoded), before) << entry.get("case").as_string();
    EXPECT_THAT(report.unknown, testing::IsEmpty());
  }
}

}  // namespace recorded_test
}  // namespace muster::api
