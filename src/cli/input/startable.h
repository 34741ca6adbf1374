// What can be seen of a JobSet before anything is started: whether this machine's process runtime
// can run it at all, and whether it has what a flag names. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace muster::cli {

// Every container needs a command: images, which may hold one, are ignored. Fails with one cause
// per container that has none, or has one that is no list.
Status check_commands(json::Value job_set);

// What a container is called that has no image.
inline constexpr std::string_view kNoImage = "none";
// Containers without an image get that one, for the server wants some. Says whether there were any.
bool add_images(json::Value job_set);

// On a server that nobody else works for: whether anything of it will ever start. Fails with one
// cause per reason why not.
Status check_will_run(json::Value job_set);

// RJOB[/JOB[/POD]] of --exit-code-from; which pods there will be is not looked at. Empty is right.
Status check_selection(json::Value job_set, std::string_view selection);

}  // namespace muster::cli
