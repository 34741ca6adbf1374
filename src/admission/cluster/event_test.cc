#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/testing.h"

namespace muster::admission {
namespace event_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kNew = "events.k8s.io/v1";
constexpr std::string_view kGood = R"({
  "metadata": {"name": "e"}, "eventTime": "2026-11-15T09:45:40.000000Z", "type": "Normal",
  "reason": "Started", "action": "Starting", "reportingController": "muster.dev/agent",
  "reportingInstance": "agent-1", "note": "it runs",
  "regarding": {"kind": "Pod", "name": "p", "namespace": "ns"}})";

std::vector<std::string> causes(const Outcome& outcome) {
  std::vector<std::string> out;
  if (!outcome.error) return out;
  for (const Cause& cause : outcome.error->causes)
    out.push_back(fmt::format("{}: {}", cause.field, cause.message));
  return out;
}

// A good event but for one merge patch.
std::vector<std::string> create(std::string_view patch, std::string_view version = kNew) {
  json::Arena arena;
  const json::Value event = json::apply_merge_patch(arena, json::parse(arena, kGood).value(),
                                                    json::parse(arena, patch).value());
  return causes(World().create(version, "Event", json::write(event)));
}

TEST(Event, TheNewFormSaysWhoDidWhatWhen) {
  EXPECT_THAT(create("{}"), IsEmpty());
  EXPECT_THAT(
      create(R"({"reportingController": null, "reportingInstance": null, "action": null,
                 "reason": null})"),
      ElementsAre("reportingController: Required value",
                  testing::StartsWith("reportingController: Invalid value: \"\": name part must"),
                  testing::StartsWith("reportingController: Invalid value: \"\": name part must"),
                  "reportingInstance: Required value", "action: Required value",
                  "reason: Required value"));
  EXPECT_THAT(create(R"({"reportingController": "a b"})"),
              ElementsAre(testing::StartsWith("reportingController: Invalid value: \"a b\"")));
  EXPECT_THAT(create(R"({"type": "Bad"})"),
              ElementsAre("type: Invalid value: \"\": has invalid value: Bad"));
  EXPECT_THAT(create(R"({"type": null})"),
              ElementsAre("type: Invalid value: \"\": has invalid value: "));
}

TEST(Event, TheNewFormHasATime) {
  EXPECT_THAT(create(R"({"eventTime": null})"), ElementsAre("eventTime: Required value"));
}

TEST(Event, TextsAreBounded) {
  const auto long_text = [](std::string_view field, int length) {
    return create(fmt::format(R"({{"{}": "{}"}})", field, std::string(length, 'a')));
  };
  for (const char* field : {"reportingInstance", "action", "reason"}) {
    EXPECT_THAT(long_text(field, 128), IsEmpty());
    EXPECT_THAT(long_text(field, 129),
                ElementsAre(fmt::format("{}: Invalid value: \"\": can have at most 128 characters",
                                        field)));
  }
  EXPECT_THAT(long_text("note", 1'024), IsEmpty());
  EXPECT_THAT(long_text("note", 1'025),
              ElementsAre("message: Invalid value: \"\": can have at most 1024 characters"));
}

TEST(Event, FieldsOfTheOldFormStayUnset) {
  EXPECT_THAT(create(R"({"deprecatedFirstTimestamp": "2026-11-15T09:45:40Z",
                         "deprecatedLastTimestamp": "2026-11-15T09:45:40Z", "deprecatedCount": 1,
                         "deprecatedSource": {"component": "c"}})"),
              ElementsAre("firstTimestamp: Invalid value: \"\": needs to be unset",
                          "lastTimestamp: Invalid value: \"\": needs to be unset",
                          "count: Invalid value: \"\": needs to be unset",
                          "source: Invalid value: \"\": needs to be unset"));
}

TEST(Event, ASeriesHasTwoMembersAndALastOne) {
  EXPECT_THAT(
      create(R"({"series": {"count": 2, "lastObservedTime": "2026-11-15T09:45:41.000000Z"}})"),
      IsEmpty());
  EXPECT_THAT(create(R"({"series": {"count": 1, "lastObservedTime": null}})"),
              ElementsAre("series.count: Invalid value: \"\": should be at least 2",
                          "series.lastObservedTime: Required value"));
}

TEST(Event, TheNamespaceOfTheSubject) {
  EXPECT_THAT(create(R"({"regarding": {"namespace": "other"}})"), IsEmpty());
  EXPECT_THAT(
      create(R"({"regarding": {"namespace": null}})"),
      ElementsAre("involvedObject.namespace: Invalid value: \"\": does not match event.namespace"));
}

TEST(Event, OfTheNewFormOnlyTheSeriesChanges) {
  const World world;
  const Outcome old = world.create(kNew, "Event", kGood);
  ASSERT_EQ(old.message(), "");
  const auto patch = [&](std::string_view text) {
    return causes(world.patch(kNew, "Event", old, text));
  };
  EXPECT_THAT(causes(world.update(kNew, "Event", old, kGood)), IsEmpty())
      << "a client need not repeat what the server has added";
  EXPECT_THAT(
      patch(R"({"series": {"count": 2, "lastObservedTime": "2026-11-15T09:45:41.000000Z"}})"),
      IsEmpty());
  EXPECT_THAT(patch(R"({"series": {"count": 1, "lastObservedTime": "2026-11-15T09:45:41.000000Z"},
                        "reason": "Other", "note": "n", "type": "Warning"})"),
              ElementsAre("series.count: Invalid value: \"\": should be at least 2",
                          "reason: Invalid value: \"Other\": field is immutable",
                          "message: Invalid value: \"n\": field is immutable",
                          "reason: Invalid value: \"Other\": field is immutable",
                          "type: Invalid value: \"Warning\": field is immutable"));
  EXPECT_THAT(patch(R"({"action": ""})"),
              ElementsAre("action: Required value", testing::HasSubstr("field is immutable")));
}

TEST(Event, TheOldFormIsJudgedByTheRulesOfTheNewOneIfItHasATime) {
  constexpr std::string_view kOld =
      R"({"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "namespace": "ns"}})";
  EXPECT_THAT(causes(World().create("v1", "Event", kOld)), IsEmpty());
  json::Arena arena;
  const json::Value timed = json::parse(arena, kOld).value();
  timed.set("eventTime", "2026-11-15T09:45:40.000000Z");
  timed.set("reportingComponent", "c");
  EXPECT_THAT(causes(World().create("v1", "Event", json::write(timed))),
              ElementsAre("reportingInstance: Required value", "action: Required value",
                          "reason: Required value"));
}

