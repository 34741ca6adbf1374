// What an OCI runtime is given of a container, and what it writes about it: one memory file system,
// mounted in the mount namespace of the run. It goes with the last process of the run, whoever is
// killed in which order, so there is nothing to clean up.
//
//   config.json        what is to be run (oci_config.h)
//   rootfs/            the root: the given one, with what the container writes in memory above it
//   state/ log pid     of the OCI runtime: its own records, its errors, the container's process
//   mounts/<n>         what is mounted into the container
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"
#include "runtime/view.h"

namespace muster::runtime {

// For the init of a run, in its namespaces; `folder` exists, and what it holds is hidden from now
// on. The working directory is the bundle afterwards. `sources` are mounted in their order.
//
// The machine's control groups become read-only: OCI runtimes would move the container out of the
// ones that it inherits.
Status set_up_bundle(const std::string& folder, const RunSpec& run,
                     std::vector<View::Source> sources);

}  // namespace muster::runtime
