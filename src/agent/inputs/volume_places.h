// Where the volumes of a pod lie on this machine.
#pragma once

#include <string>

#include "agent/inputs/host_path.h"
#include "agent/inputs/volumes.h"

namespace muster::agent {

// Names of volumes, claims and namespaces become names of folders.
bool is_folder_name(std::string_view name);

HostPathRights host_path_rights(const VolumeRoot& root);

std::string volumes_folder(const VolumeRoot& root);  // of all volumes that belong to the pod

// A claim's folder below the claims directory: <ns>/<claim>-<uid>. The error is the cause as a
// kubelet words it: the claim is not there, not bound, or about to be deleted, which only keeps
// those from it who do not have it yet.
Result<std::string> claim_folder(json::Value pod, json::Value volume, const Objects& objects,
                                 bool has_it);

// The canonical path of a volume that has been set up.
Result<std::string> place_of(const VolumeRoot& root, json::Value pod, json::Value volume,
                             const Objects& objects);

}  // namespace muster::agent
