// What can be seen of a file before anything is started: whether this machine's process runtime can
// run it at all. Pure.
#pragma once

#include "base/result.h"
#include "json/value.h"

namespace muster::cli {

// Every container needs a command: images, which may hold one, are ignored. Fails with one cause
// per container that has none.
Status check_commands(json::Value job_set);

}  // namespace muster::cli
