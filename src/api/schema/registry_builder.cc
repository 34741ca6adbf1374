// Reads the embedded data into the one Registry of the process.
#include <algorithm>
#include <set>

#include "api/schema/data.h"
#include "api/schema/kind_rules.h"
#include "api/schema/registry_data.h"
#include "base/result.h"
#include "json/parse.h"

namespace muster::api {
namespace {

using json::Value;

// A version of a custom resource, as its definition has it.
struct Definition {
  Value names;
  Value version;
};

std::vector<std::string> strings(Value list) {
  std::vector<std::string> out;
  for (const Value item : list.items()) out.emplace_back(item.as_string());
  return out;
}

Column make_column(Value declared) {
  return {.name = std::string(declared.get("name").as_string()),
          .type = std::string(declared.get("type").as_string()),
          .format = std::string(declared.get("format").as_string()),
          .description = std::string(declared.get("description").as_string()),
          .priority = static_cast<int>(declared.get("priority").as_int()),
          .json_path = std::string(declared.get("jsonPath").as_string())};
}

std::vector<Column> columns_of_definition(Value version) {
  std::vector<Column> columns;
  columns.push_back({.name = "Name",
                     .type = "string",
                     .format = "name",
                     .description = "",
                     .priority = 0,
                     .json_path = ".metadata.name"});
  const Value declared = version.get("printerColumns");
  for (const Value column : declared.items()) columns.push_back(make_column(column));
  if (declared.empty()) {
    columns.push_back({.name = "Age",
                       .type = "date",
                       .format = "",
                       .description = "",
                       .priority = 0,
                       .json_path = ".metadata.creationTimestamp"});
  }
  return columns;
}

}  // namespace

class RegistryBuilder {
 public:
  Registry build() {
    read_schemas();
    for (const Value declared : discovery_.get("resources").items()) add_resource(declared);
    join_storage();
    Registry registry;
    registry.groups_ = groups();
    registry.storage_count_ = storage_count_;
    for (const Resource& resource : data_->resources) registry.resources_.push_back(&resource);
    registry.data_ = std::move(data_);
    return registry;
  }

 private:
  Value parse(std::string_view text) {
    Result<Value> tree = json::parse(scratch_, text);
    MUSTER_ASSERT(tree.has_value(), "an embedded data file is no JSON");
    return *tree;
  }

  void read_schemas() {
    discovery_ = parse(data::discovery());
    table_columns_ = parse(data::table_columns());
    SchemaBuilder builder(data_->schemas);
    builder.declare(parse(data::k8s_schema()).get("types"));
    for (const Value file : {parse(data::jobset()), parse(data::kueue())}) {
      builder.declare(file.get("types"));
      for (const Value crd : file.get("crds").items()) {
        for (const Value version : crd.get("versions").items()) {
          definitions_[Registry::Data::key(
              {crd.get("group").as_string(), version.get("name").as_string(),
               crd.get({"names", "plural"}).as_string()})] = {crd.get("names"), version};
        }
      }
    }
    builder.describe(parse(data::descriptions()));
    builder.finish();
  }

  // Resources whose type the data does not have are not served.
  void add_resource(Value declared) {
    Resource resource;
    resource.gvk = {std::string(declared.get("group").as_string()),
                    std::string(declared.get("version").as_string()),
                    std::string(declared.get("kind").as_string())};
    resource.plural = declared.get("plural").as_string();
    const auto definition = definitions_.find(
        Registry::Data::key({resource.gvk.group, resource.gvk.version, resource.plural}));
    resource.custom = definition != definitions_.end();
    resource.schema = resource.custom
                          ? data_->schemas.type(definition->second.version.get("root").as_string())
                          : data_->schemas.kind(resource.gvk.api_version(), resource.gvk.kind);
    if (resource.schema == nullptr) return;
    resource.singular = declared.get("singular").as_string();
    resource.list_kind = resource.gvk.kind + "List";
    resource.short_names = strings(declared.get("shortNames"));
    resource.categories = strings(declared.get("categories"));
    resource.verbs = strings(declared.get("verbs"));
    resource.namespaced = declared.get("namespaced").as_bool();
    resource.storage_version_hash = declared.get("storageVersionHash").as_string();
    for (const Value subresource : declared.get("subresources").items()) {
      resource.subresources.push_back(make_subresource(resource, subresource));
    }
    set_kind_rules(resource);
    if (resource.custom) {
      apply_definition(resource, definition->second);
    } else {
      const std::string key = resource.gvk.api_version() + "/" + resource.plural;
      for (const Value column : table_columns_.get({key, "columns"}).items()) {
        resource.columns.push_back(make_column(column));
      }
    }
    const Resource& added = data_->resources.emplace_back(std::move(resource));
    if (declared.has("storedAs")) converted_.insert(&added);
    index(added);
  }

