#include "server/bootstrap.h"

#include <array>

#include "server/blocking_exchange.h"

namespace muster::server {
namespace {

constexpr std::array<std::string_view, 4> kNamespaces{"default", "kube-system", "kube-public",
                                                      "kube-node-lease"};

struct SystemPriority {
  std::string_view name;
  std::int64_t value;
  std::string_view description;
};
constexpr std::array<SystemPriority, 2> kPriorities{{
    {"system-cluster-critical", 2'000'000'000,
     "Used for system critical pods that must run in the cluster, but can be moved to another node "
     "if necessary."},
    {"system-node-critical", 2'000'001'000,
     "Used for system critical pods that must not be moved from their current node."},
}};

Status create(ApiServer& server, std::string_view collection, std::string body) {
  http::Request request{
      .method = "POST",
      .target = std::string(collection),
      .headers = {{"Content-Type", "application/json"}, {"User-Agent", "muster/bootstrap"}},
      .body = std::move(body),
      .peer = {}};
  constexpr int kCreated = 201;
  constexpr int kExists = 409;
  const Reply reply = ask(server, std::move(request), master("system:apiserver"));
  if (reply.status == kCreated || reply.status == kExists) return {};
  return fail(Code::kInternal, fmt::format("cannot create what every cluster has in {}: {}",
                                           collection, reply.body));
}

}  // namespace

Status bootstrap(ApiServer& server) {
  for (const std::string_view name : kNamespaces) {
    MUSTER_CHECK(
        create(server, "/api/v1/namespaces",
               fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})",
                           name)));
  }
  for (const SystemPriority& priority : kPriorities) {
    MUSTER_CHECK(create(
        server, "/apis/scheduling.k8s.io/v1/priorityclasses",
        fmt::format(
            R"({{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":"{}"}},)"
            R"("value":{},"description":"{}"}})",
            priority.name, priority.value, priority.description)));
  }
  return {};
}

}  // namespace muster::server
