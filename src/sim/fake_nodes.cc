#include "sim/fake_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "json/parse.h"
#include "json/write.h"

namespace muster::sim {
namespace {

const PodRule kSucceedSoon{};

constexpr std::string_view kBarrier = "muster.dev/barrier";
constexpr std::string_view kBarrierTimeout = "muster.dev/barrier-timeout";
constexpr std::string_view kBarrierContainer = "group-scheduling-init";

std::string node_name(int index) { return fmt::format("node-{}", index); }

std::string conditions_json(std::string_view time, bool ready, std::string_view reason) {
  const auto condition = [&](std::string_view type, bool holds) {
    return fmt::format(R"({{"type":"{}","status":"{}","lastTransitionTime":"{}"{}}})", type,
                       holds ? "True" : "False", time,
                       holds || reason.empty() ? "" : fmt::format(R"(,"reason":"{}")", reason));
  };
  return fmt::format("[{},{},{},{}]", condition("Initialized", true), condition("Ready", ready),
                     condition("ContainersReady", ready), condition("PodScheduled", true));
}

}  // namespace

FakeNodes::FakeNodes(client::Client& client, const api::Registry& registry, int count,
                     const std::vector<PodRule>& rules)
    : client_(client),
      pods_kind_(*registry.find("", "v1", "pods")),
      nodes_kind_(*registry.find("", "v1", "nodes")),
      count_(count),
      rules_(rules),
      pods_(client, pods_kind_),
      config_maps_(client, *registry.find("", "v1", "configmaps")) {
  pods_.on_change([this](const auto& before, const auto& now) { changed(before, now); });
  config_maps_.on_change([this](const auto&, const auto&) { open_barriers(); });
}

void FakeNodes::start() {
  const std::string now = format_time(client_.loop().clock().now());
  for (int i = 0; i < count_; ++i) {
    constexpr std::string_view kRoom = R"({"cpu":"64","memory":"256Gi","pods":"256"})";
    client_.write(
        {.verb = client::Verb::kCreate,
         .resource = &nodes_kind_,
         .name = node_name(i),
         .body = fmt::format(
             R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}","labels":{{)"
             R"("kubernetes.io/hostname":"{0}"}}}},"status":{{"capacity":{1},"allocatable":{1},)"
             R"("conditions":[{{"type":"Ready","status":"True","reason":"KubeletReady",)"
             R"("lastHeartbeatTime":"{2}","lastTransitionTime":"{2}"}}]}}}})",
             node_name(i), kRoom, now)},
        [](const Result<std::string>& made) {
          MUSTER_ASSERT(made.has_value(), "a fake node can be made");
        });
  }
  pods_.start();
  config_maps_.start();
}

void FakeNodes::lose(const std::string& node) {
  client_.write({.verb = client::Verb::kDelete, .resource = &nodes_kind_, .name = node},
                [](const Result<std::string>&) {});
  std::erase_if(lives_, [&](const auto& life) { return life.second.node == node; });
}

const PodRule& FakeNodes::rule_for(const api::Meta& meta) const {
  for (const PodRule& rule : rules_) {
    const bool matches = std::ranges::all_of(
        rule.match, [&](const auto& label) { return meta.label(label.first) == label.second; });
    if (matches) return rule;
  }
  return kSucceedSoon;
}

void FakeNodes::changed(const client::ObjectPtr& before, const client::ObjectPtr& now) {
  if (!now) {
    lives_.erase(before->meta().uid);
    return;
  }
  const api::Meta& meta = now->meta();
  json::Arena arena;
  const auto pod = json::parse(arena, now->bytes());
  const std::string_view node = pod->get({"spec", "nodeName"}).as_string();
  const std::string_view phase = pod->get({"status", "phase"}).as_string();
  if (node.empty()) return;
  auto life = lives_.find(meta.uid);
  // Pods of a lost node are not adopted again.
  if (life == lives_.end() && phase == "Pending" && !meta.deletion_time) {
    life =
        lives_
            .emplace(meta.uid, Life{.node = std::string(node),
                                    .ns = meta.ns,
                                    .name = meta.name,
                                    .barrier = std::string(meta.annotation(kBarrier).value_or(""))})
            .first;
    if (rule_for(meta).outcome != Outcome::kHang) {
      after(kStart, meta.uid, [this, ns = meta.ns, name = meta.name, uid = meta.uid] {
        start_containers(ns, name, uid);
      });
    }
  }
  if (meta.deletion_time && life != lives_.end() && !std::exchange(life->second.stopping, true)) {
    after(kStop, meta.uid,
          [this, ns = meta.ns, name = meta.name, uid = meta.uid] { remove(ns, name, uid); });
  }
}

