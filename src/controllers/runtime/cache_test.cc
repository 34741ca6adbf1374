#include "controllers/runtime/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers {
namespace cache_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kPods = "/api/v1/pods";

struct Seen {
  std::string name;
  int revision = 0;
};

class CacheTest : public ::testing::Test {
 protected:
  CacheTest() {
    cache_.on_change([this](const Seen* before, const Seen* after) {
      told_.push_back(fmt::format("{} -> {}", text(before), text(after)));
    });
    pods_.start();
    server_.settle();
    server_.show_complete(kPods, 1);
  }

  static std::string text(const Seen* seen) {
    return seen == nullptr ? "none" : fmt::format("{}@{}", seen->name, seen->revision);
  }
  void show(std::string_view type, std::string_view name, int revision, std::string_view owner) {
    const std::string owners =
        owner.empty()
            ? ""
            : fmt::format(R"(,"ownerReferences":[{{"uid":"{}","controller":true}}])", owner);
    server_.show(kPods, type,
                 fmt::format(R"({{"metadata":{{"namespace":"d","name":"{0}","uid":"u-{0}",)"
                             R"("resourceVersion":"{1}"{2}}}}})",
                             name, revision, owners));
  }
  std::vector<std::string> owned_by(std::string_view uid) const {
    std::vector<std::string> out;
    for (const Seen* each : cache_.owned_by("d", uid)) out.push_back(text(each));
    return out;
  }

  testing::FakeServer server_;
  client::Informer pods_{server_.client, *api::Registry::builtin().find("", "v1", "pods")};
  Cache<Seen> cache_{pods_, [](const store::Object& object, json::Value) {
                       return Seen{
                           object.meta().name,
                           static_cast<int>(client::to_revision(object.meta().resource_version))};
                     }};
  std::vector<std::string> told_;
};

TEST_F(CacheTest, AChangeTakesThePlaceOfTheVersionBeforeIt) {
  show("ADDED", "a", 2, "o");
  show("ADDED", "b", 3, "o");
  show("MODIFIED", "a", 4, "o");
  EXPECT_THAT(told_, ElementsAre("none -> a@2", "none -> b@3", "a@2 -> a@4"));
  EXPECT_THAT(owned_by("o"), ElementsAre("a@4", "b@3"));
  EXPECT_EQ(text(cache_.find("d", "a")), "a@4");
}

TEST_F(CacheTest, AnObjectMovesToItsNewOwner) {
  show("ADDED", "a", 2, "o");
  show("MODIFIED", "a", 3, "p");
  EXPECT_THAT(owned_by("o"), IsEmpty());
  EXPECT_THAT(owned_by("p"), ElementsAre("a@3"));
  show("MODIFIED", "a", 4, "");
  EXPECT_THAT(owned_by("p"), IsEmpty());
  show("MODIFIED", "a", 5, "");
  show("MODIFIED", "a", 6, "o");
  EXPECT_THAT(owned_by("o"), ElementsAre("a@6"));
  EXPECT_THAT(told_,
              ElementsAre("none -> a@2", "a@2 -> a@3", "a@3 -> a@4", "a@4 -> a@5", "a@5 -> a@6"));
}

TEST_F(CacheTest, WhatIsGoneIsNobodys) {
  show("ADDED", "a", 2, "o");
  show("DELETED", "a", 3, "o");
  EXPECT_THAT(owned_by("o"), IsEmpty());
  EXPECT_EQ(cache_.find("d", "a"), nullptr);
  EXPECT_THAT(told_, ElementsAre("none -> a@2", "a@2 -> none"));
}

}  // namespace cache_test
}  // namespace muster::controllers
