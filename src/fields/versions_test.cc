// Managers that speak different versions of one kind (spec: apimachinery 1.5, 1.6).
#include "fields/versions.h"

#include <gmock/gmock.h>

#include "api/versions/convert.h"
#include "fields/managed_fields.h"
#include "fields/testing.h"

namespace muster::fields {
namespace versions_test {

using json::Value;
using testing::HasSubstr;
using testing::Not;

// A Workload of scheduling.k8s.io, kept in its storage version.
class ManagersOfVersions : public testing::Test {
 protected:
  static const api::Resource& version(std::string_view name) {
    return *api::Registry::builtin().find_kind(fmt::format("scheduling.k8s.io/{}", name),
                                               "Workload");
  }

  std::string apply(std::string_view manager, std::string_view of, std::string_view spec,
                    bool force = false) {
    const api::Resource& resource = version(of);
    Result<Applied> applied = fields::apply(arena_, {manager, "", &resource, now_}, seen(resource),
                                            document(resource, spec), force);
    if (!applied) return applied.error().message;
    save(applied->object, resource);
    return "";
  }

  void update(std::string_view manager, std::string_view of, std::string_view spec) {
    const api::Resource& resource = version(of);
    const Value updated = document(resource, spec);
    track_update(arena_, {manager, "", &resource, now_}, seen(resource), updated);
    save(updated, resource);
  }

  std::string owned_by(std::string_view manager) const {
    for (const Value entry : stored_.get({"metadata", "managedFields"}).items())
      if (entry.get("manager").as_string() == manager)
        return fmt::format("{} {}", entry.get("apiVersion").as_string(),
                           json::write(entry.get("fieldsV1")));
    return "";
  }
  std::string spec() const { return json::write(stored_.get("spec")); }

 private:
  Value seen(const api::Resource& resource) {
    if (stored_.is_null()) return {};
    return api::read_as(arena_, json::clone(arena_, stored_), resource);
  }
  Value document(const api::Resource& resource, std::string_view spec) {
    const Value object = *json::parse(arena_, R"({"metadata":{"name":"w"}})");
    object.set("apiVersion", resource.gvk.api_version());
    object.set("kind", "Workload");
    object.set("spec", *json::parse(arena_, arena_.copy(spec)));
    return object;
  }
  void save(Value object, const api::Resource& resource) {
    stored_ = api::convert(arena_, object, resource, version("v1beta1"), stored_);
  }

  json::Arena arena_;
  Time now_ = *parse_time("2026-01-01T10:00:00Z");
  Value stored_;
};

constexpr std::string_view kOldGang =
    R"({"podGroups":[{"name":"a","policy":{"gang":{"minCount":2}}}]})";

TEST_F(ManagersOfVersions, KeepTheirOwnWords) {
  EXPECT_EQ(apply("old", "v1alpha1", kOldGang), "");
  EXPECT_THAT(owned_by("old"),
              HasSubstr(R"(v1alpha1 {"f:spec":{"f:podGroups":{"k:{\"name\":\"a\"}")"));
  EXPECT_EQ(apply("new", "v1beta1",
                  R"({"podGroupTemplates":[{"name":"a","disruptionMode":{"all":{}}}]})"),
            "");
  EXPECT_THAT(owned_by("old"), HasSubstr("f:minCount"));
  EXPECT_THAT(owned_by("new"), HasSubstr(R"(v1beta1 {"f:spec":{"f:podGroupTemplates")"));
  EXPECT_THAT(spec(), HasSubstr(R"("gang":{"minCount":2})"));
}

TEST_F(ManagersOfVersions, ConflictAboutTheSameField) {
  ASSERT_EQ(apply("old", "v1alpha1", kOldGang), "");
  constexpr std::string_view kNew =
      R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":5}}}]})";
  EXPECT_EQ(apply("new", "v1beta1", kNew),
            "Apply failed with 1 conflict: conflict with \"old\": "
            ".spec.podGroups[name=\"a\"].policy.gang.minCount");
  EXPECT_EQ(apply("new", "v1beta1", kNew, true), "");
  EXPECT_THAT(owned_by("old"), Not(HasSubstr("minCount")));
  EXPECT_THAT(spec(), HasSubstr(R"("minCount":5)"));
}

TEST_F(ManagersOfVersions, LoseWhatAnUpdateInAnotherVersionChanges) {
  ASSERT_EQ(apply("old", "v1alpha1", kOldGang), "");
  update("editor", "v1beta1",
         R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":7}}}]})");
  EXPECT_THAT(owned_by("old"), Not(HasSubstr("minCount")));
  EXPECT_THAT(owned_by("editor"), HasSubstr("minCount"));
}

TEST_F(ManagersOfVersions, PruneWhatTheyAppliedInAnotherVersion) {
  ASSERT_EQ(
      apply(
          "me", "v1alpha1",
          R"({"podGroups":[{"name":"a","policy":{"basic":{}}},{"name":"b","policy":{"basic":{}}}]})"),
      "");
  ASSERT_EQ(
      apply("other", "v1alpha2",
            R"({"podGroupTemplates":[{"name":"a","disruptionMode":"PodGroup","priority":3}]})"),
      "");
  ASSERT_EQ(apply("me", "v1beta1",
                  R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}}}]})"),
            "");
  EXPECT_THAT(spec(), Not(HasSubstr(R"("name":"b")")));
  // What v1alpha1 cannot say, and somebody else has, is still there.
  EXPECT_THAT(spec(), HasSubstr(R"("disruptionMode":{"all":{}})"));
  EXPECT_THAT(spec(), HasSubstr(R"("priority":3)"));
  EXPECT_THAT(owned_by("me"), HasSubstr("v1beta1 "));
}

TEST_F(ManagersOfVersions, KeepAnItemThatSomebodyElseHasInAnotherVersion) {
  ASSERT_EQ(
      apply("me", "v1beta1",
            R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}},"priority":3}]})"),
      "");
  ASSERT_EQ(apply("other", "v1alpha1", R"({"podGroups":[{"name":"a","policy":{"basic":{}}}]})"),
            "");
  ASSERT_EQ(apply("me", "v1beta1", R"({"podGroupTemplates":[]})"), "");
  EXPECT_THAT(spec(), HasSubstr(R"({"name":"a","schedulingPolicy":{"basic":{}})"));
  EXPECT_THAT(spec(), Not(HasSubstr("priority")));
}

}  // namespace versions_test
}  // namespace muster::fields
