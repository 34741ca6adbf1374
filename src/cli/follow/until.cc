#include "cli/follow/until.h"

#include <fmt/format.h>

#include "client/informer.h"
#include "json/parse.h"

namespace muster::cli {

Status wait_until(Connection& connection, const api::Resource& resource, const std::string& ns,
                  const std::string& name, std::optional<Duration> timeout,
                  const std::function<bool(json::Value object)>& holds) {
  // Says whether the server can be reached, which an informer never tells.
  const auto first = connection.get(client::url_path(resource, ns, name));
  if (!first && first.error().code != Code::kNotFound) return std::unexpected(first.error());
  Loop& loop = connection.loop();
  std::optional<bool> done;
  const auto decide = [&](bool reached) {
    if (!done) done = reached;
    loop.stop();
  };
  client::Informer informer(connection.client(), resource,
                            {.ns = ns, .field_selector = "metadata.name=" + name});
  const auto look = [&](const client::ObjectPtr& object) {
    if (!object) {
      if (holds(json::Value())) decide(true);
      return;
    }
    json::Arena arena;
    const auto tree = json::parse(arena, object->bytes());
    if (tree && holds(*tree)) decide(true);
  };
  informer.on_change([&](const auto&, const auto& after) { look(after); });
  informer.on_synced([&] { look(informer.find(ns, name)); });
  informer.start();
  TimerId timer = TimerId::kNone;
  if (timeout) timer = loop.after(*timeout, [&] { decide(false); });
  while (!done) loop.run();
  loop.cancel(timer);
  if (*done) return {};
  return fail(Code::kTimeout,
              fmt::format("timed out waiting for {}/{}", resource.qualified(), name));
}

}  // namespace muster::cli
