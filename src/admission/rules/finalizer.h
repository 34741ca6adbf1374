// Finalizers that admission puts on objects.
#pragma once

#include "admission/rules/edit.h"

namespace muster::admission {

// `name` is text of static storage.
inline void add_finalizer(Value object, std::string_view name) {
  const Value finalizers = object.object_at("metadata").array_at("finalizers");
  if (!contains_text(finalizers, name)) finalizers.push_back(Value::view(name));
}

}  // namespace muster::admission
