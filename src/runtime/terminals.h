// Terminals of commands. Each run has a devpts of its own, in which no other pod can open them.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::runtime {

// For the init of a run, before volumes of the machine are taken: wherever the calling process's
// mount namespace shows terminals of the machine, it shows an empty set of new ones instead.
Status mount_own_terminals();

// For the child that becomes a command, as its user and where it will run: makes a terminal, gives
// its master to the other end of the socket, and waits until that is closed: the terminal has a
// reader and a size then. Returns the command's side.
Result<UniqueFd> take_terminal(int handover);

}  // namespace muster::runtime
