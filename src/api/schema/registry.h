// The kinds that muster serves, as data. One Resource is one row of discovery: a kind in one
// version, with its place in the URL space, its schema and the switches by which upstream's kinds
// differ.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/schema.h"

namespace muster::api {

struct GroupVersionKind {
  std::string group;  // empty for core
  std::string version;
  std::string kind;

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  bool operator==(const GroupVersionKind&) const = default;
};

struct Subresource {
  std::string name;                // status, log, binding, eviction, scale, token …
  GroupVersionKind response_kind;  // as in discovery
  std::vector<std::string> verbs;
  const Schema* schema = nullptr;  // of its request body where that is not the resource's own
};

// A printer column. Built-in kinds render their cells in code (columns.cc); custom ones by path.
struct Column {
  std::string name;
  std::string type;
  std::string format;
  std::string description;
  int priority = 0;
  std::string json_path;
};

enum class Generation : std::uint8_t {
  kNever,    // the field stays absent
  kSpec,     // 1 at create, +1 when spec changes (kinds without a spec stay at 1)
  kContent,  // +1 when anything but metadata (and status, if it is a subresource) changes
};

struct Resource {
  GroupVersionKind gvk;
  std::string plural;
  std::string singular;
  std::string list_kind;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;
  bool namespaced = true;
  bool custom = false;  // a custom resource: JSON only, keys in alphabetical order
  const Schema* schema = nullptr;
  std::vector<Subresource> subresources;
  std::vector<Column> columns;
  std::vector<std::string> selectable_fields;  // besides metadata.name and metadata.namespace
  std::string storage_version_hash;            // as discovery shows it; may be empty
  std::string deprecation_warning;  // sent as a Warning with every answer; empty if not deprecated
  // Several versions of one kind are stored as one: the storage resource of this one (itself,
  // mostly).
  const Resource* storage = nullptr;
  int id = 0;  // dense, by storage resource; names the store's table at run time

  // Where upstream's kinds differ (spec: apimachinery 3.3 to 3.5).
  bool unconditional_update = true;
  bool create_on_update = false;
  bool returns_object_on_delete = false;
  bool orphans_by_default = false;
  Generation generation = Generation::kNever;

  bool has_verb(std::string_view verb) const;
  const Subresource* subresource(std::string_view name) const;
  bool has_status() const { return subresource("status") != nullptr; }
  // "jobs.batch", as error messages name it; "pods" in core.
  std::string qualified() const { return gvk.group.empty() ? plural : plural + "." + gvk.group; }
  // "Job.batch", as 422 messages name it.
  std::string qualified_kind() const {
    return gvk.group.empty() ? gvk.kind : gvk.kind + "." + gvk.group;
  }
};

struct GroupVersions {
  std::string group;
  std::vector<std::string> versions;  // the preferred one first
};

class Registry {
 public:
  // All kinds of api/data. Parses the data once; asserts that it is sound.
  static const Registry& builtin();

  const std::vector<const Resource*>& resources() const { return resources_; }
  const std::vector<GroupVersions>& groups() const { return groups_; }
  const Resource* find(std::string_view group, std::string_view version,
                       std::string_view plural) const;
  const Resource* find_kind(std::string_view api_version, std::string_view kind) const;
  // By the storage resource's group and plural name, in whatever version is stored.
  const Resource* find_storage(std::string_view group, std::string_view plural) const;
  const Schema* type(std::string_view type_name) const;  // null pointer if unknown
  // The type of a kind, also of those that are no resources: Binding, Eviction, Scale,
  // DeleteOptions (which is there in every group) …
  const Schema* type_of_kind(std::string_view api_version, std::string_view kind) const;
  int storage_count() const { return storage_count_; }  // ids are below this

 private:
  friend class RegistryBuilder;
  struct Data;
  std::shared_ptr<const Data> data_;  // owns every Schema and Resource
  std::vector<const Resource*> resources_;
  std::vector<GroupVersions> groups_;
  int storage_count_ = 0;
};

}  // namespace muster::api
