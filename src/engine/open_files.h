// How many files this process may have open.
#pragma once

namespace muster::engine {

// As many as the system lets us: every connection and every log that is read is one. To be called
// when what should keep the usual limit, such as the keeper of pods, has been started.
void allow_many_files();

}  // namespace muster::engine
