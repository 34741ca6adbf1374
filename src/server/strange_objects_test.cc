// Rows of the database that are objects but fit no schema: a start lets them pass, and no request
// for them may stop the server.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace strange_objects_test {

using testing::at;
using testing::TestServer;

constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";
constexpr const char* kPartial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

// Puts an object "odd" into the store, every field of which (but its metadata) is `value`.
void put_odd(TestServer& server, const api::Resource& resource, std::string_view value) {
  std::string fields;
  for (const api::Field& field : resource.schema->fields) {
    if (field.name == "kind" || field.name == "apiVersion" || field.name == "metadata") continue;
    fields += fmt::format(R"(,"{}":{})", field.name, value);
  }
  const std::string ns = resource.namespaced ? "default" : "";
  const std::string place =
      resource.namespaced ? fmt::format(R"("namespace":"{}",)", ns) : std::string();
  store::Write write{.key = {resource.id, ns, "odd"}};
  write.head = fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{{"name":"odd",{})"
                           R"("uid":"u","creationTimestamp":"{}","resourceVersion":")",
                           resource.gvk.kind, resource.gvk.api_version(), place,
                           format_time(server.clock.now()));  // events expire
  write.tail = fmt::format(R"("}}{}}})", fields);
  server.store->submit(std::move(write), [&](const Result<store::ObjectPtr>& written) {
    EXPECT_TRUE(written) << resource.qualified();
  });
}

std::string path_of(const api::Resource& resource) {
  return fmt::format(
      "{}/{}/{}{}", resource.gvk.group.empty() ? "/api" : "/apis/" + resource.gvk.group,
      resource.gvk.version, resource.namespaced ? "namespaces/default/" : "", resource.plural);
}

class StrangeObjects : public ::testing::TestWithParam<const char*> {};

TEST_P(StrangeObjects, AreAnsweredWhateverIsAskedOfThem) {
  TestServer server;
  server.make_namespace("default");
  const api::Registry& registry = api::Registry::builtin();
  for (const api::Resource* resource : registry.resources())
    if (resource->storage == resource && resource->has_verb("get"))
      put_odd(server, *resource, GetParam());
  for (const api::Resource* resource : registry.resources()) {
    if (!resource->has_verb("get")) continue;
    const std::string all = path_of(*resource), one = all + "/odd";
    EXPECT_EQ(at(*server.admin("GET", one), {"metadata", "name"}), "odd") << one;
    for (const char* form : {"application/json", kTable, kPartial}) {
      const http::Headers accept{{"Accept", form}};
      EXPECT_EQ(server.admin("GET", one, "", accept)->status, 200) << one << " as " << form;
      EXPECT_EQ(server.admin("GET", all, "", accept)->status, 200) << all << " as " << form;
      if (!resource->has_verb("watch")) continue;
      const auto watch = server.admin("GET", all + "?watch=1&allowWatchBookmarks=true", "", accept);
      EXPECT_EQ(watch->status, 200) << all << " as " << form;
      watch->hang_up();
    }
    EXPECT_EQ(server.admin("GET", all + "?labelSelector=a%3Db")->status, 200) << all;
  }
  // Writes: whatever the answer is, there is one.
  for (const api::Resource* resource : registry.resources()) {
    if (!resource->has_verb("get")) continue;
    const std::string one = path_of(*resource) + "/odd";
    const std::string labels = R"({"metadata":{"labels":{"a":"b"}}})";
    for (const char* type : {"merge-patch+json", "strategic-merge-patch+json"})
      EXPECT_NE(server.patch(one, labels, type)->status, 0) << one;
    EXPECT_NE(
        server.patch(one, R"([{"op":"remove","path":"/metadata/labels"}])", "json-patch+json")
            ->status,
        0)
        << one;
    EXPECT_NE(server
                  .patch(one + "?fieldManager=m&force=true",
                         fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"odd",)"
                                     R"("labels":{{"a":"b"}}}}}})",
                                     resource->gvk.api_version(), resource->gvk.kind),
                         "apply-patch+yaml")
                  ->status,
              0)
        << one;
    for (const api::Subresource& part : resource->subresources) {
      if (part.name == "log") continue;  // the streams of pods have no agent here
      for (const char* method : {"GET", "POST", "PUT"}) {
        const auto answer =
            server.admin(method, one + "/" + part.name, *method == 'G' ? "" : labels);
        EXPECT_NE(answer->status, 0) << method << ' ' << one << '/' << part.name;
      }
    }
    EXPECT_NE(server.admin("PUT", one, labels)->status, 0) << one;
    EXPECT_NE(server.admin("DELETE", one)->status, 0) << one;
  }
}

INSTANTIATE_TEST_SUITE_P(Values, StrangeObjects,
                         ::testing::Values("7", "null", R"("text")", "true", "[7]", R"(["a"])",
                                           R"([{"a":7}])", R"({"a":7})", R"({"spec":[7]})"));

}  // namespace strange_objects_test
}  // namespace muster::server
