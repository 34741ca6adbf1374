#include "sim/drain.h"

#include <fmt/format.h>

#include "json/parse.h"
#include "sim/node_group.h"

namespace muster::sim {

Drain::Drain(World& world, client::Client& client)
    : world_(world), client_(client), pods_(*api::Registry::builtin().find("", "v1", "pods")) {}

Status Drain::start(const std::string& node) {
  MUSTER_CHECK(world_.write(cordon_node(node, true)));
  for (const store::ObjectPtr& pod : world_.objects(pods_)) {
    json::Arena arena;
    const auto content = json::parse(arena, pod->bytes());
    MUSTER_ASSERT(content.has_value(), "stored objects are sound");
    if (content->get({"spec", "nodeName"}).as_string() != node) continue;
    ++waiting_;
    evict(pod->meta().ns, pod->meta().name);
  }
  return {};
}

void Drain::evict(const std::string& ns, const std::string& name) {
  client_.write(
      {.verb = client::Verb::kCreate,
       .resource = &pods_,
       .ns = ns,
       .name = name,
       .subresource = "eviction",
       .body = fmt::format(
           R"({{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"namespace":"{}","name":"{}"}}}})",
           ns, name)},
      [this, ns, name](const Result<std::string>& evicted) {
        if (evicted || evicted.error().code == Code::kNotFound) {
          --waiting_;
        } else {
          world_.loop().after(kRetry, [this, ns, name] { evict(ns, name); });
        }
      });
}

}  // namespace muster::sim
