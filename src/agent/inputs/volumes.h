// A pod's volumes as folders of this machine, and what of them each container sees.
//
//   <pod directory>/volumes/<name>        emptyDir, configMap, secret, downwardAPI, projected
//   <claims directory>/<ns>/<claim>-<uid> persistentVolumeClaim
//
// Below these no link is followed (S6). See docs/volumes.md.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "agent/inputs/environment.h"
#include "agent/inputs/objects.h"
#include "base/result.h"
#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::agent {

struct VolumePolicy {
  std::string claims_directory;          // made if it is missing
  std::vector<std::string> host_paths;   // prefixes that hostPath may name
  std::vector<std::string> closed = {};  // folders that it may not (host_path.h)
};

struct VolumeRoot {
  std::string pod_directory;
  VolumePolicy policy;
  // Whom the volumes are for. As root: files that are made of objects belong to him, so that a mode
  // of 0400 does not keep them from the pod itself, and a hostPath is what he can reach by himself.
  runtime::User user;
  // Asked at each set_up_volumes; the same text again is no change.
  std::function<Result<std::string>(json::Value token_source)> service_account_token;
};

// Makes the volumes that are not there yet and brings those made of objects up to date (atomically,
// only if the content changed). Called before the first container and again whenever an object that
// the pod names has changed. An error's message is that of the event FailedMount (pod-lifecycle 5).
// Code::kTooLarge: the pod asks for more than any pod gets (limits.h).
Status set_up_volumes(const VolumeRoot& root, json::Value pod, const PodFacts& facts,
                      const Objects& objects);

// What a container sees, subPaths resolved (they are made if they are missing). Sources are
// canonical: whoever mounts them must follow no link. An error's message
// is that of waiting.message with the reason CreateContainerConfigError.
Result<std::vector<runtime::Mount>> mounts_of(const VolumeRoot& root, json::Value pod,
                                              json::Value container, const Variables& variables,
                                              const Objects& objects);

// Removes what set_up_volumes made, claims excepted. May take long: not on the control thread. Can
// be called again if it fails.
Status remove_volumes(const std::string& pod_directory);

// Folders with data of claims whose uid is not among these, and what a removal left half done.
std::vector<std::string> data_of_other_claims(const std::string& claims_directory,
                                              const std::set<std::string, std::less<>>& uids);

// Removes the folder of a claim. May take long: not on the control thread. Can be called again if
// it fails.
Status remove_claim_data(const std::string& folder);

}  // namespace muster::agent
