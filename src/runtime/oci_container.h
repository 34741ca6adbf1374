// Containers with a root file system of their own, made by crun or runc (docs/oci.md).
//
// They are called by the init of a run, inside its namespaces, and leave when the container is
// made: its process becomes the init's child, like any program. So everything else, from logs to
// adoption, is as it is without them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/program.h"
#include "runtime/runtime.h"
#include "runtime/view.h"

namespace muster::runtime {

// The program of an OCI runtime on this machine: of this name, or any that we can use. crun first:
// it takes a third of the time.
inline constexpr std::string_view kAnyOciProgram = "oci";
Result<std::string> find_oci_program(std::string_view wanted = kAnyOciProgram);

// For the init. The container's process is ready, and executes its program when the gate is open;
// what comes of it is told through the start pipe (program.h), also if this fails.
Result<pid_t> make_container(const RunSpec& run, const Program& program,
                             std::vector<View::Source> sources, const Stdio& stdio, int start_pipe);

// For a process in the PID and mount namespaces of the init: moves it into the container, with the
// rights of one of its processes. What has been done for the program by that is taken out of it.
Status join_container(Program& program);

}  // namespace muster::runtime
