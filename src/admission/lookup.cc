#include "admission/lookup.h"

#include "json/parse.h"

namespace muster::admission {
namespace {

json::Value parse_stored(json::Arena& arena, std::string_view text) {
  const auto value = json::parse(arena, text);
  MUSTER_ASSERT(value, "a stored object is not JSON");
  return *value;
}

}  // namespace

json::Value find_object(const Context& context, json::Arena& arena, const ObjectRef& ref) {
  const std::string_view text = context.view->find(ref.group, ref.plural, ref.ns, ref.name);
  return text.empty() ? json::Value() : parse_stored(arena, text);
}

std::vector<json::Value> list_objects(const Context& context, json::Arena& arena,
                                      const ObjectRef& ref) {
  std::vector<json::Value> found;
  for (const std::string_view text : context.view->list(ref.group, ref.plural, ref.ns))
    found.push_back(parse_stored(arena, text));
  return found;
}

}  // namespace muster::admission
