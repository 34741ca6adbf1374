#include "controllers/endpoints/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "controllers/runtime/testing.h"
#include "json/testing.h"

namespace muster::controllers::endpoints {
namespace plan_test {

using json::IsJson;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A headless Service "x" as a JobSet makes it, and pods of it on node n1 in zone z.
class Slices : public ::testing::Test {
 protected:
  Pod& pod(const std::string& name, const std::string& ip = "10.0.0.1") {
    Pod& out = pods_.emplace_back();
    out.ref = {.ns = "d", .name = name, .uid = "u-" + name};
    if (!ip.empty()) out.ips = {ip};
    out.node = "n1";
    out.ready = true;
    return out;
  }
  void change_service(std::string_view path, std::string_view json) {
    const json::Tree value(json);
    service_json_.root.get("spec").set(path, json::clone(service_json_.arena, value));
  }
  Plan planned() {
    service_ = read_service(service_json_);
    Observed observed{
        .service = &service_, .pods = {}, .slices = {}, .node = [this](const std::string& name) {
          const auto at = nodes_.find(name);
          return at == nodes_.end() ? nullptr : &at->second;
        }};
    for (const Pod& each : pods_) observed.pods.push_back(&each);
    for (const Slice& each : slices_) observed.slices.push_back(&each);
    return plan(testing::resource("discovery.k8s.io/v1", "EndpointSlice"), observed);
  }
  std::vector<std::string> writes() {
    std::vector<std::string> out;
    for (const auto& write : planned().operations()) out.push_back(write.summary());
    return out;
  }
  json::Value body(std::size_t index = 0) {
    return *json::parse(arena_, arena_.copy(planned().operations().at(index).body.text()));
  }
  json::Value endpoint(std::size_t index = 0) { return body().get("endpoints").item(index); }
  // As if the writes of the plan had been carried out.
  void carry_out() {
    for (const auto& write : planned().operations()) {
      json::Arena arena;
      if (write.verb == client::Verb::kDelete) {
        std::erase_if(slices_, [&](const Slice& each) { return each.ref.name == write.name; });
        continue;
      }
      Slice now = read_slice(*json::parse(arena, write.body.text()));
      now.ref.ns = "d";
      if (write.verb == client::Verb::kCreate) {
        now.ref.name = fmt::format("x-{}", ++made_);
        slices_.push_back(now);
        continue;
      }
      for (Slice& each : slices_) {
        if (each.ref.name != write.name) continue;
        std::erase_if(now.labels, [&](const auto& label) {
          return json::parse(arena, write.body.text())
              ->get({"metadata", "labels", label.first})
              .is_null();
        });
        each.endpoints = now.endpoints;
        each.ports = now.ports;
        each.labels = now.labels;
      }
    }
    EXPECT_THAT(writes(), IsEmpty()) << "a second look finds nothing to do";
  }

  json::Tree service_json_{
      R"({"metadata":{"namespace":"d","name":"x","uid":"u-x","labels":{"team":"a"},
    "creationTimestamp":"2027-01-15T08:00:00Z"},
    "spec":{"clusterIP":"None","selector":{"set":"x"},"ipFamilies":["IPv4"]}})"};
  Service service_;
  std::list<Pod> pods_;
  std::list<Slice> slices_;
  std::map<std::string, Node> nodes_{{"n1", {"z"}}};
  int made_ = 0;
  json::Arena arena_;
};

