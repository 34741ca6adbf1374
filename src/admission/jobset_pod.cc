#include "admission/jobset_pod.h"

#include <string>

#include "admission/edit.h"

namespace muster::admission {

Status admit_jobset_pod(const Context&, Value pod) {
  const Value annotations = pod.get({"metadata", "annotations"});
  if (!annotations.has("jobset.sigs.k8s.io/jobset-name")) return {};
  if (annotations.has("alpha.jobset.sigs.k8s.io/node-selector")) return {};
  if (const Value priority = pod.get({"spec", "priority"}); !priority.is_null())
    pod.get("metadata")
        .object_at("labels")
        .set("jobset.sigs.k8s.io/priority", std::to_string(priority.as_int()));
  return {};
}

}  // namespace muster::admission
