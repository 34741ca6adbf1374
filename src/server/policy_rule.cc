#include "server/policy_rule.h"

#include <algorithm>

namespace muster::server {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

bool path_matches(std::string_view pattern, std::string_view path) {
  if (pattern == "*" || pattern == path) return true;
  return pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool resource_matches(const PolicyRule& rule, const Attributes& wanted) {
  const std::string full = wanted.full_resource();
  return std::ranges::any_of(rule.resources, [&](const std::string& resource) {
    return resource == "*" || resource == full ||
           (!wanted.subresource.empty() && resource == fmt::format("*/{}", wanted.subresource));
  });
}

}  // namespace

Attributes Attributes::of(const RequestInfo& info) {
  if (!info.is_resource) return {.verb = info.verb, .path = info.path};
  return {.verb = info.verb,
          .group = info.group,
          .resource = info.resource,
          .subresource = info.subresource,
          .ns = info.ns,
          .name = info.name};
}

std::string Attributes::full_resource() const {
  return subresource.empty() ? resource : fmt::format("{}/{}", resource, subresource);
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

}  // namespace muster::server
