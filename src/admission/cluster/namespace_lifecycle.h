// NamespaceLifecycle: objects are created only in namespaces that exist and are not on their way
// out.
#pragma once

#include "admission/admission.h"

namespace muster::admission {

// 404 if the namespace is missing, 403 if it is terminating; other writes pass.
Status check_namespace(const Context& context);

}  // namespace muster::admission
