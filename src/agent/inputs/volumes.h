// A pod's volumes as folders of this machine, and what of them each container sees.
//
//   <pod directory>/volumes/<name>        emptyDir, configMap, secret, downwardAPI, projected
//   <claims directory>/<ns>/<claim>       persistentVolumeClaim
//
// All paths below these are opened beneath their root without following links (S6).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/inputs/environment.h"
#include "agent/inputs/objects.h"
#include "base/result.h"
#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::agent {

struct VolumePolicy {
  std::string claims_directory;
  std::vector<std::string> host_paths;  // prefixes that hostPath may name; "/" allows all
};

struct VolumeRoot {
  std::string pod_directory;
  VolumePolicy policy;
  std::function<Result<std::string>(json::Value token_source)> service_account_token;
};

// Makes the volumes that are not there yet and brings those made of objects up to date (atomically,
// only if the content changed). Called before the first container and again whenever an object that
// the pod names has changed. An error's message is that of the event FailedMount (pod-lifecycle 5).
Status set_up_volumes(const VolumeRoot& root, json::Value pod, const PodFacts& facts,
                      const Objects& objects);

// What a container sees, subPaths resolved (they are made if they are missing). An error's message
// is that of waiting.message with the reason CreateContainerConfigError.
Result<std::vector<runtime::Mount>> mounts_of(const VolumeRoot& root, json::Value pod,
                                              json::Value container, const Variables& variables);

// Removes what set_up_volumes made, claims excepted. May take long: not on the control thread.
void remove_volumes(const std::string& pod_directory);

}  // namespace muster::agent
