#include "cli/kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "cli/diagnose.h"
#include "cli/terminal_text.h"

namespace muster::cli {
namespace {

// Names that discovery does not have.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kAliases = {{
    {"js", "jobsets.jobset.x-k8s.io"},
    {"job", "jobs.batch"},
    {"wl", "workloads.kueue.x-k8s.io"},
    {"lq", "localqueues.kueue.x-k8s.io"},
    {"cq", "clusterqueues.kueue.x-k8s.io"},
    {"rf", "resourceflavors.kueue.x-k8s.io"},
    {"co", "cohorts.kueue.x-k8s.io"},
}};
// What `all` stands for.
constexpr std::array<std::string_view, 3> kAll = {"jobsets", "jobs", "pods"};
// Names that are offered instead of the one that was asked for.
constexpr std::size_t kMaxOthers = 5;

bool is_called(const api::Resource& resource, std::string_view word) {
  return word == resource.plural || word == resource.singular ||
         word == lower_case(resource.gvk.kind) ||
         std::ranges::find(resource.short_names, word) != resource.short_names.end();
}

// "jobs.batch", "jobs.v1.batch" or "jobs".
bool matches(const api::Resource& resource, std::string_view word) {
  const std::size_t dot = word.find('.');
  if (dot == word.npos) return is_called(resource, word);
  const std::string_view group = word.substr(dot + 1);
  return is_called(resource, word.substr(0, dot)) &&
         (group == resource.gvk.group ||
          group == fmt::format("{}.{}", resource.gvk.version, resource.gvk.group));
}

bool is_preferred(const api::Registry& registry, const api::Resource& resource) {
  const auto group = std::ranges::find(registry.groups(), resource.gvk.group,
                                       [](const api::GroupVersions& row) { return row.group; });
  return group != registry.groups().end() && group->versions.front() == resource.gvk.version;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1))
    parts.emplace_back(text.substr(0, end));
  parts.emplace_back(text);
  return parts;
}

const api::Resource& known(std::string_view group, std::string_view version,
                           std::string_view plural) {
  const api::Resource* const resource = api::Registry::builtin().find(group, version, plural);
  MUSTER_ASSERT(resource != nullptr, "the kind is part of the binary");
  return *resource;
}

}  // namespace

const api::Resource& job_sets() { return known("jobset.x-k8s.io", "v1alpha2", "jobsets"); }
const api::Resource& jobs() { return known("batch", "v1", "jobs"); }
const api::Resource& pods() { return known("", "v1", "pods"); }

Result<const api::Resource*> find_kind(const api::Registry& registry, std::string_view word) {
  std::string wanted = lower_case(word);
  const auto* const alias =
      std::ranges::find(kAliases, wanted, [](auto& row) { return row.first; });
  if (alias != kAliases.end()) wanted = alias->second;
  for (const bool any_version : {false, true}) {
    for (const api::Resource* resource : registry.resources()) {
      if ((any_version || is_preferred(registry, *resource)) && matches(*resource, wanted))
        return resource;
    }
  }
  std::vector<std::string> names;
  for (const api::Resource* resource : registry.resources()) {
    names.push_back(resource->plural);
    names.push_back(resource->singular);
  }
  const auto guess = did_you_mean(wanted, names);
  return fail(Code::kNotFound,
              fmt::format("there is no kind \"{}\"{}", plain_text(word),
                          guess ? fmt::format("; did you mean \"{}\"?", *guess) : ""));
}

Result<std::vector<Wanted>> parse_wanted(const api::Registry& registry,
                                         const std::vector<std::string>& words) {
  std::vector<Wanted> wanted;
  if (words.empty()) return fail(Code::kInvalid, "say which kind: jobsets, jobs, pods …");
  if (words.front().contains('/')) {
    for (const std::string& word : words) {
      const std::size_t slash = word.find('/');
      if (slash == word.npos || slash + 1 == word.size()) {
        return fail(Code::kInvalid,
                    fmt::format("\"{}\" names no object: after KIND/NAME the others have that form "
                                "too",
                                plain_text(word)));
      }
      MUSTER_TRY(const api::Resource* const resource,
                 find_kind(registry, std::string_view(word).substr(0, slash)));
      if (wanted.empty() || wanted.back().resource != resource) wanted.push_back({resource, {}});
      wanted.back().names.push_back(word.substr(slash + 1));
    }
    return wanted;
  }
  for (const std::string& word : split(words.front(), ',')) {
    if (word == "all") {
      for (const std::string_view kind : kAll) {
        MUSTER_TRY(const api::Resource* const resource, find_kind(registry, kind));
        wanted.push_back({resource, {}});
      }
      continue;
    }
    MUSTER_TRY(const api::Resource* const resource, find_kind(registry, word));
    wanted.push_back({resource, {words.begin() + 1, words.end()}});
  }
  return wanted;
}

std::string missing_object(const api::Resource& resource, std::string_view ns,
                           std::string_view name, const std::vector<std::string>& present) {
  std::string out = fmt::format("no {} \"{}\"", resource.gvk.kind, plain_text(name));
  if (resource.namespaced) out += fmt::format(" in namespace {}", plain_text(ns));
  const auto guess = did_you_mean(name, present);
  if (guess) out += fmt::format("; did you mean \"{}\"?", plain_text(*guess));
  std::vector<std::string> others;
  for (const std::string& other : present) {
    if (other != guess && others.size() < kMaxOthers) others.push_back(plain_text(other));
  }
  if (others.empty()) return out;
  return out + fmt::format("{}{}: {}", guess ? " " : ". ", guess ? "Others" : "There are",
                           fmt::join(others, ", "));
}

}  // namespace muster::cli
