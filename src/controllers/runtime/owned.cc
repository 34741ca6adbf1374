#include "controllers/runtime/owned.h"

#include "base/result.h"
#include "json/parse.h"

namespace muster::controllers {

json::Value parsed(json::Arena& arena, const client::ObjectPtr& object) {
  if (!object) return {};
  auto value = json::parse(arena, object->bytes());
  MUSTER_ASSERT(value.has_value(), "an informer holds sound objects only");
  return *value;
}

std::vector<json::Value> owned_by(json::Arena& arena, const client::Informer& children,
                                  std::string_view ns, std::string_view uid) {
  std::vector<json::Value> found;
  const std::string prefix = std::string(ns) + "/";
  for (auto at = children.objects().lower_bound(prefix); at != children.objects().end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    const auto* owner = at->second->meta().controller();
    if (owner != nullptr && owner->uid == uid) found.push_back(parsed(arena, at->second));
  }
  return found;
}

}  // namespace muster::controllers
