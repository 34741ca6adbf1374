#include "store/stored_version.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/versions/convert.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::store {

const api::Resource* storage_of_versions(std::string_view group, std::string_view plural) {
  const api::Registry& registry = api::Registry::builtin();
  const api::Resource* const storage = registry.find_storage(group, plural);
  if (storage == nullptr || storage->custom) return nullptr;
  const bool several = std::ranges::any_of(registry.resources(), [&](const api::Resource* each) {
    return each->storage == storage && each != storage;
  });
  return several ? storage : nullptr;
}

std::string in_stored_version(std::string_view text, const api::Resource& storage) {
  // Nearly all are: their text shows it without being parsed.
  const std::string usual = fmt::format(R"({{"kind":"{}","apiVersion":"{}",)", storage.gvk.kind,
                                        storage.gvk.api_version());
  if (text.starts_with(usual)) return std::string(text);
  json::Arena arena;
  const Result<json::Value> object = json::parse(arena, text);
  if (!object) return std::string(text);
  const api::Resource* const version = api::Registry::builtin().find_kind(
      object->get("apiVersion").as_string(), object->get("kind").as_string());
  if (version == nullptr || version == &storage || version->storage != &storage)
    return std::string(text);
  return json::write(api::convert(arena, *object, *version, storage));
}

}  // namespace muster::store
