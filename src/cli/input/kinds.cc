#include "cli/input/kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/views/job_set_names.h"
#include "base/ascii.h"
#include "base/terminal_text.h"
#include "cli/input/diagnose.h"

namespace muster::cli {
namespace {

// Names that are offered instead of the one that was asked for.
constexpr std::size_t kMaxOthers = 5;

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

// "job/a", "pod/b" …
Result<std::vector<Wanted>> each_with_its_kind(KindCatalog& kinds,
                                               const std::vector<std::string>& words) {
  std::vector<Wanted> wanted;
  for (const std::string& word : words) {
    const std::size_t slash = word.find('/');
    if (slash == word.npos || slash + 1 == word.size()) {
      return fail(Code::kInvalid, fmt::format("\"{}\" names no object: after KIND/NAME the others "
                                              "have that form too",
                                              plain_text(word)));
    }
    MUSTER_TRY(const api::Resource* const resource,
               kinds.find(std::string_view(word).substr(0, slash)));
    if (wanted.empty() || wanted.back().resource != resource) wanted.push_back({resource, {}});
    wanted.back().names.push_back(word.substr(slash + 1));
  }
  return wanted;
}

}  // namespace

const api::Resource& job_sets() { return known("jobset.x-k8s.io", "v1alpha2", "jobsets"); }
const api::Resource& jobs() { return known("batch", "v1", "jobs"); }
const api::Resource& pods() { return known("", "v1", "pods"); }
const api::Resource& namespaces() { return known("", "v1", "namespaces"); }

std::string pods_of_job_set(std::string_view uid) {
  return fmt::format("{}={}", api::label::kJobSetUid, uid);
}

Result<std::vector<Wanted>> parse_wanted(KindCatalog& kinds,
                                         const std::vector<std::string>& words) {
  if (words.empty()) return fail(Code::kInvalid, "say which kind: jobsets, jobs, pods …");
  if (std::ranges::find(words, "") != words.end())
    return fail(Code::kInvalid, "an empty word names neither a kind nor an object");
  if (words.front().contains('/')) return each_with_its_kind(kinds, words);
  std::vector<Wanted> wanted;
  for (const std::string& word : split(words.front(), ',')) {
    if (word == "all") {
      for (const api::Resource* resource : {&job_sets(), &jobs(), &pods()})
        wanted.push_back({resource, {}});
      continue;
    }
    MUSTER_TRY(const api::Resource* const resource, kinds.find(word));
    wanted.push_back({resource, {words.begin() + 1, words.end()}});
  }
  return wanted;
}

std::string qualified_singular(const api::Resource& resource) {
  return lower_case(resource.qualified_kind());
}

std::string other_names(std::string_view name, const std::vector<std::string>& present) {
  const auto guess = did_you_mean(name, present);
  std::string out = guess ? fmt::format("did you mean \"{}\"?", plain_text(*guess)) : "";
  std::vector<std::string> others = present;
  if (guess) std::erase(others, *guess);
  if (others.empty()) return out;
  const std::size_t more = others.size() - std::min(others.size(), kMaxOthers);
  if (more > 0) others = nearest_first(name, std::move(others));
  others.resize(others.size() - more);
  for (std::string& other : others) other = plain_text(other);
  return fmt::format("{}{}: {}{}", out, guess ? " Others" : "There are", fmt::join(others, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string missing_object(const api::Resource& resource, std::string_view ns,
                           std::string_view name, const std::vector<std::string>& present) {
  std::string out = fmt::format("no {} \"{}\"", resource.gvk.kind, plain_text(name));
  if (resource.namespaced) out += fmt::format(" in namespace {}", plain_text(ns));
  const std::string others = other_names(name, present);
  if (others.empty()) return out;
  return fmt::format("{}{} {}", out, others.starts_with("did") ? ";" : ".", others);
}

}  // namespace muster::cli
