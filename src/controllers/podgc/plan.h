// Which pods nobody will ever finish or clear away, and how they go (spec: job 3.4).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/views/pod_phase.h"
#include "controllers/runtime/plan.h"
#include "json/value.h"
#include "store/store.h"

namespace muster::controllers::podgc {

// Ended pods that are kept for people to look at.
inline constexpr int kTerminatedThreshold = 12'500;

struct Pod {
  ObjectRef ref;
  std::string phase;
  std::string reason;
  std::string node;
  bool deleting = false;
  Time created;
  std::int64_t generation = 0;

  bool has_ended() const { return api::is_end_phase(phase); }
};

struct Node {
  bool ready = false;
  bool out_of_service = false;  // somebody vouches for it that nothing runs there any more
};

Pod read_pod(const store::Object& pod, json::Value content);
Node read_node(json::Value object);

struct Observed {
  std::vector<const Pod*> pods;  // in the order of namespace and name
  std::map<std::string, Node> nodes;
  std::set<std::string> lost_nodes;      // pods name them, and the server says that they are gone
  int threshold = kTerminatedThreshold;  // 0 or less: any number is kept
};

struct Doomed {
  const Pod* pod = nullptr;
  bool disrupted = false;  // it lost its node: whoever counts failures shall know
  std::string why;
};

// Each pod at most once. Pure.
std::vector<Doomed> choose(const Observed& observed);
// Pure.
Plan plan(const api::Resource& pods, const Doomed& doomed, Time now);

}  // namespace muster::controllers::podgc
