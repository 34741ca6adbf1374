// Whom this machine's pods run as and what they may have, as the flags say it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/identity.h"
#include "agent/inputs/images.h"
#include "agent/user_book.h"
#include "base/result.h"

namespace muster::cli {

struct PodPolicy {
  static constexpr std::int64_t kUsualProcesses = 4096;

  std::string user;       // name or number; empty: nobody if we are root, else who we are
  bool any_user = false;  // pods may ask for others
  std::optional<agent::UserRange> users = {};   // each JobSet has one of these; instead of `user`
  std::vector<std::string> host_paths = {"/"};  // prefixes that hostPath volumes may name
  std::int64_t processes = kUsualProcesses;     // per pod, threads too; 0: any number
  bool hide_gpus = true;                        // from pods that ask for none
  std::string oci_runtime;  // "crun", "runc" or any ("oci"); empty: pods are plain processes
  agent::Images images;     // without the program
};

// Who called sudo, by number; empty if nobody did.
std::string sudo_caller();

// What processes get of the environment of this one, whoever they run as.
std::vector<std::string> common_environment();

// Of a node whose JobSets have users of their own: in `data_dir`, with claims in `lock_folder`.
// Null if they have not.
Result<std::unique_ptr<agent::UserBook>> users_under(const PodPolicy& policy,
                                                     const std::string& data_dir,
                                                     const std::string& lock_folder);

Result<agent::Identity> identity_under(const PodPolicy& policy);

}  // namespace muster::cli
