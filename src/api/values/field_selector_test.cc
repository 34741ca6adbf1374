#include "api/values/field_selector.h"

#include <gtest/gtest.h>

#include "api/testing.h"
#include "json/parse.h"

namespace muster::api {
namespace field_selector_test {

const Resource& kPods = resource("v1", "Pod");
const Resource& kNodes = resource("v1", "Node");
const Resource& kNamespaces = resource("v1", "Namespace");
const Resource& kConfigMaps = resource("v1", "ConfigMap");
const Resource& kClusterRoles = resource("rbac.authorization.k8s.io/v1", "ClusterRole");
const Resource& kJobs = resource("batch/v1", "Job");
const Resource& kEvents = resource("v1", "Event");
const Resource& kNewEvents = resource("events.k8s.io/v1", "Event");
const Resource kWidgets{.gvk = {"example.com", "v1", "Widget"},
                        .plural = "widgets",
                        .custom = true,
                        .selectable_fields = {"spec.color"}};

Result<FieldSelector> resolved(const Resource& resource, std::string_view text) {
  MUSTER_TRY(const FieldSelector selector, FieldSelector::parse(text));
  return resolve_field_selector(resource, selector);
}

bool matches(const Resource& resource, std::string_view selector, std::string_view object) {
  json::Arena arena;
  const auto value = json::parse(arena, object);
  const auto fields = resolved(resource, selector);
  EXPECT_TRUE(value && fields) << selector << " on " << object;
  if (!value || !fields) return false;
  return fields->matches(
      [&](std::string_view field) { return field_value(resource, field, *value); });
}

TEST(FieldSelector, ReadsTermsOperatorsAndEscapes) {
  const auto selector = FieldSelector::parse(R"(b==2,a=x\,y\=z\\,,c!=)");
  ASSERT_TRUE(selector);
  ASSERT_EQ(selector->requirements().size(), 3U);
  EXPECT_EQ(selector->requirements()[0].field, "a");
  EXPECT_EQ(selector->requirements()[0].value, R"(x,y=z\)");
  EXPECT_EQ(selector->requirements()[1].field, "b");
  EXPECT_EQ(selector->requirements()[1].value, "2");
  EXPECT_EQ(selector->requirements()[2].field, "c");
  EXPECT_FALSE(selector->requirements()[2].equal);
  EXPECT_TRUE(FieldSelector::parse("")->empty());
}

TEST(FieldSelector, RefusesWhatItCannotRead) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
      {"a=1,b in (c)", "invalid selector: 'a=1,b in (c)'; can't understand 'b in (c)'"},
      {R"(a=\x)", R"(invalid field selector: invalid escape sequence: \x)"},
      {R"(a=b\)", R"(invalid field selector: invalid escape sequence: \)"},
      {"a=b=c", "invalid field selector: unescaped character in value: 61"},
  };
  for (const auto& [text, message] : cases) {
    const auto selector = FieldSelector::parse(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().message, message);
  }
}

TEST(FieldSelector, EachKindHasItsFieldsAndItsWords) {
  struct Case {
    const Resource& resource;
    const char* selector;
    const char* message;
  };
  const std::vector<Case> cases{
      {kPods, "spec.bogus=1", "field label not supported: spec.bogus"},
      {kPods, "metadata.labels=a", "field label not supported: metadata.labels"},
      {kNodes, "metadata.namespace=x", "field label not supported: metadata.namespace"},
      {kNamespaces, "metadata.namespace=x", "field label not supported: metadata.namespace"},
      {kConfigMaps, "data.k=1",
       R"("data.k" is not a known field selector: only "metadata.name", "metadata.namespace")"},
      {kJobs, "spec.foo=1", R"(field label "spec.foo" not supported for Job)"},
      {kEvents, "regarding.name=a", "field label not supported: regarding.name"},
      {kNewEvents, "involvedObject.name=a", "field label not supported: involvedObject.name"},
      {kWidgets, "spec.size=1", "field label not supported: spec.size"},
  };
  for (const auto& [resource, selector, message] : cases) {
    const auto fields = resolved(resource, selector);
    ASSERT_FALSE(fields) << selector;
    EXPECT_EQ(fields.error().code, Code::kBadRequest);
    EXPECT_EQ(fields.error().message, message);
  }
  EXPECT_TRUE(resolved(kClusterRoles, "metadata.namespace="));
}

TEST(FieldSelector, MatchesPods) {
  constexpr const char* kPod =
      R"({"metadata":{"name":"a","namespace":"n"},"spec":{"nodeName":"n1"},"status":{"phase":"Pending"}})";
  EXPECT_TRUE(matches(kPods, "metadata.name=a,metadata.namespace=n", kPod));
  EXPECT_TRUE(matches(kPods, "spec.nodeName=n1", kPod));
  EXPECT_TRUE(matches(kPods, "spec.host=n1", kPod));
  EXPECT_FALSE(matches(kPods, "spec.nodeName=", kPod));
  EXPECT_TRUE(matches(kPods, "status.podIP=,spec.hostNetwork=false", kPod));
  EXPECT_FALSE(matches(kPods, "status.phase!=Pending", kPod));
}

TEST(FieldSelector, AbsentNumbersAndSwitchesReadAsZero) {
  EXPECT_TRUE(matches(kNodes, "spec.unschedulable=false", "{}"));
  EXPECT_TRUE(matches(kNodes, "spec.unschedulable=true", R"({"spec":{"unschedulable":true}})"));
  EXPECT_TRUE(matches(kJobs, "status.successful=0", "{}"));
  EXPECT_TRUE(matches(kJobs, "status.successful=2", R"({"status":{"succeeded":2}})"));
}

TEST(FieldSelector, BothFormsOfAnEventSelectTheStoredOne) {
  constexpr const char* kEvent =
      R"({"involvedObject":{"kind":"Pod","name":"a"},"reportingComponent":"kubelet","source":{},"type":"Warning"})";
  EXPECT_TRUE(
      matches(kEvents, "involvedObject.kind=Pod,involvedObject.name=a,type=Warning", kEvent));
  EXPECT_TRUE(matches(kEvents, "source=kubelet", kEvent)) << "without a source the reporter counts";
  EXPECT_TRUE(matches(kNewEvents, "regarding.name=a,reportingController=kubelet", kEvent));
  EXPECT_TRUE(
      matches(kEvents, "source=s", R"({"reportingComponent":"r","source":{"component":"s"}})"));
}

TEST(FieldSelector, CustomResourcesSelectByDeclaredFields) {
  EXPECT_TRUE(matches(kWidgets, "spec.color=red", R"({"spec":{"color":"red"}})"));
  EXPECT_TRUE(matches(kWidgets, "spec.color=", "{}"));
}

}  // namespace field_selector_test
}  // namespace muster::api