TEST(CausesOfAnUpdate, OfServicesTheAddressComesBeforeOtherFaults) {
  const World world;
  const Outcome old = world.create("v1", "Service", R"({"metadata": {"name": "s"}, "spec": {
      "clusterIP": "10.96.0.7", "clusterIPs": ["10.96.0.7"], "ports": [{"port": 80}]}})");
  ASSERT_EQ(old.message(), "");
  EXPECT_THAT(causes(world.patch("v1", "Service", old, R"({"spec": {"clusterIP": "10.96.0.8",
                  "clusterIPs": ["10.96.0.8"], "ports": [{"port": 80, "protocol": "NO"}]}})")),
              ElementsAre(testing::AllOf(testing::StartsWith("spec.clusterIPs[0]: "),
                                         testing::HasSubstr("may not change once set")),
                          testing::StartsWith("spec.ports[0].protocol: Unsupported value")));
}

TEST(CausesOfAnUpdate, OfBindingsOfRolesTheRoleComesAfterOtherFaults) {
  constexpr std::string_view kRbac = "rbac.authorization.k8s.io/v1";
  const World world;
  const Outcome old = world.create(kRbac, "RoleBinding", R"({"metadata": {"name": "b"},
      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}})");
  ASSERT_EQ(old.message(), "");
  const std::vector<std::string> found =
      causes(world.patch(kRbac, "RoleBinding", old, R"({"roleRef": {"name": "other"},
                             "subjects": [{"kind": "Nobody", "name": "x"}]})"));
  ASSERT_GE(found.size(), 2u);
  EXPECT_THAT(found.front(), testing::StartsWith("subjects[0].kind: Unsupported value"));
  EXPECT_THAT(found.back(), testing::HasSubstr("cannot change roleRef"));
}

TEST(CausesOfAnUpdate, BrokenPromisesComeBeforeOtherFaultsOfConfigMapsAndSecrets) {
  const World world;
  for (const char* kind : {"ConfigMap", "Secret"}) {
    const Outcome old = world.create(
        "v1", kind, R"({"metadata": {"name": "c"}, "immutable": true, "data": {"a": "Yg=="}})");
    ASSERT_EQ(old.message(), "");
    EXPECT_THAT(
        causes(world.patch("v1", kind, old, R"({"data": {"a b": "Yg=="}})")),
        ElementsAre("data: Forbidden: field is immutable when `immutable` is set",
                    testing::StartsWith("data[a b]: Invalid value: \"a b\": a valid config key")));
  }
}

}  // namespace event_test
}  // namespace muster::admission
