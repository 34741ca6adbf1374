#include "fields/reset_fields.h"

#include <initializer_list>

namespace muster::fields {
namespace {

using Path = std::initializer_list<std::string_view>;

FieldSet set_of(std::initializer_list<Path> paths) {
  FieldSet set;
  for (const Path& path : paths) {
    std::vector<PathElement> elements;
    for (const std::string_view name : path) elements.push_back(PathElement::field(name));
    set.insert(elements);
  }
  return set;
}

bool keeps_metadata_of_status(const api::Resource& resource) {
  const std::string name = resource.qualified();
  return resource.custom || name == "podgroups.scheduling.k8s.io" ||
         name == "validatingadmissionpolicies.admissionregistration.k8s.io";
}

const FieldSet& status_endpoint(const api::Resource& resource) {
  static const FieldSet spec = set_of({{"spec"}});
  static const FieldSet metadata_and_spec = set_of({{"metadata"}, {"spec"}});
  static const FieldSet of_pods =
      set_of({{"spec"}, {"metadata", "deletionTimestamp"}, {"metadata", "ownerReferences"}});
  static const FieldSet of_deployments = set_of({{"spec"}, {"metadata", "labels"}});
  if (keeps_metadata_of_status(resource)) return metadata_and_spec;
  const std::string name = resource.qualified();
  if (name == "pods") return of_pods;
  return name == "deployments.apps" ? of_deployments : spec;
}

}  // namespace

const FieldSet& reset_fields(const api::Resource& resource, std::string_view subresource) {
  static const FieldSet none;
  static const FieldSet status = set_of({{"status"}});
  if (subresource == "status") return status_endpoint(resource);
  if (subresource == "finalize") return status;
  if (!subresource.empty() || !resource.has_status()) return none;
  // Upstream forgets to protect this one.
  return resource.qualified() == "podgroups.scheduling.k8s.io" ? none : status;
}

const FieldSet& server_fields() {
  static const FieldSet set = set_of({{"apiVersion"},
                                      {"kind"},
                                      {"metadata"},
                                      {"metadata", "name"},
                                      {"metadata", "namespace"},
                                      {"metadata", "creationTimestamp"},
                                      {"metadata", "selfLink"},
                                      {"metadata", "uid"},
                                      {"metadata", "clusterName"},
                                      {"metadata", "generation"},
                                      {"metadata", "managedFields"},
                                      {"metadata", "resourceVersion"}});
  return set;
}

}  // namespace muster::fields
