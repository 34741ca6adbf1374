// Who shares the attention of controllers: all objects of a JobSet are one group, so that one set
// of a hundred thousand Jobs does not hold up another of two.
#pragma once

#include <string>

#include "api/views/job_set_names.h"
#include "api/views/meta.h"
#include "client/informer.h"
#include "client/work_queue.h"

namespace muster::controllers {

// The name of the JobSet, or else of the object's controller; empty if it has neither.
inline std::string fair_group(const api::Meta& meta) {
  if (const auto set = meta.label(api::label::kJobSetName)) return std::string(*set);
  const api::OwnerReference* const owner = meta.controller();
  return owner == nullptr ? std::string() : owner->name;
}

// Of a queue whose keys name objects of this kind.
inline client::WorkQueue::GroupOf group_by(const client::Informer& informer) {
  return [&informer](const client::QueueKey& key) {
    const client::ObjectPtr object = informer.find(key.ns, key.name);
    return object ? fair_group(object->meta()) : std::string();
  };
}

}  // namespace muster::controllers
