#include "api/schema/registry.h"

#include <algorithm>

#include "api/schema/registry_data.h"

namespace muster::api {

bool Resource::has_verb(std::string_view verb) const {
  return std::ranges::find(verbs, verb) != verbs.end();
}

const Subresource* Resource::subresource(std::string_view name) const {
  const auto found = std::ranges::find(subresources, name, &Subresource::name);
  return found == subresources.end() ? nullptr : &*found;
}

const Resource* Registry::find(std::string_view group, std::string_view version,
                               std::string_view plural) const {
  return data_->find(data_->by_path, {group, version, plural});
}

const Resource* Registry::find_kind(std::string_view api_version, std::string_view kind) const {
  return data_->find(data_->by_kind, {api_version, kind});
}

const Resource* Registry::find_storage(std::string_view group, std::string_view plural) const {
  return data_->find(data_->by_storage, {group, plural});
}

const Schema* Registry::type(std::string_view type_name) const {
  return data_->schemas.type(type_name);
}

const Schema* Registry::type_of_kind(std::string_view api_version, std::string_view kind) const {
  if (const Schema* const found = data_->schemas.kind(api_version, kind)) return found;
  if (const Resource* const resource = find_kind(api_version, kind)) return resource->schema;
  // The options of a request stand in every group and version.
  if (api_version != "meta.k8s.io/v1" && !kind.ends_with("Options")) return nullptr;
  return data_->schemas.type("io.k8s.apimachinery.pkg.apis.meta.v1." + std::string(kind));
}

}  // namespace muster::api