TEST_F(Slices, AHeadlessServiceListsItsPodsWithTheirNames) {
  Pod& one = pod("x-w-0-0", "10.0.0.7");
  one.hostname = "x-w-0-0";
  one.subdomain = "x";
  one.ready_since = Time(std::chrono::seconds(1'800'000'009));
  EXPECT_THAT(
      body(),
      IsJson(R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","addressType":"IPv4",
    "metadata":{"generateName":"x-","namespace":"d",
      "labels":{"team":"a","kubernetes.io/service-name":"x","service.kubernetes.io/headless":"",
        "endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io"},
      "annotations":{"endpoints.kubernetes.io/last-change-trigger-time":"2027-01-15T08:00:09Z"},
      "ownerReferences":[{"apiVersion":"v1","kind":"Service","name":"x","uid":"u-x","controller":true,
        "blockOwnerDeletion":true}]},
    "endpoints":[{"addresses":["10.0.0.7"],"conditions":{"ready":true,"serving":true,"terminating":false},
      "hostname":"x-w-0-0","nodeName":"n1","zone":"z",
      "targetRef":{"kind":"Pod","namespace":"d","name":"x-w-0-0","uid":"u-x-w-0-0"}}],"ports":null})"));
  carry_out();
}

TEST_F(Slices, OnlyPodsOfThisSubdomainHaveAHostname) {
  pod("a").hostname = "h";
  pod("b", "10.0.0.2").subdomain = "x";
  Pod& other = pod("c", "10.0.0.3");
  other.hostname = "h";
  other.subdomain = "y";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(endpoint(i).has("hostname")) << i;
}

TEST_F(Slices, ConditionsFollowReadinessDeletionAndWhatTheServicePublishes) {
  struct Row {
    bool ready, deleting, publish;
    std::string_view conditions;
  };
  for (const Row& row : {
           Row{true, false, false, R"({"ready":true,"serving":true,"terminating":false})"},
           Row{false, false, false, R"({"ready":false,"serving":false,"terminating":false})"},
           Row{true, true, false, R"({"ready":false,"serving":true,"terminating":true})"},
           Row{false, false, true, R"({"ready":true,"serving":false,"terminating":false})"},
           Row{false, true, true, R"({"ready":true,"serving":false,"terminating":true})"},
       }) {
    pods_.clear();
    Pod& one = pod("a");
    one.ready = row.ready;
    one.deleting = row.deleting;
    change_service("publishNotReadyAddresses", row.publish ? "true" : "false");
    EXPECT_THAT(endpoint().get("conditions"), IsJson(row.conditions));
  }
}

TEST_F(Slices, PodsWithoutAnAddressOrThatHaveEndedAreNoEndpoints) {
  pod("no-address", "");
  pod("ended").ended = true;
  EXPECT_THAT(body().get("endpoints"), IsJson("[]"));
}

TEST_F(Slices, WithoutAnyEndpointOneEmptySliceStandsForThat) {
  EXPECT_THAT(writes(), ElementsAre("create endpointslices.discovery.k8s.io d/"));
  carry_out();
  EXPECT_THAT(slices_, SizeIs(1));
}

TEST_F(Slices, ThePlaceholderTakesTheFirstEndpointsAndIsItAgainWhenTheLastOneGoes) {
  carry_out();
  pod("a");
  EXPECT_THAT(writes(), ElementsAre("patch endpointslices.discovery.k8s.io d/x-1"));
  carry_out();
  pods_.clear();
  EXPECT_THAT(writes(), ElementsAre("patch endpointslices.discovery.k8s.io d/x-1"))
      << "used again rather than deleted and made anew";
  carry_out();
  EXPECT_THAT(slices_, SizeIs(1));
}

TEST_F(Slices, APodOfAnUnknownNodeIsLeftOutAndTriedAgainUnlessUnreadyOnesArePublished) {
  pod("a").node = "lost";
  pod("b", "10.0.0.2");
  EXPECT_THAT(body().get("endpoints").items(), SizeIs(1));
  EXPECT_THAT(planned().error, HasSubstr("its node lost is not known"));
  change_service("publishNotReadyAddresses", "true");
  EXPECT_THAT(body().get("endpoints").items(), SizeIs(2));
  EXPECT_THAT(planned().error, IsEmpty());
}

TEST_F(Slices, ServicesThatAreNotServedByPodsHaveNone) {
  pod("a");
  for (const char* spec :
       {R"({"type":"ExternalName","selector":{"a":"b"}})", R"({"clusterIP":"None"})"}) {
    service_json_.root.set("spec", json::clone(service_json_.arena, json::Tree(spec)));
    EXPECT_THAT(writes(), IsEmpty()) << spec;
  }
}

TEST_F(Slices, AServiceThatIsBeingDeletedGetsNoMore) {
  pod("a");
  service_json_.root.get("metadata").set("deletionTimestamp", "2027-01-15T08:00:00Z");
  EXPECT_THAT(writes(), IsEmpty());
}

TEST_F(Slices, PortsAreResolvedByNumberOrNameAndGroupThePods) {
  change_service("ports", R"([{"name":"http","port":80,"targetPort":"web","appProtocol":"h2c"},
    {"name":"metrics","port":9,"targetPort":9090},{"name":"plain","port":7,"protocol":"UDP"}])");
  pod("a").ports = {{"web", "TCP", 8080}};
  pod("b", "10.0.0.2").ports = {{"web", "UDP", 53}, {"web", "TCP", 8080}};
  pod("c", "10.0.0.3").ports = {{"web", "TCP", 8081}};
  pod("d", "10.0.0.4");
  EXPECT_THAT(writes(), SizeIs(3)) << "8080, 8081 and none of that name";
  EXPECT_THAT(body(0).get("ports"),
              IsJson(R"([{"name":"http","protocol":"TCP","port":8080,"appProtocol":"h2c"},
    {"name":"metrics","protocol":"TCP","port":9090},{"name":"plain","protocol":"UDP","port":7}])"));
  EXPECT_THAT(body(0).get("endpoints").items(), SizeIs(2));
  carry_out();
}

TEST_F(Slices, EachFamilyOfAddressesHasItsSlices) {
  change_service("ipFamilies", R"(["IPv4","IPv6"])");
  pod("a").ips = {"10.0.0.1", "fd00::1"};
  pod("b").ips = {"10.0.0.2"};
  EXPECT_THAT(writes(), SizeIs(2));
  EXPECT_EQ(body(1).get("addressType").as_string(), "IPv6");
  EXPECT_THAT(body(1).get("endpoints").items(), SizeIs(1));
  carry_out();
  change_service("ipFamilies", R"(["IPv4"])");
  EXPECT_THAT(writes(), ElementsAre("delete endpointslices.discovery.k8s.io d/x-2"));
}

TEST_F(Slices, LabelsOfTheServiceAreMirrored) {
  pod("a");
  carry_out();
  service_json_.root.get({"metadata", "labels"}).erase("team");
  service_json_.root.get({"metadata", "labels"}).set("tier", "b");
  EXPECT_THAT(body().get({"metadata", "labels"}), IsJson(R"({"tier":"b","team":null,
    "kubernetes.io/service-name":"x","service.kubernetes.io/headless":"",
    "endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io"})"));
  carry_out();
}

TEST_F(Slices, AServiceWithAnAddressIsNotHeadless) {
  change_service("clusterIP", R"("10.96.0.9")");
  pod("a");
  EXPECT_FALSE(body().get({"metadata", "labels"}).has("service.kubernetes.io/headless"));
}

TEST_F(Slices, ManyPodsMakeSeveralSlicesAndFewWritesAfterwards) {
  for (int i = 0; i < 250; ++i) pod(fmt::format("p-{:03}", i), fmt::format("10.0.1.{}", i));
  EXPECT_THAT(writes(), SizeIs(3));
  carry_out();
  pods_.front().ready = false;
  EXPECT_THAT(writes(), SizeIs(1));
  carry_out();
  pods_.pop_front();
  pod("z", "10.0.9.9");
  EXPECT_THAT(writes(), SizeIs(1)) << "the new one goes where one has left";
  carry_out();
}

TEST_F(Slices, ARefusalIsToldOnTheService) {
  pod("a");
  const Plan plan = planned();
  ASSERT_TRUE(plan.steps[0].when_refused);
  EXPECT_EQ(plan.steps[0].when_refused->reason, "FailedToUpdateEndpointSlices");
  EXPECT_EQ(plan.steps[0].when_refused->message,
            "Error updating Endpoint Slices for Service d/x: {}");
}

TEST(ReadPods, PortsOfContainersComeBeforeThoseOfSidecars) {
  const Pod pod = read_pod(json::Tree(R"({"metadata":{"namespace":"d","name":"a"},
    "spec":{"initContainers":[{"restartPolicy":"Always","ports":[{"name":"p","containerPort":1}]},
        {"ports":[{"name":"p","containerPort":2}]}],
      "containers":[{"ports":[{"name":"p","containerPort":3}]}]},
    "status":{"phase":"Running","podIP":"10.0.0.1","conditions":[{"type":"Ready","status":"True"}]}})"));
  ASSERT_THAT(pod.ports, SizeIs(2));
  EXPECT_EQ(pod.ports[0].port, 3);
  EXPECT_EQ(pod.ports[1].port, 1);
  EXPECT_THAT(pod.ips, ElementsAre("10.0.0.1"));
  EXPECT_TRUE(pod.ready);
}

TEST(ReadPods, OnlySomeChangesMatter) {
  const Pod before;
  Pod after;
  EXPECT_FALSE(matters(before, after));
  after.ready_since = Time(std::chrono::seconds(1));
  after.ref.resource_version = "9";
  EXPECT_FALSE(matters(before, after));
  after.ready = true;
  EXPECT_TRUE(matters(before, after));
}

TEST(ReadSlices, ThoseOfOthersBelongToNoService) {
  EXPECT_EQ(read_slice(json::Tree(R"({"metadata":{"labels":{"kubernetes.io/service-name":"x",
    "endpointslice.kubernetes.io/managed-by":"me"}}})"))
                .service,
            "");
}

}  // namespace plan_test
}  // namespace muster::controllers::endpoints
