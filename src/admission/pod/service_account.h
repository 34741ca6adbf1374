// ServiceAccount: every pod runs as an account of its namespace and finds that account's token in a
// volume.
#pragma once

#include "admission/kind.h"

namespace muster::admission {

Status admit_service_account(const Context& context, Value pod);

}  // namespace muster::admission
