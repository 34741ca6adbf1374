#include "api/views/owner_reference.h"

namespace muster::api {

json::Value write_owner_reference(json::Arena& arena, const OwnerReference& owner) {
  const json::Value out = json::Value::object(arena, 6);
  out.set("apiVersion", owner.api_version);
  out.set("kind", owner.kind);
  out.set("name", owner.name);
  out.set("uid", owner.uid);
  if (owner.controller) out.set("controller", json::Value::of(true));
  if (owner.block_owner_deletion) out.set("blockOwnerDeletion", json::Value::of(true));
  return out;
}

}  // namespace muster::api
