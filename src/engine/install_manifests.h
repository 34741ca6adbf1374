// What has to be on a cluster before `muster operator` can work there, under upstream's names: a
// cluster that had the Go JobSet controller keeps its objects.
#pragma once

#include <string>
#include <vector>

#include "api/schema/registry.h"
#include "json/value.h"

namespace muster::engine {

// Where the operator's own objects are: service account, lease.
inline constexpr std::string_view kOperatorNamespace = "jobset-system";

struct InstallSettings {
  std::string ns = std::string(kOperatorNamespace);
  std::string webhook_url;  // empty: no webhook configurations
  std::string webhook_ca_pem;
};

// Namespace, definition of the JobSet, service account and roles, webhook configurations; in the
// order in which they have to be applied.
std::vector<json::Value> install_manifests(json::Arena& arena, const api::Registry& registry,
                                           const InstallSettings& settings);

// As one YAML stream.
std::string install_yaml(const api::Registry& registry, const InstallSettings& settings);

}  // namespace muster::engine
