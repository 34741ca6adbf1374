// create, update and the patches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace write_test {

using testing::at;
using testing::TestExchange;
using testing::TestExchangePtr;
using testing::TestServer;

class Write : public ::testing::Test {
 protected:
  Write() { server.make_namespace("a"); }

  TestExchangePtr create(const std::string& body, const std::string& query = "") {
    return server.admin("POST", std::string(kMaps) + query, body);
  }
  TestExchangePtr put(const std::string& name, const std::string& body) {
    return server.admin("PUT", std::string(kMaps) + "/" + name, body);
  }
  TestExchangePtr patch(const std::string& name, const std::string& body,
                        const std::string& type = "merge-patch+json") {
    return server.patch(std::string(kMaps) + "/" + name, body, type);
  }
  TestExchangePtr get(const std::string& name) {
    return server.admin("GET", std::string(kMaps) + "/" + name);
  }
  static std::string version(const TestExchange& exchange) {
    return at(exchange, {"metadata", "resourceVersion"});
  }
  store::Revision revision() { return server.store->snapshot()->revision(); }

  static constexpr const char* kMaps = "/api/v1/namespaces/a/configmaps";
  TestServer server;
};

// --- create ---

TEST_F(Write, CreateFillsInWhatTheServerDecides) {
  const TestExchangePtr made = create(
      R"({"metadata":{"name":"c","uid":"mine","creationTimestamp":"2000-01-01T00:00:00Z","namespace":"a"}})");
  ASSERT_EQ(made->status, 201) << made->body;
  EXPECT_EQ(at(*made, {"metadata", "uid"}).size(), 36u);
  EXPECT_EQ(at(*made, {"metadata", "creationTimestamp"}), "2027-01-15T08:00:00Z");
  EXPECT_EQ(version(*made), std::to_string(revision()));
}

TEST_F(Write, CreateRefusesWhatCannotBe) {
  EXPECT_EQ(
      at(*create(R"({"metadata":{"name":"c","namespace":"b"}})"), {"message"}),
      "the namespace of the provided object does not match the namespace sent on the request");
  EXPECT_EQ(at(*create(R"({"metadata":{"name":"c","resourceVersion":"7"}})"), {"message"}),
            "resourceVersion should not be set on objects to be created");
  EXPECT_EQ(create(R"({"metadata":{"name":"d","resourceVersion":"abc"}})")->status, 201)
      << "one that is no number says nothing";
  EXPECT_EQ(at(*put("d", R"({"metadata":{"name":"d","resourceVersion":"abc"}})"), {"message"}),
            R"(strconv.ParseUint: parsing "abc": invalid syntax)");
  create(R"({"metadata":{"name":"c"}})");
  const TestExchangePtr again = create(R"({"metadata":{"name":"c"}})");
  EXPECT_EQ(again->status, 409);
  EXPECT_EQ(at(*again, {"reason"}), "AlreadyExists");
  EXPECT_EQ(
      server.admin("POST", "/api/v1/namespaces/nowhere/configmaps", R"({"metadata":{"name":"c"}})")
          ->status,
      404);
}

TEST_F(Write, AGeneratedNameIsFreeAndFitsALabel) {
  const std::string prefix(70, 'x');
  const TestExchangePtr made = create(R"({"metadata":{"generateName":")" + prefix + R"("}})");
  ASSERT_EQ(made->status, 201) << made->body;
  EXPECT_EQ(at(*made, {"metadata", "name"}).size(), 63u);
  EXPECT_NE(at(*create(R"({"metadata":{"generateName":"y-"}})"), {"metadata", "name"}),
            at(*create(R"({"metadata":{"generateName":"y-"}})"), {"metadata", "name"}));
}

TEST_F(Write, ADryRunShowsAndStoresNothing) {
  const store::Revision before = revision();
  const TestExchangePtr made = create(R"({"metadata":{"name":"c"}})", "?dryRun=All");
  EXPECT_EQ(made->status, 201);
  EXPECT_EQ(version(*made), "null");
  EXPECT_EQ(get("c")->status, 404);
  EXPECT_EQ(revision(), before);
  EXPECT_EQ(create(R"({"metadata":{"name":"c"}})", "?dryRun=Some")->status, 422);
}

