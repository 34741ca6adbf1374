// A gate that many processes wait at and one call opens for all of them: a small file, mapped by
// those who wait. It stays open or shut whoever dies meanwhile.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace muster::runtime {

Status make_gate(const std::string& file);  // shut; one that is there already stays as it is
Status open_gate(const std::string& file);  // wakes everyone who waits, with one system call

// Blocks the calling thread. Safe after fork: allocates nothing. -1 if the file is no gate.
int wait_at_gate(const char* file);

}  // namespace muster::runtime
