#include "cli/lookup.h"

#include "cli/kinds.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

std::vector<std::string> names_in(Connection& connection, const api::Resource& resource) {
  std::vector<std::string> names;
  const auto list = connection.list(
      resource, {.ns = resource.namespaced ? connection.ns() : "", .metadata_only = true});
  json::Arena arena;
  const auto tree = list ? json::parse(arena, *list) : json::parse(arena, "{}");
  if (!tree) return names;
  for (const json::Value item : tree->get("items").items())
    names.emplace_back(item.get({"metadata", "name"}).as_string());
  return names;
}

}  // namespace

Error explain_missing(Connection& connection, const api::Resource& resource, std::string_view name,
                      const Error& error) {
  if (error.code != Code::kNotFound) return error;
  Error out = error;
  out.message = missing_object(resource, connection.ns(), name, names_in(connection, resource));
  return out;
}

Result<Found> find_object(Connection& connection, std::string_view word,
                          const std::vector<const api::Resource*>& kinds) {
  if (const std::size_t slash = word.find('/'); slash != word.npos) {
    MUSTER_TRY(const api::Resource* const resource,
               find_kind(api::Registry::builtin(), word.substr(0, slash)));
    const std::string_view name = word.substr(slash + 1);
    auto body = connection.get(*resource, name);
    if (!body) return std::unexpected(explain_missing(connection, *resource, name, body.error()));
    return Found{resource, std::string(name), *std::move(body)};
  }
  for (const api::Resource* resource : kinds) {
    auto body = connection.get(*resource, word);
    if (body) return Found{resource, std::string(word), *std::move(body)};
    if (body.error().code != Code::kNotFound) return std::unexpected(body.error());
  }
  return std::unexpected(explain_missing(connection, *kinds.front(), word,
                                         Error{.code = Code::kNotFound, .message = {}}));
}

}  // namespace muster::cli
