// For tests only: JobSets and their Jobs in few words, and a small cluster that takes plans as an
// API server does, with the real admission, and plays the Job controller by hand.
//
//   Cluster cluster;
//   cluster.create(jobset({job("driver"), job("workers", {.replicas = 2})}));
//   cluster.settle();
//   cluster.succeed("js-driver-0");
//   EXPECT_THAT(cluster.pass(), ElementsAre("patch jobsets.jobset.x-k8s.io/status ns/js"));
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/jobset/jobset_testing.h"
#include "controllers/jobset/barrier_gate.h"
#include "controllers/jobset/names.h"
#include "controllers/jobset/plan.h"
#include "json/testing.h"

namespace muster::controllers::jobset {

using admission::job;
using admission::jobset;

inline api::JobSet read(std::string_view text) { return api::read_job_set(json::Tree(text)); }

// What a test wants to know of one Job; a Job of the entry "w" that runs, if nothing is said.
struct ChildText {
  std::string name = "js-w-0";
  std::string replicated_job = "w";
  int index = 0;
  int attempt = 0;
};
inline Child child(const ChildText& text = {}) {
  Child out;
  out.ns = "ns";
  out.name = text.name;
  out.uid = "uid-" + text.name;
  out.replicated_job = text.replicated_job;
  out.job_index = {.present = true, .value = text.index};
  out.restart_attempt = {.present = true, .value = text.attempt};
  return out;
}
inline Child failed_child(const ChildText& text, std::string_view time,
                          std::string_view reason = "BackoffLimitExceeded",
                          std::string_view message = "") {
  Child out = child(text);
  out.end = Child::End::kFailed;
  out.failure_time = parse_time(time);
  out.failure_reason = reason;
  out.failure_message = message;
  return out;
}
inline Child complete_child(const ChildText& text) {
  Child out = child(text);
  out.end = Child::End::kComplete;
  return out;
}
inline Children pointers(const std::vector<Child>& children) {
  Children out;
  for (const Child& each : children) out.push_back(&each);
  return out;
}

// "Warning FailedJobs: jobset failed …"
inline std::string text_of(const Event& event) {
  return fmt::format("{} {}: {}", event.warning ? "Warning" : "Normal", event.reason,
                     event.message);
}

class Cluster {
 public:
  using Outcome = admission::Outcome;

  admission::World world;         // its gates and its clock count
  bool deletions_linger = false;  // deleted Jobs stay, terminating, until they are gone()
  PortIsFree port_is_free;        // empty: pods have ports of their own
  int writes_until_crash = -1;    // the controller dies after so many more writes; -1: never

  // The set is "js" unless the text says otherwise.
  void create(std::string_view set) {
    const Outcome made = world.create(kApiVersion, kKind, set, {.uid = "uid-of-the-set"});
    ASSERT_EQ(made.message(), "");
    name_ = made.at({"metadata", "name"}).as_string();
    put(sets_, made);
  }
  void edit(std::string_view merge_patch) {
    const Outcome edited = world.patch(kApiVersion, kKind, sets_.at(name_), merge_patch);
    ASSERT_EQ(edited.message(), "");
    put(sets_, edited);
  }
  void restart_controller_with_gates(std::string_view gates) {
    ASSERT_TRUE(world.gates.set(gates).has_value());
  }
  void wait(Duration span) { world.now += span; }

  // One pass of the controller. The writes that were made or refused, in their order. Whatever
  // `meanwhile` does, the controller does not see it before it acts.
  std::vector<std::string> pass(const std::function<void()>& meanwhile = [] {}) {
    last = plan_now();
    meanwhile();
    return carry_out_last();
  }
  std::vector<std::string> carry_out_last() {
    std::vector<std::string> written;
    for (const Step& step : last.steps) {
      std::vector<std::string> refusals;
      for (const Write& write : step.writes) {
        if (writes_until_crash == 0) return crash(written);
        if (writes_until_crash > 0) --writes_until_crash;
        carry_out(write, written, refusals);
      }
      if (refusals.empty()) continue;
      if (step.when_refused) tell(*step.when_refused, fmt::format("{}", fmt::join(refusals, "\n")));
      return written;
    }
    for (const Event& event : last.events) tell(event, "");
    return written;
  }
  // One pass of the part that opens barriers.
  std::vector<std::string> pass_gate() {
    const Seen seen = look();
    last = plan_gate(kinds_, {.set = seen.set,
                              .children = pointers(seen.children),
                              .signal = seen.signal_of_its_own(),
                              .starts = &starts_,
                              .gates = Gates::of(world.gates)});
    return carry_out_last();
  }
  // Passes until there is nothing to do.
  void settle() {
    for (int passes = 0; passes < 20; ++passes) {
      if (pass().empty()) return;
    }
    FAIL() << "the controller does not come to rest: " << last.text();
  }

