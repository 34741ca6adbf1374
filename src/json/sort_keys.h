// The order in which custom resources and YAML are written, where upstream has maps.
#pragma once

#include "json/value.h"

namespace muster::json {

// In place: the members of every object in the tree, by the bytes of their keys.
void sort_all_keys(Value value);

}  // namespace muster::json
