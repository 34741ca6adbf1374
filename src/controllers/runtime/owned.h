// Finding an object's children: by the uid of their controller, never by name or label.
#pragma once

#include <string_view>
#include <vector>

#include "client/informer.h"
#include "json/value.h"

namespace muster::controllers {

// Children in `ns`, in the order of their names, parsed into the arena.
std::vector<json::Value> owned_by(json::Arena& arena, const client::Informer& children,
                                  std::string_view ns, std::string_view uid);
// The parsed object; null if the informer does not have it.
json::Value parsed(json::Arena& arena, const client::ObjectPtr& object);

}  // namespace muster::controllers
