#include "sim/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/near_words.h"

namespace muster::sim {
namespace {

struct KindRow {
  std::string_view group;
  std::string_view plural;
};
constexpr std::array kComparedKinds{
    KindRow{"jobset.x-k8s.io", "jobsets"},
    KindRow{"batch", "jobs"},
    KindRow{"", "pods"},
    KindRow{"", "services"},
    KindRow{"", "persistentvolumeclaims"},
    KindRow{"", "configmaps"},
};

// One resource per group and stored form: versions of one kind are no ambiguity.
std::vector<const api::Resource*> kinds_named(std::string_view kind) {
  std::vector<const api::Resource*> found;
  for (const api::Resource* resource : api::Registry::builtin().resources()) {
    if (resource->gvk.kind == kind &&
        std::ranges::find(found, resource->id, &api::Resource::id) == found.end())
      found.push_back(resource);
  }
  return found;
}

std::string unknown_kind(std::string_view kind) {
  std::vector<std::string> known;
  for (const api::Resource* resource : api::Registry::builtin().resources())
    known.push_back(resource->gvk.kind);
  const auto guess = did_you_mean(kind, known);
  return fmt::format("there is no kind \"{}\"{}", kind,
                     guess ? fmt::format("; did you mean \"{}\"?", *guess) : "");
}

}  // namespace

const std::vector<const api::Resource*>& compared_kinds() {
  static const std::vector<const api::Resource*> kinds = [] {
    std::vector<const api::Resource*> out;
    for (const auto& [group, plural] : kComparedKinds)
      out.push_back(api::Registry::builtin().find_storage(group, plural));
    return out;
  }();
  return kinds;
}

Result<const api::Resource*> find_kind(std::string_view api_version, std::string_view kind) {
  const auto candidates = kinds_named(kind);
  if (candidates.empty()) return fail(Code::kBadRequest, unknown_kind(kind));
  if (!api_version.empty()) {
    if (const api::Resource* found = api::Registry::builtin().find_kind(api_version, kind))
      return found;
    return fail(Code::kBadRequest, fmt::format("there is no {} in \"{}\"", kind, api_version));
  }
  if (candidates.size() == 1) return candidates.front();
  std::string versions;
  for (const api::Resource* each : candidates)
    versions += (versions.empty() ? "" : " or ") + each->gvk.api_version();
  return fail(Code::kBadRequest, fmt::format("{} is ambiguous: say apiVersion {}", kind, versions));
}

bool is_ambiguous(std::string_view kind) { return kinds_named(kind).size() > 1; }

}  // namespace muster::sim
