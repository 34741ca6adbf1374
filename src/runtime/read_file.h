// A whole file as text.
#pragma once

#include <string>

namespace muster::runtime {

// Empty if it cannot be read; no link is followed in its place. Not by a stream: that touches much
// memory that a shim shares with the keeper so far.
std::string read_file(const std::string& path);

}  // namespace muster::runtime