  Subresource make_subresource(const Resource& resource, Value declared) {
    Subresource made;
    made.name = declared.get("name").as_string();
    made.verbs = strings(declared.get("verbs"));
    made.response_kind = resource.gvk;
    made.response_kind.kind = declared.get("kind").as_string();
    // A kind of another group names its group and version; so does none.
    if (const Value version = declared.get("version"); !version.is_null()) {
      made.response_kind.group = declared.get("group").as_string();
      made.response_kind.version = version.as_string();
    }
    if (!(made.response_kind == resource.gvk)) {
      made.schema = data_->schemas.kind(made.response_kind.api_version(), made.response_kind.kind);
    }
    return made;
  }

  static void apply_definition(Resource& resource, const Definition& definition) {
    resource.list_kind = definition.names.get("listKind").as_string();
    resource.columns = columns_of_definition(definition.version);
    resource.deprecation_warning = definition.version.get("deprecationWarning").as_string();
    for (const Value selectable : definition.version.get("selectableFields").items()) {
      resource.selectable_fields.emplace_back(selectable.get("jsonPath").as_string().substr(1));
    }
  }

  void index(const Resource& resource) {
    const auto& [group, version, kind] = resource.gvk;
    data_->by_path[Registry::Data::key({group, version, resource.plural})] = &resource;
    data_->by_kind[Registry::Data::key({resource.gvk.api_version(), kind})] = &resource;
  }

  bool is_storage_version(const Resource& resource) const {
    if (converted_.contains(&resource)) return false;
    const auto definition = definitions_.find(
        Registry::Data::key({resource.gvk.group, resource.gvk.version, resource.plural}));
    return definition == definitions_.end() || definition->second.version.get("storage").as_bool();
  }

  // Several versions, or groups, of one kind share the storage of one of them.
  void join_storage() {
    ByText<Resource*> storages;
    for (Resource& resource : data_->resources) {
      const std::string own = resource.gvk.group + "/" + resource.plural;
      if (own != storage_name(resource) || !is_storage_version(resource)) continue;
      const bool is_new = storages.emplace(own, &resource).second;
      MUSTER_ASSERT(is_new, "two storage versions of one kind");
      resource.id = storage_count_++;
      data_->by_storage[Registry::Data::key({resource.gvk.group, resource.plural})] = &resource;
    }
    for (Resource& resource : data_->resources) {
      const auto storage = storages.find(storage_name(resource));
      MUSTER_ASSERT(storage != storages.end(), "a kind without storage version");
      resource.storage = storage->second;
      resource.id = storage->second->id;
    }
  }

  // The groups in the order of the data, the preferred version first; those without a resource are
  // left out.
  std::vector<GroupVersions> groups() const {
    std::vector<GroupVersions> found;
    for (const Value declared : discovery_.get("groups").items()) {
      GroupVersions group{std::string(declared.get("group").as_string()), {}};
      std::vector<std::string> versions = strings(declared.get("versions"));
      const auto preferred = std::ranges::find(versions, declared.get("preferred").as_string());
      std::rotate(versions.begin(), preferred, preferred + 1);
      std::ranges::copy_if(
          versions, std::back_inserter(group.versions), [&](const std::string& version) {
            return std::ranges::any_of(data_->resources, [&](const Resource& resource) {
              return resource.gvk.group == group.group && resource.gvk.version == version;
            });
          });
      if (!group.versions.empty()) found.push_back(std::move(group));
    }
    return found;
  }

  json::Arena scratch_;  // the parsed files; gone when the registry stands
  Value discovery_;
  Value table_columns_;
  ByText<Definition> definitions_;
  std::set<const Resource*> converted_;  // built-in kinds in versions that are stored as another
  std::shared_ptr<Registry::Data> data_ = std::make_shared<Registry::Data>();
  int storage_count_ = 0;
};

Registry build_registry() { return RegistryBuilder().build(); }

const Registry& Registry::builtin() {
  static const Registry registry = build_registry();
  return registry;
}

}  // namespace muster::api
