#include "server/authorization.h"

#include <algorithm>

#include "server/render.h"

namespace muster::server {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

// --- The rules that nobody has to write down ---

struct BuiltinBinding {
  std::string_view name;  // of the ClusterRoleBinding and the ClusterRole that upstream has for it
  std::string_view group;
  PolicyRule rule;
};

const std::vector<BuiltinBinding>& builtin_bindings() {
  static const auto* const kBindings = new std::vector<BuiltinBinding>{
      {"system:discovery",
       kAuthenticated,
       {.verbs = {"get"},
        .groups = {},
        .resources = {},
        .names = {},
        .paths = {"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                  "/openapi/*", "/readyz", "/version", "/version/"}}},
      {"system:public-info-viewer",
       kAuthenticated,
       {.verbs = {"get"},
        .groups = {},
        .resources = {},
        .names = {},
        .paths = {"/healthz", "/livez", "/readyz", "/version", "/version/"}}},
      {"system:public-info-viewer",
       kUnauthenticated,
       {.verbs = {"get"},
        .groups = {},
        .resources = {},
        .names = {},
        .paths = {"/healthz", "/livez", "/readyz", "/version", "/version/"}}},
      {"system:basic-user",
       kAuthenticated,
       {.verbs = {"create"},
        .groups = {"authorization.k8s.io"},
        .resources = {"selfsubjectaccessreviews", "selfsubjectrulesreviews"},
        .names = {},
        .paths = {}}},
      {"system:basic-user",
       kAuthenticated,
       {.verbs = {"create"},
        .groups = {"authentication.k8s.io"},
        .resources = {"selfsubjectreviews"},
        .names = {},
        .paths = {}}},
  };
  return *kBindings;
}

// The group of those who may look at everything but what would let them do more: no Secrets, and no
// subresource that is a way in.
bool reader_may(const Attributes& wanted) {
  if (wanted.verb != "get" && wanted.verb != "list" && wanted.verb != "watch") return false;
  if (!wanted.path.empty()) return true;
  if (wanted.group.empty() && wanted.resource == "secrets") return false;
  return wanted.subresource.empty() || wanted.subresource == "status" ||
         wanted.subresource == "log" || wanted.subresource == "scale";
}

// --- Matching ---

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

bool path_matches(std::string_view pattern, std::string_view path) {
  if (pattern == "*" || pattern == path) return true;
  return pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool resource_matches(const PolicyRule& rule, const Attributes& wanted) {
  const std::string full = wanted.subresource.empty()
                               ? wanted.resource
                               : fmt::format("{}/{}", wanted.resource, wanted.subresource);
  return std::ranges::any_of(rule.resources, [&](const std::string& resource) {
    return resource == "*" || resource == full ||
           (!wanted.subresource.empty() && resource == fmt::format("*/{}", wanted.subresource));
  });
}

bool allows(const PolicyRule& rule, const Attributes& wanted) {
  if (!contains(rule.verbs, "*") && !contains(rule.verbs, wanted.verb)) return false;
  if (!wanted.path.empty()) {
    return std::ranges::any_of(
        rule.paths, [&](const std::string& pattern) { return path_matches(pattern, wanted.path); });
  }
  if (!contains(rule.groups, "*") && !contains(rule.groups, wanted.group)) return false;
  return resource_matches(rule, wanted) &&
         (rule.names.empty() || contains(rule.names, wanted.name));
}

// --- Stored roles ---

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

// Returns false to stop.
using VisitRule = std::function<bool(const PolicyRule& rule, const std::string& reason)>;

class StoredRoles {
 public:
  StoredRoles(const Core& core, const User& user)
      : core_(core), snapshot_(core.store.snapshot()), user_(user) {}

  // Cluster-wide bindings, then those of the namespace.
  void visit(std::string_view ns, const VisitRule& visit) {
    if (!visit_bindings("clusterrolebindings", "ClusterRoleBinding", "", visit)) return;
    if (!ns.empty()) visit_bindings("rolebindings", "RoleBinding", ns, visit);
  }

 private:
  const api::Resource& resource(std::string_view plural) const {
    const api::Resource* found = core_.registry.find(kRbac, "v1", plural);
    MUSTER_ASSERT(found != nullptr, "the RBAC kinds are served");
    return *found;
  }

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

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

Attributes Attributes::of(const RequestInfo& info) {
  if (!info.is_resource) {
    return {.verb = info.verb,
            .path = info.path,
            .group = {},
            .resource = {},
            .subresource = {},
            .ns = {},
            .name = {}};
  }
  return {.verb = info.verb,
          .path = {},
          .group = info.group,
          .resource = info.resource,
          .subresource = info.subresource,
          .ns = info.ns,
          .name = info.name};
}

Verdict authorize(const Core& core, const User& user, const Attributes& wanted) {
  if (user.in_group(kMasters)) return {true, ""};
  if (user.in_group(kReaders) && reader_may(wanted)) {
    return {true, fmt::format("allowed to members of \"{}\"", kReaders)};
  }
  for (const BuiltinBinding& binding : builtin_bindings()) {
    if (!user.in_group(binding.group) || !allows(binding.rule, wanted)) continue;
    return {
        true,
        fmt::format(
            "RBAC: allowed by ClusterRoleBinding \"{0}\" of ClusterRole \"{0}\" to Group \"{1}\"",
            binding.name, binding.group)};
  }
  // Whoever may write roles could give himself all of them, so that right is not given away by
  // roles.
  const bool reading = wanted.verb == "get" || wanted.verb == "list" || wanted.verb == "watch";
  if (wanted.group == kRbac && !reading) return {};
  Verdict verdict;
  StoredRoles(core, user).visit(wanted.ns, [&](const PolicyRule& rule, const std::string& reason) {
    if (allows(rule, wanted)) verdict = {true, reason};
    return !verdict.allowed;
  });
  return verdict;
}

Status check_also_allowed(const Core& core, const User& user, const RequestInfo& info,
                          std::string_view verb) {
  Attributes wanted = Attributes::of(info);
  wanted.verb = std::string(verb);
  const Verdict verdict = authorize(core, user, wanted);
  if (verdict.allowed) return {};
  return std::unexpected(forbidden(user, wanted, verdict.reason));
}

Error forbidden(const User& user, const Attributes& wanted, std::string_view reason) {
  const std::string tail = reason.empty() ? "" : fmt::format(": {}", reason);
  if (!wanted.path.empty()) {
    return {.code = Code::kForbidden,
            .message = fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"{}",
                                   escaped(user.name), wanted.verb, escaped(wanted.path), tail)};
  }
  const std::string qualified =
      wanted.group.empty() ? wanted.resource : fmt::format("{}.{}", wanted.resource, wanted.group);
  const std::string subject =
      wanted.name.empty() ? qualified : fmt::format("{} \"{}\"", qualified, wanted.name);
  const std::string full = wanted.subresource.empty()
                               ? wanted.resource
                               : fmt::format("{}/{}", wanted.resource, wanted.subresource);
  const std::string where = wanted.ns.empty() ? "at the cluster scope"
                                              : fmt::format("in the namespace \"{}\"", wanted.ns);
  return {.code = Code::kForbidden,
          .message = fmt::format(
              "{} is forbidden: User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}{}",
              subject, escaped(user.name), wanted.verb, full, wanted.group, where, tail),
          .name = wanted.name,
          .group = wanted.group,
          .kind = wanted.resource};
}

std::vector<PolicyRule> rules_for(const Core& core, const User& user, std::string_view ns) {
  std::vector<PolicyRule> rules;
  if (user.in_group(kMasters)) {
    rules.push_back(
        {.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}, .names = {}, .paths = {}});
    rules.push_back({.verbs = {"*"}, .groups = {}, .resources = {}, .names = {}, .paths = {"*"}});
  }
  if (user.in_group(kReaders)) {
    rules.push_back({.verbs = {"get", "list", "watch"},
                     .groups = {"*"},
                     .resources = {"*"},
                     .names = {},
                     .paths = {}});
  }
  for (const BuiltinBinding& binding : builtin_bindings()) {
    if (user.in_group(binding.group)) rules.push_back(binding.rule);
  }
  StoredRoles(core, user).visit(ns, [&](const PolicyRule& rule, const std::string&) {
    rules.push_back(rule);
    return true;
  });
  return rules;
}

}  // namespace muster::server
