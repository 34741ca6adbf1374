#include "client/leader_election.h"

#include <fmt/format.h>

#include "base/log.h"
#include "json/parse.h"

namespace muster::client {

LeaderElection::LeaderElection(Client& client, const api::Registry& registry, LeaderOptions options,
                               Task started, Task stopped)
    : client_(client),
      leases_(*registry.find("coordination.k8s.io", "v1", "leases")),
      options_(std::move(options)),
      started_(std::move(started)),
      stopped_(std::move(stopped)) {}

void LeaderElection::tick() {
  if (leading_ && now() - renewed_ >= options_.renew) lead(false);
  attempt();
  client_.loop().after(options_.retry, [this, alive = alive_] {
    if (*alive && !released_) tick();
  });
}

void LeaderElection::attempt() {
  client_.get(leases_, options_.ns, options_.name,
              [this, alive = alive_, attempt = ++attempt_](Result<std::string> lease) {
                if (*alive && !released_ && attempt == attempt_)
                  took_lease(attempt, std::move(lease));
              });
}

void LeaderElection::took_lease(int attempt, Result<std::string> lease) {
  if (!lease) {
    if (lease.error().code == Code::kNotFound) return write(attempt, Verb::kCreate, "", 0, "");
    return complain(lease.error());
  }
  json::Arena arena;
  const auto object = json::parse(arena, *lease);
  if (!object) return;
  const json::Value spec = object->get("spec");
  const std::string version(object->get({"metadata", "resourceVersion"}).as_string());
  const std::string_view holder = spec.get("holderIdentity").as_string();
  const int transitions = static_cast<int>(spec.get("leaseTransitions").as_int());
  if (holder == options_.identity) {
    return write(attempt, Verb::kUpdate, version, transitions,
                 std::string(spec.get("acquireTime").as_string()));
  }
  if (version != seen_version_) {
    seen_version_ = version;
    seen_at_ = now();
  }
  const auto theirs = std::chrono::seconds(spec.get("leaseDurationSeconds").as_int());
  if (!holder.empty() && now() - seen_at_ < theirs) return;
  write(attempt, Verb::kUpdate, version, transitions + 1, "");
}

void LeaderElection::write(int attempt, Verb verb, const std::string& resource_version,
                           int transitions, const std::string& acquired) {
  json::Arena arena;
  json::Value lease = json::Value::object(arena);
  lease.set("apiVersion", "coordination.k8s.io/v1");
  lease.set("kind", "Lease");
  json::Value metadata = lease.object_at("metadata");
  metadata.set("name", options_.name);
  metadata.set("namespace", options_.ns);
  if (!resource_version.empty()) metadata.set("resourceVersion", resource_version);
  json::Value spec = lease.object_at("spec");
  const std::string time = format_micro_time(client_.loop().clock().now());
  spec.set("holderIdentity", options_.identity);
  spec.set(
      "leaseDurationSeconds",
      json::Value::of(std::chrono::duration_cast<std::chrono::seconds>(options_.lease).count()));
  spec.set("acquireTime", acquired.empty() ? time : acquired);
  spec.set("renewTime", time);
  spec.set("leaseTransitions", json::Value::of(transitions));
  client_.write(
      {.verb = verb, .resource = &leases_, .ns = options_.ns, .name = options_.name, .body = lease},
      [this, alive = alive_, attempt, asked = now()](Result<std::string> answer) {
        if (!*alive || released_ || attempt != attempt_) return;
        if (!answer) return complain(answer.error());
        complaint_.clear();
        renewed_ = asked;  // the lease runs from when we asked, not from when we heard
        lead(true);
      });
}

// Somebody else was faster: that is what leases are for. Anything else should be looked at.
void LeaderElection::complain(const Error& error) {
  const bool lost = error.code == Code::kConflict || error.code == Code::kAlreadyExists;
  if (lost || error.message == complaint_) return;
  complaint_ = error.message;
  log::warn("cannot take the lease",
            {{"lease", options_.ns + "/" + options_.name}, {"error", error.message}});
}

void LeaderElection::lead(bool leading) {
  if (leading == std::exchange(leading_, leading)) return;
  log::info(leading ? "leading" : "no longer leading",
            {{"lease", options_.ns + "/" + options_.name}, {"identity", options_.identity}});
  leading ? started_() : stopped_();
}

void LeaderElection::release(Task done) {
  released_ = true;
  if (!std::exchange(leading_, false)) return done();
  client_.write(
      {.verb = Verb::kPatch,
       .resource = &leases_,
       .ns = options_.ns,
       .name = options_.name,
       .body = fmt::format(
           R"([{{"op":"test","path":"/spec/holderIdentity","value":"{0}"}},{{"op":"replace","path":"/spec/holderIdentity","value":""}}])",
           options_.identity),
       .patch_type = PatchType::kJson},
      [done = std::move(done)](Result<std::string>) mutable { done(); });
}

}  // namespace muster::client
