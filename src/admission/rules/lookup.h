// Other objects, as trees.
#pragma once

#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "json/value.h"

namespace muster::admission {

struct ObjectRef {
  std::string_view group;
  std::string_view plural;
  std::string_view ns;
  std::string_view name;
};

// Null if there is no such object. The tree lives in the arena.
json::Value find_object(const Context& context, json::Arena& arena, const ObjectRef& ref);
// Every object of a kind; ref.name is not looked at.
std::vector<json::Value> list_objects(const Context& context, json::Arena& arena,
                                      const ObjectRef& ref);
// At least those that are like it.
std::vector<json::Value> list_like(const Context& context, json::Arena& arena, const ObjectRef& ref,
                                   const View::Likeness& likeness);

}  // namespace muster::admission
