// Stored text as a tree. What informers and views hold has been checked before it was stored: it is
// sound.
#pragma once

#include <string_view>

#include "json/value.h"
#include "store/store.h"

namespace muster::controllers {

json::Value parsed(json::Arena& arena, std::string_view text);
json::Value parsed(json::Arena& arena, const store::Object& object);
json::Value parsed(json::Arena& arena, const store::ObjectPtr& object);  // null if there is none

}  // namespace muster::controllers
