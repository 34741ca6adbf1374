#include "sim/fake_nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/views/job_set_names.h"
#include "base/number.h"
#include "controllers/jobset/barrier.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::sim {
namespace {

namespace jobset = controllers::jobset;

std::string conditions_json(std::string_view time, bool ready, std::string_view reason) {
  const auto condition = [&](std::string_view type, bool holds) {
    return fmt::format(R"({{"type":"{}","status":"{}","lastTransitionTime":"{}"{}}})", type,
                       holds ? "True" : "False", time,
                       holds || reason.empty() ? "" : fmt::format(R"(,"reason":"{}")", reason));
  };
  return fmt::format("[{},{},{},{}]", condition("Initialized", true), condition("Ready", ready),
                     condition("ContainersReady", ready), condition("PodScheduled", true));
}

std::string barrier_json(int restarts, std::string_view state) {
  return fmt::format(
      R"([{{"name":"{}","image":"bash","imageID":"","ready":false,"restartCount":{},"state":{}}}])",
      api::kBarrierContainer, restarts, state);
}

std::string running_json(std::string_view time) {
  return fmt::format(R"({{"running":{{"startedAt":"{}"}}}})", time);
}

std::string ended_json(std::string_view time, int exit_code, std::string_view reason) {
  return fmt::format(
      R"({{"running":null,"terminated":{{"exitCode":{},"reason":"{}","startedAt":"{}","finishedAt":"{}"}}}})",
      exit_code, reason, time, time);
}

}  // namespace

FakeNodes::FakeNodes(client::Client& client, const api::Registry& registry,
                     const std::vector<PodRule>& rules)
    : client_(client),
      pods_kind_(*registry.find("", "v1", "pods")),
      nodes_kind_(*registry.find("", "v1", "nodes")),
      rules_(rules),
      pods_(client, pods_kind_),
      config_maps_(client, *registry.find("", "v1", "configmaps")) {
  pods_.on_change([this](const auto& before, const auto& now) { changed(before, now); });
  config_maps_.on_change([this](const auto&, const auto&) { open_barriers(); });
}

void FakeNodes::start() {
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
  return succeed_soon_;
}

void FakeNodes::changed(const client::ObjectPtr& before, const client::ObjectPtr& now) {
  if (!now) {
    lives_.erase(before->meta().uid);
    return;
  }
  const api::Meta& meta = now->meta();
  const json::Value pod = pods_.content();
  const std::string_view node = pod.get({"spec", "nodeName"}).as_string();
  const std::string_view phase = pod.get({"status", "phase"}).as_string();
  if (node.empty()) return;
  auto at = lives_.find(meta.uid);
  // Pods of a lost node are not adopted again.
  if (at == lives_.end() && phase == "Pending" && !meta.deletion_time) {
    Life life{.uid = meta.uid,
              .ns = meta.ns,
              .name = meta.name,
              .node = std::string(node),
              .barrier = std::string(meta.annotation(api::annotation::kBarrier).value_or(""))};
    at = lives_.emplace(meta.uid, std::move(life)).first;
    if (rule_for(meta).outcome != Outcome::kHang)
      after(kStart, at->second, [this](Life& started) { start_containers(started); });
  }
  if (meta.deletion_time && at != lives_.end() && !std::exchange(at->second.stopping, true))
    after(kStop, at->second, [this](Life& stopped) { remove(stopped); });
}

void FakeNodes::after(Duration delay, const Life& life, std::move_only_function<void(Life&)> act) {
  client_.loop().after(delay,
                       [this, alive = alive_, uid = life.uid, act = std::move(act)]() mutable {
                         if (!*alive) return;
                         if (const auto at = lives_.find(uid); at != lives_.end()) act(at->second);
                       });
}

std::string FakeNodes::containers_json(const Life& life, std::string_view state, bool ready) const {
  json::Arena arena;
  const auto pod = json::parse(arena, pod_of(life)->bytes());
  std::string out;
  for (const json::Value container : pod->get({"spec", "containers"}).items()) {
    out += fmt::format(
        R"({}{{"name":"{}","image":{},"imageID":"","ready":{},"started":{},"restartCount":0,"state":{}}})",
        out.empty() ? "" : ",", container.get("name").as_string(),
        json::write(container.get("image")), ready, ready, state);
  }
  return "[" + out + "]";
}

void FakeNodes::start_containers(Life& life) {
  life.barrier.empty() ? begin(life) : wait_at_barrier(life);
}

