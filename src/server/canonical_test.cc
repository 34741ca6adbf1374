#include "server/canonical.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::server {
namespace canonical_test {

json::Value tree(json::Arena& arena, std::string_view text) { return *json::parse(arena, text); }

TEST(Gap, IsWhereTheMemberStands) {
  json::Arena arena;
  const Gapped text = with_gap(
      tree(arena, R"({"kind":"A","metadata":{"name":"a","resourceVersion":"7","uid":"u"},"x":1})"));
  EXPECT_EQ(text.head, R"({"kind":"A","metadata":{"name":"a","resourceVersion":")");
  EXPECT_EQ(text.tail, R"(","uid":"u"},"x":1})");
  EXPECT_EQ(text.with("41"),
            R"({"kind":"A","metadata":{"name":"a","resourceVersion":"41","uid":"u"},"x":1})");
}

// Nothing that a user writes into an object can be taken for the place of its version.
TEST(Gap, IsNotFoundInWhatUsersWrite) {
  json::Arena arena;
  const json::Value object = tree(
      arena, R"({"apiVersion":"v1","data":{"metadata":{"resourceVersion":"0"}},)"
             R"("metadata":{"annotations":{"a":"\"resourceVersion\":\"0\"","resourceVersion":"0"},)"
             R"("resourceVersion":"0"},"spec":{"resourceVersion":"0"}})");
  const Gapped text = with_gap(object);
  json::Arena other;
  const json::Value back = tree(other, text.with("99"));
  EXPECT_EQ(back.get({"metadata", "resourceVersion"}).as_string(), "99");
  EXPECT_EQ(back.get({"data", "metadata", "resourceVersion"}).as_string(), "0");
  EXPECT_EQ(back.get({"metadata", "annotations", "resourceVersion"}).as_string(), "0");
  EXPECT_EQ(back.get({"spec", "resourceVersion"}).as_string(), "0");
}

TEST(Canonical, PutsWhatAdmissionAddedInItsPlace) {
  json::Arena arena;
  const api::Resource& maps = *api::Registry::builtin().find("", "v1", "configmaps");
  const json::Value object = tree(
      arena,
      R"({"data":{"k":"v"},"metadata":{"uid":"u","name":"a"},"apiVersion":"v1","kind":"ConfigMap"})");
  const Result<json::Value> stored = canonical(arena, object, maps);
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(
      with_gap(*stored).with("5"),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"5"},"data":{"k":"v"}})");
  EXPECT_EQ(
      without_revision(*stored),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u"},"data":{"k":"v"}})");
}

}  // namespace canonical_test
}  // namespace muster::server
