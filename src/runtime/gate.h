// A gate that many processes wait at and one call opens for all of them: a small file, mapped by
// those who wait. It stays open or shut whoever dies meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace muster::runtime {

Status make_gate(const std::string& file);  // shut; one that is there already stays as it is
Status open_gate(const std::string& file);  // wakes everyone who waits, with one system call
bool gate_is_open(const std::string& file);

// Blocks the calling thread. Safe after fork: allocates nothing. -1 if the file is no gate.
int wait_at_gate(const char* file);

// The same in two steps, for who can no longer open the file when it is time to wait.
const std::atomic<std::uint32_t>* map_gate(const char* file);  // null if the file is no gate
void wait_at_gate(const std::atomic<std::uint32_t>& gate);

}  // namespace muster::runtime