bool FakeNodes::is_open(const Life& life) const {
  const std::string_view barrier = life.barrier;
  const auto slash = barrier.find('/');
  const auto config_map = config_maps_.find(life.ns, barrier.substr(0, slash));
  if (!config_map) return false;
  json::Arena arena;
  return json::parse(arena, config_map->bytes())->get("data").has(barrier.substr(slash + 1));
}

void FakeNodes::wait_at_barrier(Life& life) {
  const auto pod = pod_of(life);
  if (!pod || life.stopping) return;
  if (is_open(life)) return begin(life);
  life.waits = true;
  patch_status(life, fmt::format(R"("phase":"Pending","startTime":"{}","initContainerStatuses":{})",
                                 now(), barrier_json(life.restarts, running_json(now()))));
  const std::string_view timeout =
      pod->meta().annotation(api::annotation::kBarrierTimeout).value_or("");
  const int seconds = parse_number<int>(timeout).value_or(0);
  if (seconds == 0) return;
  after(std::chrono::seconds(seconds), life, [this, run = life.restarts](Life& then) {
    if (then.waits && then.restarts == run && !then.stopping) give_up(then);
  });
}

void FakeNodes::open_barriers() {
  for (auto& [uid, life] : lives_) {
    if (!life.waits || life.stopping || !is_open(life)) continue;
    life.waits = false;
    begin(life);
  }
}

// By its restart policy the container runs again, after a while, or the pod has failed.
void FakeNodes::give_up(Life& life) {
  const auto pod = pod_of(life);
  if (!pod) return;
  json::Arena arena;
  const bool restarts =
      json::parse(arena, pod->bytes())->get({"spec", "restartPolicy"}).as_string() == "OnFailure";
  life.waits = false;
  patch_status(
      life, fmt::format(R"("phase":"{}","conditions":{},"initContainerStatuses":{})",
                        restarts ? "Pending" : "Failed", conditions_json(now(), false, "PodFailed"),
                        barrier_json(life.restarts, ended_json(now(), 1, "Error"))));
  if (!restarts) return;
  after(kBackoff, life, [this](Life& again) {
    ++again.restarts;
    wait_at_barrier(again);
  });
}

void FakeNodes::begin(Life& life) {
  const auto pod = pod_of(life);
  if (!pod || life.stopping) return;
  ++addresses_;
  const std::string passed_barrier =
      life.barrier.empty()
          ? ""
          : fmt::format(
                R"("initContainerStatuses":{},)",
                barrier_json(life.restarts, R"({"running":null,"terminated":{"exitCode":0}})"));
  patch_status(
      life,
      fmt::format(
          R"("phase":"Running","startTime":"{}","podIP":"10.0.{}.{}","conditions":{},{}"containerStatuses":{})",
          now(), addresses_ / 250, addresses_ % 250 + 1, conditions_json(now(), true, ""),
          passed_barrier, containers_json(life, running_json(now()), true)));
  const PodRule& rule = rule_for(pod->meta());
  if (rule.outcome != Outcome::kSucceed && rule.outcome != Outcome::kFail) return;
  after(rule.after, life, [this, &rule](const Life& ended) { end(ended, rule); });
}

void FakeNodes::end(const Life& life, const PodRule& rule) {
  if (!pod_of(life) || life.stopping) return;
  const bool failed = rule.outcome == Outcome::kFail;
  const std::string state =
      ended_json(now(), failed ? rule.exit_code : 0, failed ? "Error" : "Completed");
  patch_status(life,
               fmt::format(R"("phase":"{}","conditions":{},"containerStatuses":{})",
                           failed ? "Failed" : "Succeeded",
                           conditions_json(now(), false, failed ? "PodFailed" : "PodCompleted"),
                           containers_json(life, state, false)));
}

void FakeNodes::remove(const Life& life) {
  client_.write({.verb = client::Verb::kDelete,
                 .resource = &pods_kind_,
                 .ns = life.ns,
                 .name = life.name,
                 .body = fmt::format(R"({{"gracePeriodSeconds":0,"preconditions":{{"uid":"{}"}}}})",
                                     life.uid)},
                [](const Result<std::string>&) {});
}

void FakeNodes::patch_status(const Life& life, std::string_view status) {
  client_.write(
      {.verb = client::Verb::kPatch,
       .resource = &pods_kind_,
       .ns = life.ns,
       .name = life.name,
       .subresource = "status",
       .body = fmt::format(R"({{"metadata":{{"uid":"{}"}},"status":{{{}}}}})", life.uid, status)},
      [](const Result<std::string>&) {});
}

}  // namespace muster::sim
