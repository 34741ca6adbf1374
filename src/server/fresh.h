// What reads of every kind share: waiting for a version, and the form of the answer.
#pragma once

#include <functional>

#include "server/call.h"
#include "server/render.h"

namespace muster::server {

// Runs `then` when the store has reached the revision; answers 504 if that does not happen within
// three seconds.
void when_reached(const CallPtr& call, store::Revision wanted, std::function<void()> then);

// By the call's Accept header and includeObject parameter.
Result<Renderer> make_renderer(const Call& call);

}  // namespace muster::server
