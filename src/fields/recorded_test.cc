// What kube-apiserver 1.36.3 answered: each step of a recording has the live object, a request and
// its outcome. Updates are given as the object that the request led to before admission.
#include <gmock/gmock.h>

#include "api/decode/decode.h"
#include "fields/managed_fields.h"
#include "fields/testing.h"

namespace muster::fields {
namespace recorded_test {

using json::Value;

std::string entries_text(Value object) {
  return json::write(object.get({"metadata", "managedFields"}));
}

// The clock of the recording: the time that is in the outcome and was not there before.
Time time_of(Value step) {
  const std::string before = entries_text(step.get("live"));
  std::string_view latest = "2026-11-15T10:00:00Z";
  for (const Value entry : step.get({"result", "metadata", "managedFields"}).items()) {
    latest = std::max(latest, entry.get("time").as_string());
  }
  return *parse_time(latest);
}

class Step {
 public:
  explicit Step(Value step) : step_(step), live_(step.get("live")) {
    const Value input = step.get("input");
    const api::Resource& kind =
        resource(input.get("apiVersion").as_string(), input.get("kind").as_string());
    writer_ = {.manager = step.get("manager").as_string(),
               .subresource = step.get("subresource").as_string(),
               .resource = &kind,
               .now = time_of(step)};
  }

  void replay() {
    if (step_.get("verb").as_string() == "apply") {
      replay_apply();
    } else {
      replay_update();
    }
  }

 private:
  void replay_update() {
    const Value updated = decoded(step_.get("input"));
    // Decoding drops empty lists, but this one means something.
    if (const Value* const sent = step_.get({"input", "metadata"}).find("managedFields")) {
      updated.get("metadata").set("managedFields", json::clone(arena_, *sent));
    }
    track_update(arena_, writer_, live_, updated);
    EXPECT_EQ(entries_text(updated), entries_text(step_.get("result")));
  }

  void replay_apply() {
    const std::int64_t code = step_.get("code").as_int();
    Result<Applied> applied =
        apply(arena_, writer_, live_, step_.get("input"), step_.get("force").as_bool());
    if (code == 409 || code == 500) {
      ASSERT_FALSE(applied.has_value());
      EXPECT_EQ(applied.error().message, step_.get({"result", "message"}).as_string());
      return expect_causes(applied.error());
    }
    ASSERT_TRUE(applied.has_value()) << applied.error().message;
    if (code == 422) return expect_nulls(applied->object);
    EXPECT_EQ(entries_text(applied->object), entries_text(step_.get("result")));
    if (writer_.resource->custom) expect_object(applied->object);
  }

  // Pruning may leave null behind, which validation refuses later.
  void expect_nulls(Value object) {
    for (const Value cause : step_.get({"result", "details", "causes"}).items()) {
      if (!cause.get("message").as_string().starts_with(R"(Invalid value: "null")")) continue;
      Value at = object;
      std::string_view path = cause.get("field").as_string();
      while (!path.empty()) {
        const std::string_view name = path.substr(0, path.find('.'));
        path.remove_prefix(std::min(name.size() + 1, path.size()));
        ASSERT_TRUE(at.has(name)) << cause.get("field").as_string();
        at = at.get(name);
      }
      EXPECT_TRUE(at.is_null());
    }
  }

  // Upstream takes the managers in random order.
  void expect_causes(const Error& error) {
    using Line = std::tuple<std::string, std::string, std::string>;
    std::vector<Line> expected;
    for (const Value cause : step_.get({"result", "details", "causes"}).items()) {
      expected.emplace_back(cause.get("reason").as_string(), cause.get("message").as_string(),
                            cause.get("field").as_string());
    }
    std::vector<Line> found;
    for (const Cause& cause : error.causes)
      found.emplace_back(cause.reason, cause.message, cause.field);
    EXPECT_THAT(found, testing::UnorderedElementsAreArray(expected));
  }

  // The part of the object that the endpoint lets through.
  void expect_object(Value applied) {
    const Value object = decoded(applied);
    api::apply_schema_defaults(object, *writer_.resource->schema);
    const std::string_view part = writer_.subresource.empty() ? "spec" : "status";
    EXPECT_EQ(json::write(object.get(part)), json::write(step_.get({"result", part})));
    if (!writer_.subresource.empty()) return;
    for (const std::string_view key : {"labels", "annotations", "finalizers"}) {
      EXPECT_EQ(json::write(object.get({"metadata", key})),
                json::write(step_.get({"result", "metadata", key})));
    }
  }

  Value decoded(Value object) {
    api::DecodeReport report;
    Result<Value> made = api::decode(arena_, object, *writer_.resource, report);
    MUSTER_ASSERT(made.has_value(), made.error().message.c_str());
    return *made;
  }

  json::Arena arena_;
  Value step_;
  Value live_;
  Writer writer_;
};

class Recorded : public testing::TestWithParam<const char*> {};

TEST_P(Recorded, GivesTheSameOwnersAndObjects) {
  const json::Tree recording(read_testdata(GetParam()));
  ASSERT_GT(recording.root.size(), 10U);
  int number = 0;
  for (const Value step : recording.root.items()) {
    SCOPED_TRACE(
        fmt::format("step {} ({}): {}", number++, step.get("note").as_string(), json::write(step)));
    Step(step).replay();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Recorded,
                         testing::Values("recorded-things.json", "recorded-deployments.json",
                                         "recorded-story.json"));

}  // namespace recorded_test
}  // namespace muster::fields
