#include "admission/rules/lookup.h"

#include "json/parse.h"

namespace muster::admission {
namespace {

json::Value parse_stored(json::Arena& arena, std::string_view text) {
  const auto value = json::parse(arena, text);
  MUSTER_ASSERT(value, "a stored object is not JSON");
  return *value;
}

std::vector<json::Value> parse_all(json::Arena& arena, const std::vector<std::string_view>& texts) {
  std::vector<json::Value> objects;
  objects.reserve(texts.size());
  for (const std::string_view text : texts) objects.push_back(parse_stored(arena, text));
  return objects;
}

}  // namespace

json::Value find_object(const Context& context, json::Arena& arena, const ObjectRef& ref) {
  const std::string_view text = context.view->find(ref.group, ref.plural, ref.ns, ref.name);
  return text.empty() ? json::Value() : parse_stored(arena, text);
}

std::vector<json::Value> list_objects(const Context& context, json::Arena& arena,
                                      const ObjectRef& ref) {
  return parse_all(arena, context.view->list(ref.group, ref.plural, ref.ns));
}

std::vector<json::Value> list_like(const Context& context, json::Arena& arena, const ObjectRef& ref,
                                   const View::Likeness& likeness) {
  return parse_all(arena, context.view->list_like(ref.group, ref.plural, ref.ns, likeness));
}

}  // namespace muster::admission
