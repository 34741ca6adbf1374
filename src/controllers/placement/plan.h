// Keeps the pods of an exclusively placed Job together (spec: jobset 3.19). Admission sends them
// after their leader; but a leader may come back on another node, and then its followers are in the
// wrong place. They are deleted, and the Job makes them again where they belong.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "api/views/meta.h"
#include "controllers/runtime/plan.h"
#include "json/value.h"
#include "store/store.h"

namespace muster::controllers::placement {

struct Pod {
  std::string ns;
  std::string name;
  std::string uid;
  std::string controller_uid;
  std::string job_key;
  std::string topology;  // the node label that its Job has for itself; empty: not exclusive
  std::optional<std::string> domain;  // the label's value that its node selector asks for
  std::string node_name;
  bool is_leader = false;
  bool is_over = false;  // ended or being deleted: it takes no place any more
};

// Pods that are not placed exclusively, or whose nodes were labelled beforehand (the node-selector
// strategy), read as not exclusive. Costs little for those.
Pod read_pod(const store::Object& pod, json::Value content);

struct View {
  const Pod& leader;
  std::span<const Pod* const> pods;  // with the same controller; the leader may be among them
  const api::Meta* node = nullptr;   // the leader's; null pointer if there is none
};

Plan plan(const api::Resource& pods, const View& view, Time now);

}  // namespace muster::controllers::placement
