#include "engine/install_manifests.h"

#include <initializer_list>
#include <string_view>

#include "api/openapi/manifests.h"
#include "json/yaml.h"
#include "webhooks/hooks.h"

namespace muster::engine {
namespace {

using json::Arena;
using json::Value;
using Texts = std::initializer_list<std::string_view>;

constexpr std::string_view kServiceAccount = "jobset-controller-manager";
constexpr std::string_view kManagerRole = "jobset-manager-role";
constexpr std::string_view kElectionRole = "jobset-leader-election-role";

struct Rule {
  Texts groups;
  Texts resources;
  Texts verbs;
  Texts names = {};  // only these objects
};

Value list_of(Arena& arena, Texts texts) {
  const Value list = Value::array(arena, texts.size());
  for (const std::string_view text : texts) list.push_back(Value::string(arena, text));
  return list;
}

Value object_of(Arena& arena, std::string_view api_version, std::string_view kind,
                std::string_view name, std::string_view ns = {}) {
  const Value object = Value::object(arena, 4);
  object.set("apiVersion", api_version);
  object.set("kind", kind);
  object.object_at("metadata").set("name", name);
  if (!ns.empty()) object.get("metadata").set("namespace", ns);
  return object;
}

// A ClusterRole, or a Role if it has a namespace.
Value role_of(Arena& arena, std::string_view name, std::initializer_list<Rule> rules,
              std::string_view ns = {}) {
  const Value role = object_of(arena, "rbac.authorization.k8s.io/v1",
                               ns.empty() ? "ClusterRole" : "Role", name, ns);
  for (const Rule& rule : rules) {
    const Value entry = Value::object(arena, 4);
    entry.set("apiGroups", list_of(arena, rule.groups));
    entry.set("resources", list_of(arena, rule.resources));
    if (rule.names.size() > 0) entry.set("resourceNames", list_of(arena, rule.names));
    entry.set("verbs", list_of(arena, rule.verbs));
    role.array_at("rules").push_back(entry);
  }
  return role;
}

// Of the role with the same beginning to the operator's service account.
Value binding_of(Arena& arena, Value role, std::string_view account_ns) {
  const std::string_view kind = role.get("kind").as_string();
  const std::string_view name = role.get({"metadata", "name"}).as_string();
  const Value binding =
      object_of(arena, "rbac.authorization.k8s.io/v1", std::string(kind) + "Binding",
                std::string(name) + "binding", role.get({"metadata", "namespace"}).as_string());
  const Value target = binding.object_at("roleRef");
  target.set("apiGroup", "rbac.authorization.k8s.io");
  target.set("kind", kind);
  target.set("name", name);
  const Value subject = Value::object(arena, 3);
  subject.set("kind", "ServiceAccount");
  subject.set("name", kServiceAccount);
  subject.set("namespace", account_ns);
  binding.array_at("subjects").push_back(subject);
  return binding;
}

Value manager_role(Arena& arena) {
  return role_of(
      arena, kManagerRole,
      {{{"jobset.x-k8s.io"}, {"jobsets"}, {"get", "list", "watch", "update", "patch", "delete"}},
       {{"jobset.x-k8s.io"}, {"jobsets/status"}, {"get", "update", "patch"}},
       {{"jobset.x-k8s.io"}, {"jobsets/finalizers"}, {"update"}},
       {{"batch"}, {"jobs"}, {"get", "list", "watch", "create", "update", "patch", "delete"}},
       {{"batch"}, {"jobs/status"}, {"get", "update", "patch"}},
       {{""}, {"services"}, {"get", "list", "watch", "create", "update", "patch", "delete"}},
       {{""}, {"persistentvolumeclaims"}, {"get", "list", "watch", "create"}},
       {{""}, {"configmaps"}, {"get", "list", "watch", "create", "patch"}},  // of barriers
       {{""}, {"pods"}, {"get", "list", "watch", "update", "patch", "delete"}},
       {{""}, {"pods/status"}, {"update", "patch"}},
       {{""}, {"nodes"}, {"get", "list", "watch"}},
       {{"", "events.k8s.io"}, {"events"}, {"create", "watch", "update", "patch"}},
       {{"admissionregistration.k8s.io"},
        {"mutatingwebhookconfigurations"},
        {"get", "create", "patch"},
        {"jobset-mutating-webhook-configuration"}},
       {{"admissionregistration.k8s.io"},
        {"validatingwebhookconfigurations"},
        {"get", "create", "patch"},
        {"jobset-validating-webhook-configuration"}}});
}

Value election_role(Arena& arena, std::string_view ns) {
  return role_of(arena, kElectionRole,
                 {{{"coordination.k8s.io"}, {"leases"}, {"get", "create", "update", "patch"}}}, ns);
}

// For people: whoever an administrator binds to them.
Value editor_role(Arena& arena) {
  return role_of(arena, "jobset-jobset-editor-role",
                 {{{"jobset.x-k8s.io"},
                   {"jobsets"},
                   {"get", "list", "watch", "create", "update", "patch", "delete"}},
                  {{"jobset.x-k8s.io"}, {"jobsets/status"}, {"get"}}});
}
Value viewer_role(Arena& arena) {
  return role_of(arena, "jobset-jobset-viewer-role",
                 {{{"jobset.x-k8s.io"}, {"jobsets"}, {"get", "list", "watch"}},
                  {{"jobset.x-k8s.io"}, {"jobsets/status"}, {"get"}}});
}

}  // namespace

std::vector<Value> install_manifests(Arena& arena, const api::Registry& registry,
                                     const InstallSettings& settings) {
  std::vector<Value> manifests;
  manifests.push_back(object_of(arena, "v1", "Namespace", settings.ns));
  for (const Value definition : api::custom_resource_definitions(arena, registry)) {
    if (definition.get({"spec", "group"}).as_string() == "jobset.x-k8s.io")
      manifests.push_back(definition);
  }
  manifests.push_back(object_of(arena, "v1", "ServiceAccount", kServiceAccount, settings.ns));
  for (const Value role : {manager_role(arena), election_role(arena, settings.ns)}) {
    manifests.push_back(role);
    manifests.push_back(binding_of(arena, role, settings.ns));
  }
  manifests.push_back(editor_role(arena));
  manifests.push_back(viewer_role(arena));
  if (settings.webhook_url.empty()) return manifests;
  for (const Value each : webhooks::configurations(
           arena, {settings.webhook_url, settings.webhook_ca_pem, settings.ns}))
    manifests.push_back(each);
  return manifests;
}

std::string install_yaml(const api::Registry& registry, const InstallSettings& settings) {
  Arena arena;
  std::string text;
  for (const Value manifest : install_manifests(arena, registry, settings)) {
    text += "---\n";
    text += json::write_yaml(manifest);
  }
  return text;
}

}  // namespace muster::engine
