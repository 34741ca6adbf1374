// Whether an OCI runtime really runs containers on this machine, found out by running one.
#pragma once

#include <string>

#include "base/loop.h"
#include "base/result.h"
#include "runtime/runtime.h"

namespace muster::cli {

// For a runtime that is used for nothing else. `directory` is for files of the attempt. Runs the
// loop until the container has ended, which takes some tens of milliseconds.
Status probe_oci(Loop& loop, runtime::Runtime& runtime, const std::string& program,
                 const std::string& directory);

}  // namespace muster::cli
