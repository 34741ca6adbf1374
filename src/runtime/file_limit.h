// How many files this process may have open, and how many the programs that it starts.
#pragma once

namespace muster::runtime {

// As many as the system lets us: a keeper has a few for each pod.
void raise_file_limit();
// What was there before, in a child that becomes somebody else's program: some count up to the
// limit, or have no room for higher numbers.
void restore_file_limit();

}  // namespace muster::runtime
