#include "client/leader_election.h"

#include <fmt/format.h>

#include "base/log.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::client {

LeaderElection::LeaderElection(Client& client, const api::Registry& registry, LeaderOptions options, Task started, Task stopped)
    : client_(client),
      leases_(*registry.find("coordination.k8s.io", "v1", "leases")),
      options_(std::move(options)),
      started_(std::move(started)),
      stopped_(std::move(stopped)) {}

void LeaderElection::attempt() {
  client_.get(leases_, options_.ns, options_.name, [this, alive = alive_](Result<std::string> lease) {
    if (*alive && !released_) took_lease(std::move(lease));
  });
}

void LeaderElection::took_lease(Result<std::string> lease) {
  if (!lease) {
    if (lease.error().code == Code::kNotFound) return write(Verb::kCreate, "", 0, "");
    return wrote(false);
  }
  json::Arena arena;
  const auto object = json::parse(arena, *lease);
  if (!object) return wrote(false);
  const json::Value spec = object->get("spec");
  const std::string version(object->get({"metadata", "resourceVersion"}).as_string());
  const std::string_view holder = spec.get("holderIdentity").as_string();
  const int transitions = static_cast<int>(spec.get("leaseTransitions").as_int());
  if (holder == options_.identity) {
    return write(Verb::kUpdate, version, transitions, std::string(spec.get("acquireTime").as_string()));
  }
  if (version != seen_version_) {
    seen_version_ = version;
    seen_at_ = now();
  }
  const auto theirs = std::chrono::seconds(spec.get("leaseDurationSeconds").as_int());
  if (!holder.empty() && now() - seen_at_ < theirs) return wrote(false);
  write(Verb::kUpdate, version, transitions + 1, "");
}

void LeaderElection::write(Verb verb, const std::string& resource_version, int transitions, const std::string& acquired) {
  json::Arena arena;
  json::Value lease = json::Value::object(arena);
  lease.set("apiVersion", "coordination.k8s.io/v1");
  lease.set("kind", "Lease");
  json::Value metadata = lease.object_at("metadata");
  metadata.set("name", options_.name);
  metadata.set("namespace", options_.ns);
  if (!resource_version.empty()) metadata.set("resourceVersion", resource_version);
  json::Value spec = lease.object_at("spec");
  const std::string time = format_micro_time(now());
  spec.set("holderIdentity", options_.identity);
  spec.set("leaseDurationSeconds", json::Value::of(std::chrono::duration_cast<std::chrono::seconds>(options_.lease).count()));
  spec.set("acquireTime", acquired.empty() ? time : acquired);
  spec.set("renewTime", time);
  spec.set("leaseTransitions", json::Value::of(transitions));
  client_.write({.verb = verb, .resource = &leases_, .ns = options_.ns, .name = options_.name, .body = json::write(lease)},
                [this, alive = alive_, asked = now()](Result<std::string> answer) {
                  if (!*alive || released_) return;
                  if (answer) renewed_ = asked;  // the lease runs from when we asked, not from when we heard
                  wrote(answer.has_value());
                });
}

void LeaderElection::wrote(bool held) {
  const bool lead = held || (leading_ && now() - renewed_ < options_.renew);
  if (lead != leading_) {
    leading_ = lead;
    log::info(lead ? "leading" : "no longer leading", {{"lease", options_.ns + "/" + options_.name}, {"identity", options_.identity}});
    lead ? started_() : stopped_();
  }
  again();
}

void LeaderElection::again() {
  client_.loop().after(options_.retry, [this, alive = alive_] {
    if (*alive && !released_) attempt();
  });
}

void LeaderElection::release(Task done) {
  released_ = true;
  if (!std::exchange(leading_, false)) return done();
  client_.write({.verb = Verb::kPatch, .resource = &leases_, .ns = options_.ns, .name = options_.name,
                 .body = fmt::format(R"([{{"op":"test","path":"/spec/holderIdentity","value":"{0}"}},{{"op":"replace","path":"/spec/holderIdentity","value":""}}])",
                                     options_.identity),
                 .patch_type = PatchType::kJson},
                [done = std::move(done)](Result<std::string>) mutable { done(); });
}

}  // namespace muster::client
