// Kueue's LocalQueue, v1beta1 and v1beta2 (spec: queueing 1.1).
#include "api/versions/conversion.h"

namespace muster::api {
namespace {

using json::Value;

void local_queue_to_storage(Value queue) {
  if (const Value status = queue.get("status"); status.is_object())
    rename_member(status, "flavorUsage", "flavorsUsage");
}

void local_queue_from_storage(Value queue) {
  if (const Value status = queue.get("status"); status.is_object())
    rename_member(status, "flavorsUsage", "flavorUsage");
}

}  // namespace

constinit const Conversion kLocalQueueV1beta1 = {.group = "kueue.x-k8s.io",
                                                 .kind = "LocalQueue",
                                                 .version = "v1beta1",
                                                 .to_storage = local_queue_to_storage,
                                                 .from_storage = local_queue_from_storage};

}  // namespace muster::api
