// The steps that every write of an object shares: defaults, field tracking, admission, validation,
// canonical form. Internal to server/.
#pragma once

#include "fields/managed_fields.h"
#include "server/options.h"
#include "server/write.h"

namespace muster::server {

// Who writes, for managedFields.
struct Tracking {
  std::string manager;
  bool done = false;  // the managedFields are right already (apply)
};

// By the fieldManager parameter or the User-Agent.
Tracking tracking_of(const Call& call, const WriteOptions& options);
fields::Writer writer_of(const Attempt& attempt, const Tracking& tracking);

// `object` is decoded, in the version of the request. 201.
Result<Outcome> create_from(Attempt& attempt, json::Value object, const WriteOptions& options,
                            const Tracking& tracking);

struct UpdateRules {
  bool sent_whole = true;  // PUT: a uid is a precondition, a missing resourceVersion may be refused
};
// `old` is the live object as a tree in the version of the request; `object` what it shall become.
Result<Outcome> update_to(Attempt& attempt, const store::ObjectPtr& live, json::Value old,
                          json::Value object, const WriteOptions& options, const Tracking& tracking,
                          const UpdateRules& rules);

// Put `object` (version of the resource) in place of what has the revision `expected`; 0: of
// nothing. What the version cannot say is taken from `live`, the object until now; none is needed
// for a write in the storage version.
Result<store::Write> put_write(json::Arena& arena, json::Value object,
                               const api::Resource& resource, store::Revision expected,
                               const store::Object* live = nullptr);
// What upstream's store takes for one object: how long creates and updates may make one.
constexpr std::size_t kMaxStoredBytes = 1'572'864;
// Room above that for what the life of an object adds: its status, its node, its deletion. As much
// again, so that the whole object still fits the body of a request (3 MiB) that puts its status.
constexpr std::size_t kReservedBytes = kMaxStoredBytes;
// kTooLarge if the text is longer than `limit`.
Status check_size(const store::Write& write, std::size_t limit);
// Remove it. Watchers see its last stored state.
store::Write delete_write(const store::Object& live, const api::Resource& resource);

// An object of the given text that is shown and not stored.
store::ObjectPtr shown(std::string text, store::Revision revision);

}  // namespace muster::server
