// What the Job controller reads of a pod: little, because there are many of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/views/views.h"
#include "base/time.h"
#include "controllers/runtime/plan.h"
#include "store/store.h"

namespace muster::controllers::job {

inline constexpr std::int64_t kNoIndex = -1;

struct Pod {
  ObjectRef ref;
  std::string owner_uid;         // of its controller; empty if it has none
  std::string owner_name;        // only if that is a Job
  bool wears_owner_uid = false;  // in the label by which Jobs select their pods
  bool owned_by_job = false;
  std::vector<std::pair<std::string, std::string>> labels;
  bool tracked = false;  // has the tracking finalizer
  bool deleting = false;

  std::int64_t index = kNoIndex;  // of an Indexed Job
  // How often its index failed before it, counted and ignored.
  std::int32_t index_failures = 0;
  std::int32_t index_ignored_failures = 0;

  api::PodPhase phase = api::PodPhase::kPending;
  bool assigned = false;  // to a node
  bool ready = false;
  std::optional<Time> ready_since;
  Time created{};
  Time finished{};                  // of one that has ended (spec: job 2.6)
  std::int64_t restarts = 0;        // of all containers together
  std::int32_t worst_restarts = 0;  // of the container that was restarted most
  std::int32_t worst_sidecar_restarts = 0;

  // Only of a failed one: what a podFailurePolicy looks at.
  struct Exit {
    std::string container;
    std::int32_t code = 0;  // never 0
  };
  std::vector<Exit> exits;
  std::vector<std::pair<std::string, std::string>> conditions;  // type and status

  bool has_ended() const {
    return phase == api::PodPhase::kSucceeded || phase == api::PodPhase::kFailed;
  }
  bool is_active() const { return !has_ended() && !deleting; }
  bool is_terminating() const { return !has_ended() && deleting; }
};

Pod read_pod(const store::Object& object, json::Value content);

}  // namespace muster::controllers::job
