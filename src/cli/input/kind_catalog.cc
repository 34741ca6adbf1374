#include "cli/input/kind_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/terminal_text.h"
#include "cli/input/diagnose.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

using json::Value;

// Names that discovery does not have.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kAliases = {{
    {"js", "jobsets.jobset.x-k8s.io"},
    {"wl", "workloads.kueue.x-k8s.io"},
    {"lq", "localqueues.kueue.x-k8s.io"},
    {"cq", "clusterqueues.kueue.x-k8s.io"},
    {"rf", "resourceflavors.kueue.x-k8s.io"},
    {"co", "cohorts.kueue.x-k8s.io"},
}};

bool is_everywhere(const api::Resource& resource) {
  return resource.gvk.version == "v1" || resource.gvk.kind == "JobSet";
}

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

std::vector<std::string> texts(Value list) {
  std::vector<std::string> out;
  for (const Value item : list.items()) out.emplace_back(item.as_string());
  return out;
}

// A row of discovery. It has no schema: what is written in such objects is the server's business.
api::Resource resource_of(std::string_view group, std::string_view version, Value row) {
  api::Resource out;
  out.gvk = {.group = std::string(group),
             .version = std::string(version),
             .kind = std::string(row.get({"responseKind", "kind"}).as_string())};
  out.plural = row.get("resource").as_string();
  out.singular = row.get("singularResource").as_string();
  out.list_kind = out.gvk.kind + "List";
  out.short_names = texts(row.get("shortNames"));
  out.categories = texts(row.get("categories"));
  out.verbs = texts(row.get("verbs"));
  out.namespaced = row.get("scope").as_string() == "Namespaced";
  out.custom = true;
  return out;
}

std::string_view preferred_version(const api::Registry& registry, std::string_view group) {
  for (const api::GroupVersions& row : registry.groups()) {
    if (row.group == group) return row.versions.front();
  }
  return "";
}

}  // namespace

KindCatalog::KindCatalog(Ask ask) : ask_(std::move(ask)) {
  const api::Registry& registry = api::Registry::builtin();
  for (const api::Resource* resource : registry.resources()) {
    const Row row = {
        .resource = resource,
        .preferred = resource->gvk.version == preferred_version(registry, resource->gvk.group)};
    if (is_everywhere(*resource)) {
      everywhere_.push_back(row);
    } else if (!ask_) {
      here_.push_back(row);
    }
  }
}

Status KindCatalog::learn() {
  if (learnt_ || !ask_) return {};
  MUSTER_TRY(const std::string discovery, ask_());
  learnt_ = true;
  return read(discovery);
}

Status KindCatalog::read(std::string_view discovery) {
  json::Arena arena;
  MUSTER_TRY(const Value tree, json::parse(arena, discovery));
  if (tree.get("kind").as_string() != "APIGroupDiscoveryList") {
    return fail(Code::kInvalid,
                "the server does not tell its kinds in one answer: it is older than Kubernetes "
                "1.26");
  }
  for (const Value group : tree.get("items").items()) {
    bool preferred = true;  // the first version is
    for (const Value version : group.get("versions").items()) {
      for (const Value row : version.get("resources").items()) {
        discovered_.push_back(resource_of(group.get({"metadata", "name"}).as_string(),
                                          version.get("version").as_string(), row));
        discovered_.back().storage = &discovered_.back();
        here_.push_back({&discovered_.back(), preferred});
      }
      preferred = false;
    }
  }
  return {};
}

const api::Resource* KindCatalog::match(const std::vector<Row>& rows, std::string_view word) const {
  for (const bool any_version : {false, true}) {
    for (const Row& row : rows) {
      if ((any_version || row.preferred) && matches(*row.resource, word)) return row.resource;
    }
  }
  return nullptr;
}

Result<const api::Resource*> KindCatalog::find(std::string_view word) {
  std::string wanted = lower_case(word);
  const auto* const alias =
      std::ranges::find(kAliases, wanted, [](auto& row) { return row.first; });
  if (alias != kAliases.end()) wanted = alias->second;
  if (const api::Resource* const found = match(everywhere_, wanted)) return found;
  MUSTER_CHECK(learn());
  if (const api::Resource* const found = match(here_, wanted)) return found;
  return std::unexpected(unknown_word(word));
}

Result<const api::Resource*> KindCatalog::find_kind(std::string_view api_version,
                                                    std::string_view kind) {
  const auto is_it = [&](const Row& row) {
    return row.resource->gvk.kind == kind && row.resource->gvk.api_version() == api_version;
  };
  if (kind.empty()) return fail(Code::kInvalid, "there is no kind in this document");
  if (const auto at = std::ranges::find_if(everywhere_, is_it); at != everywhere_.end())
    return at->resource;
  MUSTER_CHECK(learn());
  if (const auto at = std::ranges::find_if(here_, is_it); at != here_.end()) return at->resource;
  return std::unexpected(unknown_kind(api_version, kind));
}

Error KindCatalog::unknown_word(std::string_view word) const {
  std::vector<std::string> names;
  for (const auto* const rows : {&everywhere_, &here_}) {
    for (const Row& row : *rows) {
      names.push_back(row.resource->plural);
      names.push_back(row.resource->singular);
    }
  }
  const auto guess = did_you_mean(lower_case(word), names);
  return {.code = Code::kNotFound,
          .message =
              fmt::format("there is no kind \"{}\"{}", plain_text(word),
                          guess ? fmt::format("; did you mean \"{}\"?", plain_text(*guess)) : "")};
}

Error KindCatalog::unknown_kind(std::string_view api_version, std::string_view kind) const {
  std::vector<std::string> kinds;
  for (const auto* const rows : {&everywhere_, &here_}) {
    for (const Row& row : *rows) {
      if (row.resource->gvk.kind == kind) {
        return {.code = Code::kInvalid,
                .message = fmt::format("there is no {} in \"{}\"; did you mean \"{}\"?",
                                       plain_text(kind), plain_text(api_version),
                                       plain_text(row.resource->gvk.api_version()))};
      }
      kinds.push_back(row.resource->gvk.kind);
    }
  }
  const auto guess = did_you_mean(kind, kinds);
  return {.code = Code::kInvalid,
          .message =
              fmt::format("there is no kind \"{}\"{}", plain_text(kind),
                          guess ? fmt::format("; did you mean \"{}\"?", plain_text(*guess)) : "")};
}

}  // namespace muster::cli
