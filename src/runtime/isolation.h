// How far this machine lets us separate pods from each other, found out by trying.
#pragma once

#include <vector>

#include "runtime/launch.h"
#include "runtime/runtime.h"

namespace muster::runtime {

struct Isolation {
  Namespaces namespaces;
  std::vector<Ability> abilities;
};

// For the keeper, once, before it makes any process: it moves into a mount namespace of its own
// and, if it is not root, into a user namespace in which it may make others. Its children inherit
// both.
Isolation enter_isolation(bool wanted);

}  // namespace muster::runtime
