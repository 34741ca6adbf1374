// Writes to deployments/scale, as kube-apiserver 1.36.3 answered them, step by step.
#include "fields/scale.h"

#include <gmock/gmock.h>

#include "fields/managed_fields.h"
#include "fields/testing.h"

namespace muster::fields {
namespace scale_test {

using json::Tree;
using json::Value;

constexpr std::array<std::string_view, 2> kReplicas = {"spec", "replicas"};

// The Scale that the server shows of the object, with the entries that concern it.
Value live_scale(json::Arena& arena, const api::Resource& kind, Value step) {
  const Value scale = json::clone(arena, step.get("scale"));
  const Value entries = scale_entries(arena, kind, kReplicas, step.get("parent"));
  if (!entries.is_null()) scale.get("metadata").set("managedFields", entries);
  return scale;
}

TEST(RecordedScale, GivesTheSameOwners) {
  const Tree recording(read_testdata("recorded-scale.json"));
  const api::Resource& kind = resource("apps/v1", "Deployment");
  ASSERT_GT(recording.root.size(), 10U);
  for (const Value step : recording.root.items()) {
    SCOPED_TRACE(json::write(step));
    json::Arena arena;
    const Value live = live_scale(arena, kind, step);
    const Writer writer{.manager = step.get("manager").as_string(),
                        .subresource = "scale",
                        .resource = &kind,
                        .now = *parse_time("2026-11-15T11:00:00Z")};
    Value scale = json::clone(arena, live);
    if (step.get("verb").as_string() == "apply") {
      const Result<Applied> applied =
          apply(arena, writer, live, step.get("input"), step.get("force").as_bool());
      if (step.get("code").as_int() != 200) {
        EXPECT_EQ(applied.error().message, step.get("result").as_string());
        continue;
      }
      ASSERT_TRUE(applied.has_value()) << applied.error().message;
      scale = applied->object;
    } else {
      scale.object_at("spec").set("replicas", step.get({"input", "spec", "replicas"}));
      track_update(arena, writer, live, scale);
    }
    const Value after = parent_entries(arena, kind, kReplicas, step.get("parent"),
                                       scale.get({"metadata", "managedFields"}));
    EXPECT_EQ(json::write(after), json::write(step.get("result")));
  }
}

TEST(ScaleEntries, ShowOnlyOwnersOfTheReplicas) {
  const Tree parent(
      R"([{"manager":"a","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:paused":{}}}},
          {"manager":"b","operation":"Update","apiVersion":"apps/v1","time":"2026-11-15T11:00:00Z","fieldsType":"FieldsV1",
           "fieldsV1":{"f:spec":{"f:replicas":{},"f:paused":{}}}},
          {"manager":"c","operation":"Update","apiVersion":"apps/v0","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}])");
  json::Arena arena;
  EXPECT_EQ(
      json::write(scale_entries(arena, resource("apps/v1", "Deployment"), kReplicas, parent)),
      R"([{"manager":"b","operation":"Update","apiVersion":"autoscaling/v1","time":"2026-11-15T11:00:00Z",)"
      R"("fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}])");
  EXPECT_TRUE(
      scale_entries(arena, resource("apps/v1", "Deployment"), kReplicas, Value()).is_null());
}

}  // namespace scale_test
}  // namespace muster::fields
