// Which Jobs and JobSets are gone, and which Jobs and pods go because of that: the garbage
// collector has not reached them yet, but will. Creating or starting anything for them is work for
// nothing, and a set of ten thousand Jobs would otherwise be replaced as fast as it is deleted.
//
// Follows the collector's rules: an object goes with its controller if that is gone, or is deleted
// in the foreground. Errs to one side only: for a while an object that goes may seem to stay.
#pragma once

#include <string>

#include "api/views/meta.h"
#include "controllers/runtime/informers.h"
#include "controllers/runtime/lru.h"

namespace muster::controllers {

class Going {
 public:
  // Made before the informers start. Where nobody collects garbage, Jobs and pods outlive their
  // owners.
  Going(Informers& informers, bool collects_garbage);

  // `object`: the metadata of a Job or a pod as its informer has it.
  bool goes(const api::Meta& object);
  // The Job or JobSet with this uid was seen to be removed. A uid never comes back.
  bool is_gone(const std::string& uid) { return gone_.find(uid) != nullptr; }
  // And so what it was the controller of will be deleted, or lose the reference to it.
  bool leaves_garbage(const std::string& uid) { return collects_garbage_ && is_gone(uid); }

 private:
  bool goes_with_job(const api::Meta& pod, const api::OwnerReference& owner);
  bool goes_with_set(const std::string& ns, const api::OwnerReference& owner);

  // More than the Jobs that may wait to start (JobLimits), which may all be deleted at once; some
  // megabytes.
  static constexpr std::size_t kMaxRemembered = 32'768;

  client::Informer& jobs_;
  client::Informer& sets_;
  bool collects_garbage_;
  Lru<std::string, bool> gone_{kMaxRemembered};  // by uid
};

}  // namespace muster::controllers
