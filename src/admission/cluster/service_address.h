// Addresses and node ports of Services.
//
// They are chosen from what the View shows to be free, starting at a place that depends on the
// Service's name alone: two Services that are created at the same moment, and do not see each
// other, then hardly ever choose the same.
#pragma once

#include "admission/kind.h"

namespace muster::admission {

// Fills in clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy and nodePorts. What was given once
// stays; fails with kInvalid if a wished address is taken or not ours, or if none is left.
Status allocate_service_addresses(const Context& context, Value service, Value old);

}  // namespace muster::admission