// If the pod still lives here by then.
void FakeNodes::after(Duration delay, const std::string& uid, Task task) {
  client_.loop().after(delay, [this, alive = alive_, uid, task = std::move(task)]() mutable {
    if (*alive && lives_.contains(uid)) task();
  });
}

std::string FakeNodes::containers_json(const std::string& ns, const std::string& name,
                                       std::string_view state, bool ready) const {
  json::Arena arena;
  const auto pod = json::parse(arena, pods_.find(ns, name)->bytes());
  std::string out;
  for (const json::Value container : pod->get({"spec", "containers"}).items()) {
    out += fmt::format(
        R"({}{{"name":"{}","image":{},"imageID":"","ready":{},"started":{},"restartCount":0,"state":{}}})",
        out.empty() ? "" : ",", container.get("name").as_string(),
        json::write(container.get("image")), ready, ready, state);
  }
  return "[" + out + "]";
}

std::string FakeNodes::barrier_json(const std::string& uid, std::string_view state) const {
  return fmt::format(
      R"([{{"name":"{}","image":"bash","imageID":"","ready":false,"restartCount":{},"state":{}}}])",
      kBarrierContainer, lives_.at(uid).restarts, state);
}

void FakeNodes::start_containers(const std::string& ns, const std::string& name,
                                 const std::string& uid) {
  lives_.at(uid).barrier.empty() ? begin(ns, name, uid) : wait_at_barrier(ns, name, uid);
}

bool FakeNodes::is_open(const std::string& ns, const std::string& barrier) const {
  const auto slash = barrier.find('/');
  const auto config_map = config_maps_.find(ns, barrier.substr(0, slash));
  if (!config_map) return false;
  json::Arena arena;
  return json::parse(arena, config_map->bytes())
      ->get("data")
      .has(std::string_view(barrier).substr(slash + 1));
}

void FakeNodes::wait_at_barrier(const std::string& ns, const std::string& name,
                                const std::string& uid) {
  const auto pod = pods_.find(ns, name);
  Life& life = lives_.at(uid);
  if (!pod || life.stopping) return;
  if (is_open(ns, life.barrier)) return begin(ns, name, uid);
  life.waits = true;
  const std::string now = format_time(client_.loop().clock().now());
  patch_status(
      ns, name, uid,
      fmt::format(R"("phase":"Pending","startTime":"{}","initContainerStatuses":{})", now,
                  barrier_json(uid, fmt::format(R"({{"running":{{"startedAt":"{}"}}}})", now))));
  const std::string_view timeout = pod->meta().annotation(kBarrierTimeout).value_or("");
  int seconds = 0;
  std::from_chars(timeout.data(), timeout.data() + timeout.size(), seconds);
  if (seconds == 0) return;
  after(std::chrono::seconds(seconds), uid, [this, ns, name, uid, run = life.restarts] {
    const Life& then = lives_.at(uid);
    if (then.waits && then.restarts == run && !then.stopping) give_up(ns, name, uid);
  });
}

void FakeNodes::open_barriers() {
  for (auto& [uid, life] : lives_) {
    if (!life.waits || life.stopping || !is_open(life.ns, life.barrier)) continue;
    life.waits = false;
    begin(life.ns, life.name, uid);
  }
}