  // What the Job controller would do.
  void run(std::string_view name) {
    set_status(name, [&](json::Value status) {
      const json::Value pods = job(name).get({"spec", "parallelism"});
      status.set("active", pods);
      status.set("ready", pods);
      status.set("startTime", format_time(world.now));
    });
  }
  void begin(std::string_view name) {  // pods are there, none is ready
    set_status(name, [&](json::Value status) {
      status.set("active", job(name).get({"spec", "parallelism"}));
      status.set("startTime", format_time(world.now));
    });
  }
  void succeed(std::string_view name) {
    set_status(name,
               [&](json::Value status) { end(status, "Complete", "CompletionsReached", ""); });
  }
  void succeed_indexes(std::string_view name, std::string_view indexes) {
    set_status(name, [&](json::Value status) { status.set("completedIndexes", indexes); });
  }
  void fail(std::string_view name, std::string_view reason = "BackoffLimitExceeded",
            std::string_view message = "Job has reached the specified backoff limit") {
    set_status(name, [&](json::Value status) { end(status, "Failed", reason, message); });
  }
  void hold_back_pods(std::string_view name, bool holds) {  // more than may wait
    set_status(name, [&](json::Value status) {
      const json::Value condition = json::Value::object(status.arena());
      condition.set("type", "muster.dev/Waiting");
      condition.set("status", holds ? "True" : "False");
      condition.set("message", "it has more pods");
      status.erase("conditions");
      status.array_at("conditions").push_back(condition);
    });
  }
  void stop(std::string_view name) {  // the pods of a suspended Job are gone
    set_status(name, [&](json::Value status) {
      for (const char* key : {"active", "ready", "startTime"}) status.erase(key);
    });
  }
  // What nodes would do: so many of the Job's pods wait at the barrier of an attempt.
  void at_barrier(std::string_view job, int pods, int attempt = 0) {
    starts_.pods[{attempt, std::string(job)}] = pods;
  }
  // So many of these have not left it yet.
  void held(std::string_view job, int pods, int attempt = 0) {
    starts_.held[{attempt, std::string(job)}] = pods;
  }
  void gone(std::string_view name) { ASSERT_EQ(jobs_.erase(std::string(name)), 1u); }