TEST_F(Write, UnknownAndRepeatedFieldsAreRefusedWarnedOfOrIgnored) {
  const std::string body = R"({"metadata":{"name":"c","foo":1},"bar":2,"data":{"a":"1","a":"2"}})";
  EXPECT_EQ(
      at(*create(body, "?fieldValidation=Strict"), {"message"}),
      R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field )"
      R"("metadata.foo", unknown field "bar", duplicate field "data.a")");
  const TestExchangePtr warned = create(body, "?dryRun=All");
  EXPECT_EQ(warned->status, 201);
  std::vector<std::string> warnings;
  for (const auto& [name, value] : warned->headers) {
    if (name == "Warning") warnings.push_back(value);
  }
  EXPECT_THAT(warnings, ::testing::ElementsAre(R"(299 - "unknown field \"metadata.foo\"")",
                                               R"(299 - "unknown field \"bar\"")",
                                               R"(299 - "duplicate field \"data.a\"")"));
  const TestExchangePtr ignored = create(body, "?fieldValidation=Ignore");
  EXPECT_EQ(http::find_header(ignored->headers, "Warning"), "");
  EXPECT_EQ(at(*ignored, {"data", "a"}), "2");
}

TEST_F(Write, BodiesMayBeYaml) {
  const TestExchangePtr made =
      server.admin("POST", kMaps, "metadata:\n  name: c\ndata:\n  k: \"1\"\n",
                   {{"Content-Type", "application/yaml"}});
  EXPECT_EQ(made->status, 201) << made->body;
  EXPECT_EQ(at(*made, {"data", "k"}), "1");
}

// --- update ---

TEST_F(Write, AStaleUpdateIsAConflict) {
  const TestExchangePtr made = create(R"({"metadata":{"name":"c"}})");
  const std::string old =
      R"({"metadata":{"name":"c","resourceVersion":")" + version(*made) + R"("},"data":{"k":"1"}})";
  EXPECT_EQ(put("c", old)->status, 200);
  const TestExchangePtr stale = put("c", old);
  EXPECT_EQ(stale->status, 409);
  EXPECT_EQ(at(*stale, {"message"}),
            "Operation cannot be fulfilled on configmaps \"c\": the object has been modified; "
            "please apply your changes to "
            "the latest version and try again");
}

TEST_F(Write, AnUpdateWithoutAVersionIsUnconditionalUnlessTheKindForbidsIt) {
  create(R"({"metadata":{"name":"c"}})");
  EXPECT_EQ(put("c", R"({"metadata":{"name":"c"},"data":{"k":"1"}})")->status, 200);
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/a/leases";
  server.admin("POST", leases, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"x"}})");
  const TestExchangePtr refused =
      server.admin("PUT", leases + "/l", R"({"metadata":{"name":"l"},"spec":{}})");
  EXPECT_EQ(refused->status, 422);
  EXPECT_EQ(at(*refused, {"message"}),
            "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: "
            "0: must be specified for an "
            "update");
}

TEST_F(Write, AnEmptyManagedFieldsForgetsOwnersUntilSomebodyApplies) {
  const auto owners = [](const TestExchange& exchange) {
    return at(exchange, {"metadata", "managedFields"});
  };
  EXPECT_NE(owners(*create(R"({"metadata":{"name":"c","managedFields":[]},"data":{"k":"1"}})")),
            "null");
  EXPECT_EQ(owners(*put("c", R"({"metadata":{"name":"c","managedFields":[]},"data":{"k":"1"}})")),
            "null");
  EXPECT_EQ(owners(*put("c", R"({"metadata":{"name":"c"},"data":{"k":"2"}})")), "null");
  const TestExchangePtr applied = server.patch(
      std::string(kMaps) + "/c?fieldManager=m",
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"l":"1"}})",
      "apply-patch+yaml");
  EXPECT_THAT(owners(*applied), ::testing::HasSubstr(R"("manager":"m","operation":"Apply")"));
  // A patch may ask for it, too.
  EXPECT_EQ(owners(*patch("c", R"({"metadata":{"managedFields":[]}})")), "null");
}

TEST_F(Write, SomeKindsAreCreatedByAnUpdate) {
  EXPECT_EQ(server
                .admin("PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/new",
                       R"({"metadata":{"name":"new"}})")
                ->status,
            201);
  EXPECT_EQ(put("new", R"({"metadata":{"name":"new"}})")->status, 404);
}

TEST_F(Write, AnUpdateThatChangesNothingIsNotStored) {
  const TestExchangePtr made = create(R"({"metadata":{"name":"c"},"data":{"k":"1"}})");
  server.clock.advance(std::chrono::hours(1));
  const store::Revision before = revision();
  const TestExchangePtr same = put("c", R"({"metadata":{"name":"c"},"data":{"k":"1"}})");
  EXPECT_EQ(same->status, 200);
  EXPECT_EQ(same->body, made->body);
  EXPECT_EQ(patch("c", "{}")->body, made->body);
  EXPECT_EQ(revision(), before);
}

