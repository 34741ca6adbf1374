#include "webhooks/hooks.h"

#include <algorithm>
#include <array>

#include "api/views/job_set_names.h"
#include "base/base64.h"

namespace muster::webhooks {
namespace {

using json::Arena;
using json::Value;

constexpr int kTimeoutSeconds = 5;  // the rules take microseconds; the rest is the network

constexpr std::array<Hook, 4> kHooks = {{
    {.name = "mjobset.kb.io",
     .path = "/mutate-jobset-x-k8s-io-v1alpha2-jobset",
     .mutates = true,
     .group = "jobset.x-k8s.io",
     .version = "v1alpha2",
     .plural = "jobsets",
     .on_update = true},
    {.name = "vjobset.kb.io",
     .path = "/validate-jobset-x-k8s-io-v1alpha2-jobset",
     .group = "jobset.x-k8s.io",
     .version = "v1alpha2",
     .plural = "jobsets",
     .on_update = true},
    {.name = "mpod.kb.io",
     .path = "/mutate--v1-pod",
     .mutates = true,
     .version = "v1",
     .plural = "pods",
     .label = api::label::kJobSetName},
    {.name = "vpod.kb.io",
     .path = "/validate--v1-pod",
     .version = "v1",
     .plural = "pods",
     .label = api::label::kJobSetName},
}};

Value texts(Arena& arena, std::initializer_list<std::string_view> each) {
  const Value list = Value::array(arena, each.size());
  for (const std::string_view text : each) list.push_back(Value::string(arena, text));
  return list;
}

void add_expression(Value selector, std::string_view key, std::string_view op, Value values = {}) {
  const Value expression = Value::object(selector.arena(), 3);
  expression.set("key", key);
  expression.set("operator", op);
  if (!values.is_null()) expression.set("values", values);
  selector.array_at("matchExpressions").push_back(expression);
}

Value rule_of(Arena& arena, const Hook& hook) {
  const Value rule = Value::object(arena, 5);
  rule.set("apiGroups", texts(arena, {hook.group}));
  rule.set("apiVersions", texts(arena, {hook.version}));
  rule.set("operations",
           hook.on_update ? texts(arena, {"CREATE", "UPDATE"}) : texts(arena, {"CREATE"}));
  rule.set("resources", texts(arena, {hook.plural}));
  rule.set("scope", "Namespaced");
  return rule;
}

Value webhook_of(Arena& arena, const Hook& hook, const Endpoint& endpoint) {
  const Value webhook = Value::object(arena, 9);
  webhook.set("name", hook.name);
  webhook.set("admissionReviewVersions", texts(arena, {"v1"}));
  const Value config = webhook.object_at("clientConfig");
  config.set("url", endpoint.url + std::string(hook.path));
  config.set("caBundle", encode_base64(endpoint.ca_pem));
  webhook.set("failurePolicy", "Fail");
  webhook.set("sideEffects", "None");
  webhook.set("timeoutSeconds", Value::of(kTimeoutSeconds));
  webhook.array_at("rules").push_back(rule_of(arena, hook));
  if (!hook.label.empty())
    add_expression(webhook.object_at("objectSelector"), hook.label, "Exists");
  if (!endpoint.ns.empty()) {
    add_expression(webhook.object_at("namespaceSelector"), "kubernetes.io/metadata.name", "NotIn",
                   texts(arena, {endpoint.ns}));
  }
  return webhook;
}

Value configuration(Arena& arena, bool mutates, const Endpoint& endpoint) {
  const Value configuration = Value::object(arena, 4);
  configuration.set("apiVersion", "admissionregistration.k8s.io/v1");
  configuration.set("kind",
                    mutates ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration");
  configuration.object_at("metadata")
      .set("name", mutates ? "jobset-mutating-webhook-configuration"
                           : "jobset-validating-webhook-configuration");
  for (const Hook& hook : kHooks) {
    if (hook.mutates == mutates)
      configuration.array_at("webhooks").push_back(webhook_of(arena, hook, endpoint));
  }
  return configuration;
}

}  // namespace

std::span<const Hook> all_hooks() { return kHooks; }

const Hook* find_hook(std::string_view path) {
  const auto found = std::ranges::find(kHooks, path, &Hook::path);
  return found == kHooks.end() ? nullptr : &*found;
}

std::vector<Value> configurations(Arena& arena, const Endpoint& endpoint) {
  return {configuration(arena, true, endpoint), configuration(arena, false, endpoint)};
}

}  // namespace muster::webhooks
