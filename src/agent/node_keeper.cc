#include "agent/node_keeper.h"

#include <fmt/format.h>

#include "api/views/conditions.h"
#include "base/log.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::agent {
namespace {

using json::Value;

constexpr std::string_view kLeaseNamespace = "kube-node-lease";
constexpr int kLeaseSeconds = 40;
constexpr Duration kRenewEach = std::chrono::seconds(10);
constexpr Duration kReportEach = std::chrono::minutes(5);  // even if nothing changed
constexpr Duration kRetry = std::chrono::seconds(1);

}  // namespace

NodeKeeper::NodeKeeper(client::Client& client, const api::Registry& registry,
                       const MachineFacts& facts, const std::vector<runtime::Ability>& abilities,
                       NodeShare share)
    : client_(client),
      nodes_(*registry.find("", "v1", "nodes")),
      leases_(*registry.find("coordination.k8s.io", "v1", "leases")),
      facts_(facts),
      abilities_(abilities),
      share_(std::move(share)) {}

NodeKeeper::~NodeKeeper() = default;

void NodeKeeper::start() { create(); }

void NodeKeeper::after(Duration delay, void (NodeKeeper::*then)()) {
  client_.loop().after(delay, lifetime_.guard([this, then] { (this->*then)(); }));
}

void NodeKeeper::ask(client::Operation operation,
                     void (NodeKeeper::*answered)(Result<std::string>)) {
  client_.write(operation, lifetime_.guard([this, answered](Result<std::string> answer) {
    (this->*answered)(std::move(answer));
  }));
}

void NodeKeeper::failed(const char* what, const Error& error) {
  log::warn(what, {{"node", share_.name}, {"error", error.message}});
}

void NodeKeeper::create() {
  json::Arena arena;
  const Value node = write_node(arena, share_);
  node.set("status", write_node_status(arena, share_, facts_, abilities_, Value(), now()));
  ask({.verb = client::Verb::kCreate, .resource = &nodes_, .name = share_.name, .body = node},
      &NodeKeeper::created);
}

void NodeKeeper::created(Result<std::string> answer) {
  if (answer || answer.error().code == Code::kAlreadyExists) return adjust();
  failed("cannot register this node", answer.error());
  after(kRetry, &NodeKeeper::create);
}

void NodeKeeper::adjust() {
  json::Arena arena;
  const Value node = write_node(arena, share_);
  Value patch = Value::object(arena);
  patch.object_at("metadata").set("labels", node.get({"metadata", "labels"}));
  patch.get("metadata").set("annotations", node.get({"metadata", "annotations"}));
  ask({.verb = client::Verb::kPatch, .resource = &nodes_, .name = share_.name, .body = patch},
      &NodeKeeper::adjusted);
}

void NodeKeeper::adjusted(Result<std::string> answer) {
  if (!answer) {
    failed("cannot register this node", answer.error());
    return after(kRetry, &NodeKeeper::create);
  }
  json::Arena arena;
  if (const auto node = json::parse(arena, *answer)) {
    uid_ = node->get({"metadata", "uid"}).as_string();
    status_ = json::write(node->get("status"));
  }
  if (!std::exchange(leasing_, true)) renew_lease();
  send_status();
}

void NodeKeeper::send_status() {
  json::Arena arena;
  const auto before = json::parse(arena, status_);
  Value patch = Value::object(arena);
  patch.set("status", write_node_status(arena, share_, facts_, abilities_,
                                        before ? *before : Value(), now()));
  ask({.verb = client::Verb::kPatch,
       .resource = &nodes_,
       .name = share_.name,
       .subresource = "status",
       .body = patch,
       .patch_type = client::PatchType::kStrategic},
      &NodeKeeper::status_sent);
}

void NodeKeeper::status_sent(Result<std::string> answer) {
  if (!answer && answer.error().code == Code::kNotFound) return create();
  if (!answer) {
    failed("cannot report this node ready", answer.error());
    return after(kRetry, &NodeKeeper::send_status);
  }
  json::Arena arena;
  if (const auto node = json::parse(arena, *answer)) status_ = json::write(node->get("status"));
  status_sent_at_ = now();
}

void NodeKeeper::check_status() {
  client_.get(nodes_, "", share_.name, lifetime_.guard([this](const Result<std::string>& answer) {
    if (!answer && answer.error().code == Code::kNotFound) return create();
    if (!answer) return;
    json::Arena arena;
    const auto node = json::parse(arena, *answer);
    const bool ready = node && api::has_condition(*node, "Ready");
    if (!ready || now() - status_sent_at_ >= kReportEach) send_status();
  }));
}

std::string NodeKeeper::lease_body() {
  json::Arena arena;
  Value lease = Value::object(arena);
  lease.set("apiVersion", "coordination.k8s.io/v1");
  lease.set("kind", "Lease");
  const Value metadata = lease.object_at("metadata");
  metadata.set("name", share_.name);
  const Value owner = Value::object(arena);
  owner.set("apiVersion", "v1");
  owner.set("kind", "Node");
  owner.set("name", share_.name);
  owner.set("uid", uid_);
  metadata.array_at("ownerReferences").push_back(owner);
  const Value spec = lease.object_at("spec");
  spec.set("holderIdentity", share_.name);
  spec.set("leaseDurationSeconds", Value::of(kLeaseSeconds));
  spec.set("renewTime", format_micro_time(now()));
  return json::write(lease);
}

void NodeKeeper::renew_lease() {
  ask({.verb = client::Verb::kPatch,
       .resource = &leases_,
       .ns = std::string(kLeaseNamespace),
       .name = share_.name,
       .body = lease_body()},
      &NodeKeeper::lease_renewed);
}

void NodeKeeper::lease_renewed(Result<std::string> answer) {
  if (!answer && answer.error().code == Code::kNotFound) return create_lease();
  if (!answer) {
    failed("cannot renew the lease of this node", answer.error());
    return after(kRetry, &NodeKeeper::renew_lease);
  }
  // Nodes that were started together do not all come at once.
  const auto spread = static_cast<std::int64_t>(client_.rng().below(800'000)) - 400'000;
  after(kRenewEach + Duration(spread), &NodeKeeper::renew_lease);
  check_status();
}

void NodeKeeper::create_lease() {
  ask({.verb = client::Verb::kCreate,
       .resource = &leases_,
       .ns = std::string(kLeaseNamespace),
       .name = share_.name,
       .body = lease_body()},
      &NodeKeeper::lease_created);
}

void NodeKeeper::lease_created(Result<std::string> answer) {
  if (!answer) failed("cannot make the lease of this node", answer.error());
  after(answer ? kRenewEach : kRetry, &NodeKeeper::renew_lease);
}

}  // namespace muster::agent
