#include "cli/input/lookup.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/terminal_text.h"
#include "cli/input/diagnose.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

std::vector<std::string> names_in(Connection& connection, const api::Resource& resource,
                                  std::string_view ns) {
  std::vector<std::string> names;
  const auto list = connection.list(
      resource, {.ns = resource.namespaced ? std::string(ns) : "", .metadata_only = true});
  json::Arena arena;
  const auto tree = list ? json::parse(arena, *list) : json::parse(arena, "{}");
  if (!tree) return names;
  for (const json::Value item : tree->get("items").items())
    names.emplace_back(item.get({"metadata", "name"}).as_string());
  return names;
}

}  // namespace

Error explain_unserved(const api::Resource& resource, const Error& error) {
  Error out = error;
  // What Kubernetes says of a path that leads nowhere.
  if (error.code != Code::kNotFound || !error.message.starts_with("404 page not found")) return out;
  out.message = fmt::format("this server has no {}", resource.qualified());
  if (&resource == &job_sets())
    out.message += "; `muster install --print` prints what a cluster needs for them";
  return out;
}

Error explain_missing(Connection& connection, const api::Resource& resource, std::string_view name,
                      const Error& error) {
  if (error.code != Code::kNotFound) return error;
  Error out = explain_unserved(resource, error);
  if (out.message != error.message) return out;
  out.message = missing_object(resource, connection.ns(), name,
                               names_in(connection, resource, connection.ns()));
  return out;
}

std::string meant_instead(Connection& connection, const api::Resource& resource,
                          std::string_view ns, std::string_view name) {
  return other_names(name, names_in(connection, resource, ns));
}

Result<std::vector<Wanted>> find_wanted(Connection& connection,
                                        const std::vector<std::string>& words, BareName bare) {
  auto wanted = parse_wanted(connection.kinds(), words);
  if (wanted || wanted.error().code != Code::kNotFound || words.front().contains('/'))
    return wanted;
  const std::string& word = words.front();
  const auto names = names_in(connection, job_sets(), connection.ns());
  const bool is_job_set = std::ranges::find(names, word) != names.end();
  if (is_job_set && bare == BareName::kIsJobSet)
    return std::vector<Wanted>{{.resource = &job_sets(), .names = words}};
  Error error = wanted.error();
  const auto guess = is_job_set ? std::optional(word) : did_you_mean(word, names);
  // One word alone is the name of a JobSet, unless it is nearly that of a kind.
  const bool is_slip = error.message.contains("did you mean");
  if (bare == BareName::kIsJobSet && words.size() == 1 && (guess || !is_slip)) {
    error.message = missing_object(job_sets(), connection.ns(), word, names);
  } else if (guess) {
    error.message = fmt::format("there is no kind \"{}\"; did you mean jobset/{}?",
                                plain_text(word), plain_text(*guess));
  }
  return std::unexpected(std::move(error));
}

Result<Found> find_object(Connection& connection, std::string_view word,
                          const std::vector<const api::Resource*>& kinds) {
  if (const std::size_t slash = word.find('/'); slash != word.npos) {
    MUSTER_TRY(const api::Resource* const resource, connection.kinds().find(word.substr(0, slash)));
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

std::string uid_of(const Found& found) {
  json::Arena arena;
  const auto object = json::parse(arena, found.body);
  return object ? std::string(object->get({"metadata", "uid"}).as_string()) : "";
}

}  // namespace muster::cli