TEST_F(Write, IdentityCannotBeChanged) {
  const TestExchangePtr made = create(R"({"metadata":{"name":"c"}})");
  EXPECT_EQ(at(*put("c", R"({"metadata":{"name":"d"}})"), {"message"}),
            "the name of the object (d) does not match the name on the URL (c)");
  EXPECT_EQ(put("c", R"({"metadata":{"name":"c","uid":"other"}})")->status, 409);
  EXPECT_EQ(patch("c", R"({"metadata":{"uid":"other"}})")->status, 422);
  EXPECT_EQ(
      at(*patch("c",
                R"({"metadata":{"creationTimestamp":"2000-01-01T00:00:00Z","labels":{"a":"b"}}})"),
         {"metadata", "creationTimestamp"}),
      at(*made, {"metadata", "creationTimestamp"}));
}

TEST_F(Write, StatusAndSpecAreWrittenApart) {
  const std::string jobs = "/apis/batch/v1/namespaces/a/jobs";
  const TestExchangePtr made = server.admin(
      "POST", jobs,
      R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}},"status":{"active":3}})");
  ASSERT_EQ(made->status, 201) << made->body;
  EXPECT_EQ(at(*made, {"status"}), "{}");
  const TestExchangePtr status =
      server.patch(jobs + "/j/status", R"({"spec":{"parallelism":7},"status":{"active":1}})");
  EXPECT_EQ(at(*status, {"spec", "parallelism"}), "1");
  EXPECT_EQ(at(*status, {"status", "active"}), "1");
  const TestExchangePtr spec =
      server.patch(jobs + "/j", R"({"spec":{"parallelism":7},"status":{"active":9}})");
  EXPECT_EQ(at(*spec, {"spec", "parallelism"}), "7");
  EXPECT_EQ(at(*spec, {"status", "active"}), "1");
  EXPECT_EQ(at(*spec, {"metadata", "generation"}), "2");
}

// --- patches ---

TEST_F(Write, TheFourKindsOfPatch) {
  create(R"({"metadata":{"name":"c"},"data":{"k":"1","l":"2"}})");
  EXPECT_EQ(at(*patch("c", R"({"data":{"k":null,"m":"3"}})"), {"data"}), R"({"l":"2","m":"3"})");
  EXPECT_EQ(
      at(*patch("c",
                R"([{"op":"test","path":"/data/l","value":"2"},{"op":"remove","path":"/data/l"}])",
                "json-patch+json"),
         {"data"}),
      R"({"m":"3"})");
  EXPECT_EQ(
      at(*patch("c", R"({"metadata":{"finalizers":["x.io/a"]}})", "strategic-merge-patch+json"),
         {"metadata", "finalizers"}),
      R"(["x.io/a"])");
  const TestExchangePtr applied =
      server.admin("PATCH", std::string(kMaps) + "/c?fieldManager=me",
                   "apiVersion: v1\nkind: ConfigMap\ndata: {o: \"4\"}\n",
                   {{"Content-Type", "application/apply-patch+yaml"}});
  EXPECT_EQ(at(*applied, {"data"}), R"({"m":"3","o":"4"})") << applied->body;
}

