// The handlers of requests that authentication and authorisation let through. Internal to server/.
// Each answers its call, at once or later.
#pragma once

#include "server/call.h"

namespace muster::server {

// read.cc
void get_object(const CallPtr& call);
void list_objects(const CallPtr& call);
// watch.cc
void watch_objects(const CallPtr& call);

// create.cc, update.cc, patch.cc, delete.cc, delete_collection.cc
void create_object(const CallPtr& call);
void update_object(const CallPtr& call);
void patch_object(const CallPtr& call);
void delete_object(const CallPtr& call);
void delete_collection(const CallPtr& call);

// Subresources that are no view of the object: binding.cc, eviction.cc, scale.cc, pod_log.cc,
// pod_connect.cc, token_request.cc
void bind_pod(const CallPtr& call);
void evict_pod(const CallPtr& call);
void get_scale(const CallPtr& call);
void update_scale(const CallPtr& call);
void patch_scale(const CallPtr& call);
void read_pod_log(const CallPtr& call);
void connect_pod(const CallPtr& call);  // exec, attach, portforward, proxy
void create_token(const CallPtr& call);

// reviews.cc: kinds that are answered, never stored
void create_review(const CallPtr& call);

// general.cc: /healthz, /version, /metrics, /api, /apis, /openapi
void answer_general(const CallPtr& call);

}  // namespace muster::server