  // What there is.
  std::vector<std::string> job_names() const {
    std::vector<std::string> out;
    for (const auto& [name, outcome] : jobs_) out.push_back(name);
    return out;
  }
  bool has_set() const { return sets_.contains(name_); }
  bool has_job(std::string_view name) const { return jobs_.contains(std::string(name)); }
  json::Value set() const { return sets_.at(name_).object; }
  json::Value job(std::string_view name) const { return jobs_.at(std::string(name)).object; }
  json::Value service(std::string_view name) const {
    const auto found = services_.find(std::string(name));
    return found == services_.end() ? json::Value() : found->second.object;
  }
  json::Value claim(std::string_view name) const {
    const auto found = claims_.find(std::string(name));
    return found == claims_.end() ? json::Value() : found->second.object;
  }
  json::Value config_map(std::string_view name) const {
    const auto found = config_maps_.find(std::string(name));
    return found == config_maps_.end() ? json::Value() : found->second.object;
  }
  void remove_config_map(std::string_view name) { config_maps_.erase(std::string(name)); }
  void add_config_map(std::string_view text) {  // of somebody else
    put(config_maps_, world.create("v1", "ConfigMap", text));
  }
  void remove_service(std::string_view name) { services_.erase(std::string(name)); }
  void remove_job(std::string_view name) { jobs_.erase(std::string(name)); }
  // A Job that somebody else made.
  void add_job(std::string_view text) {
    const Outcome made = world.create("batch/v1", "Job", text);
    ASSERT_EQ(made.message(), "");
    put(jobs_, made);
  }
  json::Value status() const { return set().get("status"); }
  // "True AllJobsCompleted"; empty if there is none.
  std::string condition(std::string_view type) const {
    for (const json::Value each : status().get("conditions").items()) {
      if (each.get("type").as_string() != type) continue;
      return fmt::format("{} {}", each.get("status").as_string(), each.get("reason").as_string());
    }
    return "";
  }
  std::string message(std::string_view type) const {
    for (const json::Value each : status().get("conditions").items()) {
      if (each.get("type").as_string() == type) return std::string(each.get("message").as_string());
    }
    return "";
  }
  // "ready 1 succeeded 0 failed 0 active 2 suspended 0", zeros left out.
  std::string counts(std::string_view replicated_job) const {
    for (const json::Value each : status().get("replicatedJobsStatus").items()) {
      if (each.get("name").as_string() != replicated_job) continue;
      std::string out;
      for (const char* key : {"ready", "succeeded", "failed", "active", "suspended"}) {
        const std::int64_t count = each.get(key).as_int();
        if (count != 0) out += fmt::format("{}{} {}", out.empty() ? "" : " ", key, count);
      }
      return out;
    }
    return "none";
  }
  bool is_suspended(std::string_view name) const {
    return job(name).get({"spec", "suspend"}).as_bool();
  }

  JobLimits limits;
  std::vector<std::string> events;  // all that were told, the oldest first
  Plan last;

 private:
  using Objects = std::map<std::string, Outcome>;

  // What the controller sees.
  struct Seen {
    api::JobSet set;
    std::vector<Child> children;
    std::optional<Signal> signal;
    const Signal* signal_of_its_own() const {
      return signal && signal->owner_uid == set.meta.uid ? &*signal : nullptr;
    }
  };
  Seen look() const {
    Seen seen{.set = api::read_job_set(set()), .children = {}, .signal = {}};
    for (const auto& [name, outcome] : jobs_) {
      const api::Meta meta = api::read_meta(outcome.object);
      const auto* owner = meta.controller();
      if (owner != nullptr && owner->uid == seen.set.meta.uid)
        seen.children.push_back(read_child(outcome.object));
    }
    const json::Value signal = config_map(barrier_config_map(seen.set));
    if (!signal.is_null()) seen.signal = read_signal(signal);
    return seen;
  }

  Plan plan_now() {
    if (!has_set()) return {};
    const Seen seen = look();
    std::set<std::string, std::less<>> claims;
    for (const auto& [name, outcome] : claims_) claims.insert(name);
    const std::vector<const Child*> children = pointers(seen.children);
    View view{.set = seen.set,
              .children = children,
              .has_service = services_.contains(std::string(subdomain(seen.set))),
              .claims = claims,
              .gates = Gates::of(world.gates),
              .signal = seen.signal_of_its_own(),
              .starts = &starts_,
              .creation = creation_limit(limits, children, jobs_.size()),
              .shares_ports = port_is_free != nullptr};
    auto outcome = plan(kinds_, view, world.now);
    if (const auto request = outcome.port_request) {
      EXPECT_FALSE(outcome.plan.has_writes()) << "before there is a port";
      view.given_port = {*request,
                         choose_master_port(request->set_uid, request->attempt, port_is_free)};
      outcome = plan(kinds_, view, world.now);
    }
    return std::move(outcome.plan);
  }

  // What it knew is lost; what it wrote is there.
  std::vector<std::string> crash(std::vector<std::string>& written) {
    writes_until_crash = -1;
    written.push_back("crash");
    return std::move(written);
  }