TEST_F(Write, APatchSaysWhyItFailed) {
  create(R"({"metadata":{"name":"c"}})");
  EXPECT_EQ(patch("missing", "{}")->status, 404);
  EXPECT_EQ(patch("c", "{}", "json")->status, 415);
  EXPECT_EQ(at(*patch("c", "{}", "json-patch+json"), {"message"}),
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp");
  EXPECT_EQ(at(*patch("c", "[]"), {"message"}),
            "error decoding patch: json: cannot unmarshal array into Go value of type "
            "map[string]interface {}");
  const TestExchangePtr failed =
      patch("c", R"([{"op":"remove","path":"/data/x"}])", "json-patch+json");
  EXPECT_EQ(failed->status, 422);
  EXPECT_EQ(at(*failed, {"message"}),
            "the server rejected our request due to an error in our request");
  const TestExchangePtr wrong_type = patch("c", R"({"data":{"k":5}})");
  EXPECT_EQ(wrong_type->status, 422);
  EXPECT_TRUE(at(*wrong_type, {"message"}).starts_with(R"( "" is invalid: patch: Invalid value: )"))
      << wrong_type->body;
  EXPECT_EQ(server.patch(std::string(kMaps) + "/c?force=true", "{}")->status, 422);
}

// An object of another kind among ConfigMaps would break every list of them.
TEST_F(Write, APatchCannotMakeAnotherKindOfAnObject) {
  create(R"({"metadata":{"name":"c"}})");
  const auto ends = [&](const std::string& body) {
    const TestExchangePtr refused = patch("c", body);
    EXPECT_EQ(refused->status, 422) << body << refused->body;
    const std::string message = at(*refused, {"message"});
    return message.substr(message.rfind("}\": ") + 4);
  };
  EXPECT_EQ(ends(R"({"kind":"Pod"})"),
            "converting (v1.Pod) to (core.ConfigMap): unknown conversion");
  EXPECT_EQ(ends(R"({"apiVersion":"v9"})"),
            "no kind \"ConfigMap\" is registered for version \"v9\" in scheme "
            "\"pkg/runtime/scheme.go:111\"");
  EXPECT_EQ(ends(R"({"kind":5})"),
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go "
            "struct field .kind of type string");
  EXPECT_EQ(patch("c", R"({"kind":null,"data":{"a":"b"}})")->status, 200);
  EXPECT_EQ(at(*get("c"), {"kind"}), "ConfigMap");
}

TEST_F(Write, ACustomResourceIsOfItsKind) {
  const std::string flavors = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors";
  const auto flavor = [](const std::string& kind) {
    return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":")" + kind +
           R"(","metadata":{"name":"f"}})";
  };
  const TestExchangePtr other = server.admin("POST", flavors, flavor("Flavor"));
  EXPECT_EQ(other->status, 422);
  EXPECT_EQ(at(*other, {"message"}),
            "Flavor.kueue.x-k8s.io \"f\" is invalid: kind: Invalid value: \"Flavor\": must be "
            "ResourceFlavor");
  ASSERT_EQ(server.admin("POST", flavors, flavor("ResourceFlavor"))->status, 201);
  for (const char* const body :
       {R"({"kind":"Flavor"})", R"({"kind":null})", R"({"apiVersion":"v9"})",
        R"({"apiVersion":null})", R"({"apiVersion":5})"}) {
    const TestExchangePtr refused = server.patch(flavors + "/f", body);
    EXPECT_EQ(refused->status, 422) << body << refused->body;
  }
}

TEST_F(Write, TooManyOperationsAreTooLarge) {
  create(R"({"metadata":{"name":"c"}})");
  std::string operations = "[";
  for (int i = 0; i < 10'001; ++i)
    operations += R"({"op":"test","path":"/kind","value":"ConfigMap"},)";
  operations.back() = ']';
  EXPECT_EQ(patch("c", operations, "json-patch+json")->status, 413);
}

TEST_F(Write, ApplyCreatesWhatIsMissingAndConflictsOverWhatOthersOwn) {
  const auto apply = [&](const std::string& manager, const std::string& value,
                         const std::string& more = "") {
    return server.admin(
        "PATCH", std::string(kMaps) + "/c?fieldManager=" + manager + more,
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"k":")" + value +
            R"("}})",
        {{"Content-Type", "application/apply-patch+yaml"}});
  };
  EXPECT_EQ(apply("one", "1")->status, 201);
  const TestExchangePtr refused = apply("two", "2");
  EXPECT_EQ(refused->status, 409);
  EXPECT_EQ(at(*refused, {"message"}),
            R"(Apply failed with 1 conflict: conflict with "one": .data.k)");
  EXPECT_EQ(at(*apply("two", "2", "&force=true"), {"data", "k"}), "2");
  EXPECT_EQ(apply("", "2")->status, 422);
}

TEST_F(Write, AnObjectTooLargeForTheStoreIsRefused) {
  const std::string big(1'000'000, 'x');
  const TestExchangePtr made = server.admin(
      "POST", "/api/v1/namespaces/a/pods",
      R"({"metadata":{"name":"p","annotations":{}},"spec":{"containers":[{"name":"c","image":"i","command":[")" +
          big + R"(",")" + big + R"("]}]}})");
  EXPECT_EQ(made->status, 413) << made->body.substr(0, 300);
}

TEST_F(Write, TheDefinitionOfAServedKindIsEstablished) {
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const TestExchangePtr made = server.admin(
      "POST", definitions,
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"jobsets.jobset.x-k8s.io"},)"
      R"("spec":{"group":"jobset.x-k8s.io","names":{"kind":"JobSet","listKind":"JobSetList","plural":"jobsets","singular":"jobset"},)"
      R"("scope":"Namespaced","versions":[{"name":"v1alpha2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  ASSERT_EQ(made->status, 201) << made->body;
  const TestExchangePtr read = server.admin("GET", definitions + "/jobsets.jobset.x-k8s.io");
  EXPECT_NE(read->body.find(R"("type":"Established","status":"True")"), std::string::npos)
      << read->body;
}

}  // namespace write_test
}  // namespace muster::server
