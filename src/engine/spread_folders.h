// A hint to the file system.
#pragma once

#include <string>

namespace muster {

// Folders that are made in this one are put far from each other. ext4 without a journal looks past
// every number in the neighbourhood that was freed within minutes before it gives one to a new
// file; where thousands of files just went, that takes longer than all else that is done for a pod.
// Without effect where the file system knows no such hint.
void spread_folders_in(const std::string& folder);

}  // namespace muster
