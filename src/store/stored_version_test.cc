#include "store/stored_version.h"

#include <gmock/gmock.h>

#include "store/testing/store_fixture.h"

namespace muster::store {
namespace stored_version_test {

constexpr std::string_view kOld =
    R"({"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"name":"g","namespace":"a","resourceVersion":"7"},)"
    R"("spec":{"podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"t"}},)"
    R"("schedulingPolicy":{"basic":{}},"disruptionMode":"Pod"},"status":{}})";
constexpr std::string_view kNew =
    R"({"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1beta1","metadata":{"name":"g","namespace":"a","resourceVersion":"7"},)"
    R"("spec":{"workloadRef":{"workloadName":"w","templateName":"t"},)"
    R"("schedulingPolicy":{"basic":{}},"disruptionMode":{"single":{}}},"status":{}})";

TEST(StoredVersion, OnlyKindsOfSeveralVersionsAreLookedAt) {
  EXPECT_EQ(storage_of_versions("", "pods"), nullptr);
  EXPECT_EQ(storage_of_versions("no.such", "things"), nullptr);
  ASSERT_NE(storage_of_versions("scheduling.k8s.io", "podgroups"), nullptr);
  EXPECT_EQ(storage_of_versions("scheduling.k8s.io", "podgroups")->gvk.version, "v1beta1");
}

TEST(StoredVersion, AnObjectOfAnEarlierReleaseIsConverted) {
  const api::Resource& groups = *storage_of_versions("scheduling.k8s.io", "podgroups");
  EXPECT_EQ(in_stored_version(kOld, groups), kNew);
  EXPECT_EQ(in_stored_version(kNew, groups), kNew);
}

TEST(StoredVersion, WhatIsNotUnderstoodStaysAsItIs) {
  const api::Resource& groups = *storage_of_versions("scheduling.k8s.io", "podgroups");
  for (const std::string_view text :
       {"", "{", "[]", R"({"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v0"})",
        R"({"kind":"Pod","apiVersion":"v1"})"})
    EXPECT_EQ(in_stored_version(text, groups), text);
}

// A data directory of the release before: watchers and readers see the version of now only.
TEST(StoredVersion, AStartConvertsWhatIsOnDisk) {
  const auto platter = std::make_shared<testing::FakePlatter>();
  const ManualClock clock{Time{}};
  Metrics metrics;
  const auto open = [&] {
    return *open_store(std::make_unique<testing::FakeDisk>(platter),
                       {{"scheduling.k8s.io", "podgroups"}}, clock, metrics,
                       {.commit_inline = true});
  };
  const std::size_t gap = kOld.find("7\"}");
  const Result<ObjectPtr> stored =
      testing::write_and_wait(*open(), {.op = Write::Op::kPut,
                                        .key = {0, "a", "g"},
                                        .expected = 0,
                                        .head = std::string(kOld.substr(0, gap)),
                                        .tail = std::string(kOld.substr(gap + 1))});
  ASSERT_TRUE(stored);
  const auto store = open();
  const ObjectPtr object = store->snapshot()->get({0, "a", "g"});
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->revision(), (*stored)->revision());
  EXPECT_THAT(object->bytes(), ::testing::HasSubstr(R"("workloadRef":{"workloadName":"w")"));
  EXPECT_THAT(object->bytes(), ::testing::HasSubstr("v1beta1"));
  EXPECT_THAT(object->bytes(), ::testing::Not(::testing::HasSubstr("v1alpha2")));
}

}  // namespace stored_version_test
}  // namespace muster::store