// By its restart policy the container runs again, after a while, or the pod has failed.
void FakeNodes::give_up(const std::string& ns, const std::string& name, const std::string& uid) {
  const auto pod = pods_.find(ns, name);
  if (!pod) return;
  json::Arena arena;
  const bool restarts =
      json::parse(arena, pod->bytes())->get({"spec", "restartPolicy"}).as_string() == "OnFailure";
  Life& life = lives_.at(uid);
  life.waits = false;
  const std::string now = format_time(client_.loop().clock().now());
  const std::string end = fmt::format(
      R"({{"running":null,"terminated":{{"exitCode":1,"reason":"Error","startedAt":"{0}","finishedAt":"{0}"}}}})",
      now);
  patch_status(ns, name, uid,
               fmt::format(R"("phase":"{}","conditions":{},"initContainerStatuses":{})",
                           restarts ? "Pending" : "Failed",
                           conditions_json(now, false, "PodFailed"), barrier_json(uid, end)));
  if (!restarts) return;
  after(kBackoff, uid, [this, ns, name, uid] {
    ++lives_.at(uid).restarts;
    wait_at_barrier(ns, name, uid);
  });
}

void FakeNodes::begin(const std::string& ns, const std::string& name, const std::string& uid) {
  const auto pod = pods_.find(ns, name);
  if (!pod || lives_.at(uid).stopping) return;
  const std::string now = format_time(client_.loop().clock().now());
  ++addresses_;
  const std::string passed_barrier =
      lives_.at(uid).barrier.empty()
          ? ""
          : fmt::format(R"("initContainerStatuses":{},)",
                        barrier_json(uid, R"({"running":null,"terminated":{"exitCode":0}})"));
  patch_status(
      ns, name, uid,
      fmt::format(
          R"("phase":"Running","startTime":"{}","podIP":"10.0.{}.{}","conditions":{},{}"containerStatuses":{})",
          now, addresses_ / 250, addresses_ % 250 + 1, conditions_json(now, true, ""),
          passed_barrier,
          containers_json(ns, name, fmt::format(R"({{"running":{{"startedAt":"{}"}}}})", now),
                          true)));
  const PodRule& rule = rule_for(pod->meta());
  if (rule.outcome != Outcome::kSucceed && rule.outcome != Outcome::kFail) return;
  after(rule.after, uid, [this, ns, name, uid, &rule] { end(ns, name, uid, rule); });
}

void FakeNodes::end(const std::string& ns, const std::string& name, const std::string& uid,
                    const PodRule& rule) {
  if (!pods_.find(ns, name) || lives_.at(uid).stopping) return;
  const std::string now = format_time(client_.loop().clock().now());
  const bool failed = rule.outcome == Outcome::kFail;
  const std::string state = fmt::format(
      R"({{"running":null,"terminated":{{"exitCode":{},"reason":"{}","startedAt":"{}","finishedAt":"{}"}}}})",
      failed ? rule.exit_code : 0, failed ? "Error" : "Completed", now, now);
  patch_status(ns, name, uid,
               fmt::format(R"("phase":"{}","conditions":{},"containerStatuses":{})",
                           failed ? "Failed" : "Succeeded",
                           conditions_json(now, false, failed ? "PodFailed" : "PodCompleted"),
                           containers_json(ns, name, state, false)));
}

void FakeNodes::remove(const std::string& ns, const std::string& name, const std::string& uid) {
  client_.write(
      {.verb = client::Verb::kDelete,
       .resource = &pods_kind_,
       .ns = ns,
       .name = name,
       .body = fmt::format(R"({{"gracePeriodSeconds":0,"preconditions":{{"uid":"{}"}}}})", uid)},
      [](const Result<std::string>&) {});
}

void FakeNodes::patch_status(const std::string& ns, const std::string& name, const std::string& uid,
                             std::string status) {
  client_.write(
      {.verb = client::Verb::kPatch,
       .resource = &pods_kind_,
       .ns = ns,
       .name = name,
       .subresource = "status",
       .body = fmt::format(R"({{"metadata":{{"uid":"{}"}},"status":{{{}}}}})", uid, status)},
      [](const Result<std::string>&) {});
}

}  // namespace muster::sim
