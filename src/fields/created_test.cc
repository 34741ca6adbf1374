// Objects as kube-apiserver 1.36.3 answered to POST: the owner of a new object's fields follows
// from the object.
#include <gmock/gmock.h>

#include "fields/managed_fields.h"
#include "fields/testing.h"

namespace muster::fields {
namespace created_test {

using json::Value;

TEST(RecordedCreates, OwnWhatTheObjectHas) {
  const json::Tree recorded(read_testdata("recorded-creates.json"));
  ASSERT_GT(recorded.root.size(), 10U);
  for (const Value step : recorded.root.items()) {
    json::Arena arena;
    const Value object = step.get("object");
    const std::string expected = json::write(object.get({"metadata", "managedFields"}));
    const Value entry = object.get({"metadata", "managedFields"}).item(0);
    const Writer writer{
        .manager = entry.get("manager").as_string(),
        .subresource = "",
        .resource = &resource(object.get("apiVersion").as_string(), object.get("kind").as_string()),
        .now = *parse_time(entry.get("time").as_string())};
    const Value created = json::clone(arena, object);
    created.get("metadata").erase("managedFields");
    track_update(arena, writer, Value(), created);
    EXPECT_EQ(json::write(created.get({"metadata", "managedFields"})), expected)
        << step.get("case").as_string() << "\n"
        << json::write(object);
  }
}

}  // namespace created_test
}  // namespace muster::fields
