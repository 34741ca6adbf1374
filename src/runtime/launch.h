// Makes the processes of a run: an init that owns its PID namespace (or, without one, its tree) and
// the program as the init's child.
//
// The init passes signals on to the program, collects whatever ends, and ends itself when the
// program has: in a PID namespace the kernel then kills all that is left, elsewhere it falls to the
// shim. So the program is never process 1, and dies of signals as it would outside.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runtime/cgroups.h"
#include "runtime/program.h"
#include "runtime/runtime.h"

namespace muster::runtime {

// What this machine lets us have.
struct Namespaces {
  bool runs = false;  // of processes, with a /proc of their own, and of mounts; per run
  bool uts = false;   // per pod
  bool ipc = false;   // per pod
};

struct Launched {
  pid_t init = 0;
  UniqueFd handle;  // of the init
  UniqueFd output;
  UniqueFd errors;
  UniqueFd start;   // see program.h
  UniqueFd report;  // the wait status of the program, before the init ends
};
Result<Launched> launch(const PodSpec& pod, const RunSpec& run, const Program& program,
                        const Namespaces& namespaces);

// A further program in the namespaces of a run that is alive, as a child of this process.
struct Command {
  pid_t pid = 0;
  UniqueFd handle;
  UniqueFd start;
};
Result<Command> launch_beside(const UniqueFd& init, const Program& program, const Stdio& stdio,
                              const Namespaces& namespaces);

// fork with namespaces, for a process with one thread; -1 and errno on failure.
pid_t clone_process(std::uint64_t flags, UniqueFd& handle);
// Which descriptors a child keeps; all others are closed.
void keep_only(std::vector<int> fds);

}  // namespace muster::runtime
