#include "server/authorization.h"

#include "server/stored_roles.h"

namespace muster::server {
namespace {

// The rules that nobody has to write down.
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
        .paths = {"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                  "/openapi/*", "/readyz", "/version", "/version/"}}},
      {"system:public-info-viewer",
       kAuthenticated,
       {.verbs = {"get"}, .paths = {"/healthz", "/livez", "/readyz", "/version", "/version/"}}},
      {"system:public-info-viewer",
       kUnauthenticated,
       {.verbs = {"get"}, .paths = {"/healthz", "/livez", "/readyz", "/version", "/version/"}}},
      {"system:basic-user",
       kAuthenticated,
       {.verbs = {"create"},
        .groups = {"authorization.k8s.io"},
        .resources = {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}}},
      {"system:basic-user",
       kAuthenticated,
       {.verbs = {"create"},
        .groups = {"authentication.k8s.io"},
        .resources = {"selfsubjectreviews"}}},
  };
  return *kBindings;
}

// The group of those who may look at everything but what would let them do more: no Secrets, and no
// subresource that is a way in.
bool reader_may(const Attributes& wanted) {
  if (!wanted.only_reads()) return false;
  if (!wanted.path.empty()) return true;
  if (wanted.group.empty() && wanted.resource == "secrets") return false;
  return wanted.subresource.empty() || wanted.subresource == "status" ||
         wanted.subresource == "log" || wanted.subresource == "scale";
}

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
  if (wanted.group == kRbac && !wanted.only_reads()) return {};
  Verdict verdict;
  visit_stored_rules(core, user, wanted.ns, [&](const PolicyRule& rule, const std::string& reason) {
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
  const std::string where = wanted.ns.empty() ? "at the cluster scope"
                                              : fmt::format("in the namespace \"{}\"", wanted.ns);
  return {.code = Code::kForbidden,
          .message = fmt::format(
              "{} is forbidden: User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}{}",
              subject, escaped(user.name), wanted.verb, wanted.full_resource(), wanted.group, where,
              tail),
          .name = wanted.name,
          .group = wanted.group,
          .kind = wanted.resource};
}

std::vector<PolicyRule> rules_for(const Core& core, const User& user, std::string_view ns) {
  std::vector<PolicyRule> rules;
  if (user.in_group(kMasters)) {
    rules.push_back({.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}});
    rules.push_back({.verbs = {"*"}, .paths = {"*"}});
  }
  if (user.in_group(kReaders)) {
    rules.push_back({.verbs = {"get", "list", "watch"}, .groups = {"*"}, .resources = {"*"}});
  }
  for (const BuiltinBinding& binding : builtin_bindings()) {
    if (user.in_group(binding.group)) rules.push_back(binding.rule);
  }
  visit_stored_rules(core, user, ns, [&](const PolicyRule& rule, const std::string&) {
    rules.push_back(rule);
    return true;
  });
  return rules;
}

}  // namespace muster::server
