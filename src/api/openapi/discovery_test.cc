#include "api/openapi/discovery.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "api/testing.h"

namespace muster::api {
namespace discovery_test {

const Discovery& discovery() {
  static const Discovery kDiscovery(Registry::builtin());
  return kDiscovery;
}

// As the server answers. Empty if there is no such document.
std::string body_of(std::string_view path, bool aggregated) {
  if (!aggregated && path == "/api") return discovery().api_versions("<server-host>");
  const Document* document = aggregated ? discovery().aggregated(path) : discovery().legacy(path);
  return document == nullptr ? "" : document->body;
}

// Whether all of `part` is in `whole`. The recorded documents are cut: lists may miss items.
bool contains(json::Value whole, json::Value part) {
  if (part.is_object()) {
    return std::ranges::all_of(part.members(), [&](const json::Member& member) {
      return contains(whole.get(member.key), member.value);
    });
  }
  if (!part.is_array()) return json::equal(whole, part);
  return std::ranges::all_of(part.items(), [&](json::Value item) {
    return std::ranges::any_of(whole.items(),
                               [&](json::Value other) { return contains(other, item); });
  });
}

TEST(Discovery, HoldsWhatWasRecorded) {
  const json::Tree recorded(read_testdata("discovery.json"));
  ASSERT_EQ(recorded.root.size(), 8U);
  for (const json::Value step : recorded.root.items()) {
    const auto path = step.get("path").as_string();
    const json::Tree body(body_of(path, step.get("aggregated").as_bool()));
    EXPECT_TRUE(contains(body, step.get("body"))) << path << "\n" << json::write(body);
  }
}

TEST(Discovery, ADocumentThatWasNotCutIsTheSameToTheByte) {
  const json::Tree recorded(read_testdata("discovery.json"));
  for (const json::Value step : recorded.root.items()) {
    if (step.get("path").as_string() != "/apis/batch/v1") continue;
    EXPECT_EQ(discovery().legacy("/apis/batch/v1")->body, json::write(step.get("body")));
  }
}

TEST(Discovery, EveryResourceIsInBothForms) {
  for (const Resource* resource : Registry::builtin().resources()) {
    const bool core = resource->gvk.group.empty();
    const auto path =
        (core ? "/api/" : "/apis/" + resource->gvk.group + "/") + resource->gvk.version;
    const Document* legacy = discovery().legacy(path);
    ASSERT_NE(legacy, nullptr) << path;
    EXPECT_THAT(legacy->body, testing::HasSubstr(fmt::format(R"("name":"{}")", resource->plural)));
    EXPECT_THAT(discovery().aggregated(core ? "/api" : "/apis")->body,
                testing::HasSubstr(fmt::format(R"("resource":"{}")", resource->plural)));
  }
}

TEST(Discovery, CustomResourcesSayTheirGroup) {
  EXPECT_THAT(
      discovery().aggregated("/apis")->body,
      testing::HasSubstr(R"({"resource":"jobsets","responseKind":{"group":"jobset.x-k8s.io",)"
                         R"("version":"v1alpha2","kind":"JobSet"},"scope":"Namespaced")"));
}

TEST(Discovery, UnknownPathsAreNotFound) {
  EXPECT_EQ(discovery().legacy("/apis/nosuch.example.com"), nullptr);
  EXPECT_EQ(discovery().legacy("/apis/batch/v9"), nullptr);
  EXPECT_EQ(discovery().aggregated("/apis/batch"), nullptr);
}

TEST(Discovery, TheEtagIsTheQuotedHashOfTheBody) {
  const auto& etag = discovery().aggregated("/apis")->etag;
  EXPECT_EQ(etag.size(), 130U);
  EXPECT_EQ(etag, make_document(discovery().aggregated("/apis")->body).etag);
  EXPECT_NE(etag, discovery().aggregated("/api")->etag);
  EXPECT_EQ(make_document("").etag.substr(0, 9), "\"CF83E135");
}

TEST(Discovery, PathsAreListed) {
  EXPECT_THAT(discovery().paths(),
              testing::IsSupersetOf({"/api", "/api/v1", "/apis", "/apis/batch", "/apis/batch/v1"}));
}

}  // namespace discovery_test
}  // namespace muster::api
