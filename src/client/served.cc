#include "client/served.h"

#include <algorithm>

#include "json/parse.h"

namespace muster::client {

Result<bool> names_resource(std::string_view list, std::string_view plural) {
  json::Arena arena;
  MUSTER_TRY(const json::Value tree, json::parse(arena, list));
  if (tree.get("kind").as_string() != "APIResourceList")
    return fail(Code::kBadRequest, "what the server sent is no list of resources");
  return std::ranges::any_of(tree.get("resources").items(), [&](json::Value resource) {
    return resource.get("name").as_string() == plural;
  });
}

void ask_if_served(Client& client, const api::Resource& resource,
                   std::move_only_function<void(Result<bool> served)> reply) {
  const api::GroupVersionKind& gvk = resource.gvk;
  client.raw_get(
      (gvk.group.empty() ? "/api/" : "/apis/" + gvk.group + "/") + gvk.version,
      [plural = resource.plural, reply = std::move(reply)](Result<std::string> list) mutable {
        if (list) return reply(names_resource(*list, plural));
        if (list.error().code == Code::kNotFound) return reply(false);
        reply(std::unexpected(std::move(list).error()));
      });
}

}  // namespace muster::client
