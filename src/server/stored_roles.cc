#include "server/stored_roles.h"

#include <algorithm>

#include "server/render.h"

namespace muster::server {
namespace {

std::vector<std::string> strings(json::Value list) {
  std::vector<std::string> out;
  for (const json::Value item : list.items()) out.emplace_back(item.as_string());
  return out;
}

PolicyRule read_rule(json::Value rule) {
  return {.verbs = strings(rule.get("verbs")),
          .groups = strings(rule.get("apiGroups")),
          .resources = strings(rule.get("resources")),
          .names = strings(rule.get("resourceNames")),
          .paths = strings(rule.get("nonResourceURLs"))};
}

// How the user is named among the subjects, as reasons say it; empty if it is not.
std::string matching_subject(json::Value subjects, const User& user, std::string_view binding_ns) {
  for (const json::Value subject : subjects.items()) {
    const std::string_view kind = subject.get("kind").as_string();
    const std::string_view name = subject.get("name").as_string();
    if (kind == "User" && name == user.name) return fmt::format("User \"{}\"", name);
    if (kind == "Group" && user.in_group(name)) return fmt::format("Group \"{}\"", name);
    if (kind != "ServiceAccount") continue;
    const std::string_view sent = subject.get("namespace").as_string();
    const std::string_view ns = sent.empty() ? binding_ns : sent;
    if (user.name == fmt::format("system:serviceaccount:{}:{}", ns, name)) {
      return fmt::format("ServiceAccount \"{}/{}\"", name, ns);
    }
  }
  return {};
}

class StoredRoles {
 public:
  StoredRoles(const Core& core, const User& user)
      : core_(core), snapshot_(core.store.snapshot()), user_(user) {}

  // False if `visit` stopped it.
  bool visit_bindings(std::string_view plural, std::string_view kind, std::string_view ns,
                      const VisitRule& visit) {
    bool go_on = true;
    const api::Resource& bindings = resource(plural);
    snapshot_->scan(bindings.id, {ns, "", ""}, [&](const store::ObjectPtr& object) {
      json::Arena arena;
      const json::Value binding = tree_of(arena, *object, bindings);
      const std::string subject = matching_subject(binding.get("subjects"), user_, ns);
      if (subject.empty()) return true;
      const json::Value role = binding.get("roleRef");
      const std::string name =
          ns.empty() ? object->meta().name : fmt::format("{}/{}", object->meta().name, ns);
      const std::string reason =
          fmt::format("RBAC: allowed by {} \"{}\" of {} \"{}\" to {}", kind, name,
                      role.get("kind").as_string(), role.get("name").as_string(), subject);
      return go_on = visit_role(role, ns, reason, visit);
    });
    return go_on;
  }

 private:
  const api::Resource& resource(std::string_view plural) const {
    const api::Resource* found = core_.registry.find(kRbac, "v1", plural);
    MUSTER_ASSERT(found != nullptr, "the RBAC kinds are served");
    return *found;
  }

  bool visit_role(json::Value reference, std::string_view ns, const std::string& reason,
                  const VisitRule& visit) {
    const bool cluster = reference.get("kind").as_string() == "ClusterRole";
    const api::Resource& roles = resource(cluster ? "clusterroles" : "roles");
    const store::ObjectPtr role = snapshot_->get(
        {roles.id, cluster ? "" : std::string(ns), std::string(reference.get("name").as_string())});
    if (role == nullptr) return true;
    json::Arena arena;
    return std::ranges::all_of(tree_of(arena, *role, roles).get("rules").items(),
                               [&](json::Value rule) { return visit(read_rule(rule), reason); });
  }

  const Core& core_;
  const store::SnapshotPtr snapshot_;
  const User& user_;
};

}  // namespace

void visit_stored_rules(const Core& core, const User& user, std::string_view ns,
                        const VisitRule& visit) {
  StoredRoles roles(core, user);
  if (!roles.visit_bindings("clusterrolebindings", "ClusterRoleBinding", "", visit)) return;
  if (!ns.empty()) roles.visit_bindings("rolebindings", "RoleBinding", ns, visit);
}

}  // namespace muster::server
