#include "controllers/runtime/parsed.h"

#include "base/result.h"
#include "json/parse.h"

namespace muster::controllers {

json::Value parsed(json::Arena& arena, std::string_view text) {
  const auto value = json::parse(arena, text);
  MUSTER_ASSERT(value.has_value(), "what is stored is sound");
  return *value;
}

json::Value parsed(json::Arena& arena, const store::Object& object) {
  return parsed(arena, object.bytes());
}

json::Value parsed(json::Arena& arena, const store::ObjectPtr& object) {
  return object ? parsed(arena, *object) : json::Value();
}

}  // namespace muster::controllers