  void carry_out(const Write& write, std::vector<std::string>& written,
                 std::vector<std::string>& refusals) {
    written.push_back(write.operation.summary());
    const std::string refused = apply(write.operation);
    if (refused.empty()) {
      if (write.when_done) tell(*write.when_done, write.operation.name);
    } else if (!(write.may_exist && refused == "exists")) {
      std::string text = write.refusal;
      refusals.push_back(text.replace(text.find("{}"), 2, refused));
    }
  }

  // Empty, or why not.
  std::string apply(const client::Operation& operation) {
    Objects& objects = of(*operation.resource);
    const auto found = objects.find(operation.name);
    if (operation.verb == client::Verb::kCreate) {
      if (found != objects.end()) return "exists";
      const std::string uid = fmt::format("uid-{}", ++uids_);
      return keep(objects,
                  world.create(operation.resource->gvk.api_version(), operation.resource->gvk.kind,
                               operation.body.text(), {.ns = operation.ns, .uid = uid}));
    }
    if (found == objects.end()) return "not found";
    const json::Tree body(operation.body.text());
    const json::Value metadata = found->second.object.get("metadata");
    if (operation.verb == client::Verb::kDelete) {
      EXPECT_EQ(body.root.get({"preconditions", "uid"}).as_string(),
                metadata.get("uid").as_string());
      EXPECT_EQ(body.root.get("propagationPolicy").as_string(), "Foreground");
      const json::Value seen = body.root.get({"preconditions", "resourceVersion"});
      if (!seen.is_null() && !json::equal(seen, metadata.get("resourceVersion"))) return "conflict";
      if (deletions_linger && &objects == &jobs_) {
        metadata.set("deletionTimestamp", format_time(world.now));
      } else {
        objects.erase(found);
      }
      return "";
    }
    for (const char* key : {"uid", "resourceVersion"}) {
      const json::Value wanted = body.root.get({"metadata", key});
      if (!wanted.is_null() && !json::equal(wanted, metadata.get(key))) return "conflict";
    }
    return keep(objects,
                world.patch(operation.resource->gvk.api_version(), operation.resource->gvk.kind,
                            found->second, operation.body.text(),
                            {.subresource = operation.subresource, .ns = operation.ns}));
  }

  std::string keep(Objects& objects, const Outcome& made) {
    if (!made.error) put(objects, made);
    return made.message();
  }
  void put(Objects& objects, const Outcome& made) {
    const json::Value metadata = made.object.get("metadata");
    metadata.set("resourceVersion", std::to_string(++revision_));
    objects[std::string(metadata.get("name").as_string())] = made;
  }
  Objects& of(const api::Resource& resource) {
    if (&resource == kinds_.job_set) return sets_;
    if (&resource == kinds_.job) return jobs_;
    if (&resource == kinds_.config_map) return config_maps_;
    return &resource == kinds_.service ? services_ : claims_;
  }

  template <class Change>
  void set_status(std::string_view name, Change change) {
    const json::Value object = job(name);
    change(object.object_at("status"));
    object.get("metadata").set("resourceVersion", std::to_string(++revision_));
  }
  void end(json::Value status, std::string_view type, std::string_view reason,
           std::string_view message) {
    for (const char* key : {"active", "ready"}) status.erase(key);
    const json::Value condition = json::Value::object(status.arena());
    condition.set("type", type);
    condition.set("status", "True");
    condition.set("reason", reason);
    condition.set("message", message);
    condition.set("lastTransitionTime", format_time(world.now));
    status.array_at("conditions").push_back(condition);
  }
  void tell(Event event, std::string_view text) {
    if (const auto at = event.message.find("{}"); at != std::string::npos)
      event.message.replace(at, 2, text);
    events.push_back(text_of(event));
  }

  Kinds kinds_{.job_set = &admission::World::resource_of(kApiVersion, kKind),
               .job = &admission::World::resource_of("batch/v1", "Job"),
               .service = &admission::World::resource_of("v1", "Service"),
               .claim = &admission::World::resource_of("v1", "PersistentVolumeClaim"),
               .config_map = &admission::World::resource_of("v1", "ConfigMap")};
  std::string name_ = "js";
  Objects sets_, jobs_, services_, claims_, config_maps_;
  Starts starts_;
  int revision_ = 0;
  int uids_ = 0;
};

}  // namespace muster::controllers::jobset
