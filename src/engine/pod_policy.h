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

namespace muster::engine {

struct PodPolicy {
  static constexpr std::int64_t kUsualProcesses = 4096;
  static constexpr std::int64_t kHalfTheMachine = -1;
  // Of servers of root. The numbers lie above those that others give away: users and groups of
  // distributions and of systemd (up to 65535), subordinate ids (useradd: up to 600100000),
  // systemd's containers (up to 1879048191), domains that sssd maps (up to 2000200000); and below
  // those that programs which take a user for a signed number cannot read (from 2147483648).
  static constexpr agent::UserRange kUsualUsers{.first = 2'100'000'000, .last = 2'100'065'535};

  std::string user;       // name or number; empty: nobody if we are root, else who we are
  bool any_user = false;  // pods may ask for others
  std::optional<agent::UserRange> users = {};  // each JobSet has one of these; instead of `user`
  bool one_user = false;                       // `users` stays empty
  bool shared_tmp = false;  // JobSets with users of their own have no /tmp of their own
  // Of each JobSet with a user of its own, threads too; 0: any number.
  std::int64_t job_set_processes = kHalfTheMachine;
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

// The policy of a server to which several people give JobSets: unless it says otherwise, each
// JobSet has a user of its own from kUsualUsers, where there are such (root, of a user namespace
// that has them).
PodPolicy for_many(PodPolicy policy);

struct UserPlaces {
  std::string data_dir;
  std::string lock_folder;   // for claims
  bool own_folders = false;  // JobSets can and should have a /tmp of their own
};
// Of a node whose JobSets have users of their own. Null if they have not.
Result<std::unique_ptr<agent::UserBook>> users_under(const PodPolicy& policy,
                                                     const UserPlaces& places);

// The bound for a JobSet where the policy leaves it open: so that others still find room. Pure.
std::int64_t half_of(std::int64_t pid_max, std::int64_t threads_max);
std::int64_t job_set_processes_under(const PodPolicy& policy);

Result<agent::Identity> identity_under(const PodPolicy& policy);

}  // namespace muster::engine
