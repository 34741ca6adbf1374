#include "agent/agent.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <thread>

#include "agent/environment.h"
#include "base/log.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::agent {
namespace {

using json::Arena;
using json::Value;

constexpr int kMaxPods = 1000;  // of one node; processes are cheap, but not free
constexpr std::int64_t kLongestGrace = std::int64_t{1000} * 365 * 86'400;  // in seconds: for ever
constexpr std::string_view kLoopback = "127.0.0.1";

Value node_status(Arena& arena, Time now) {
  struct sysinfo info{};
  ::sysinfo(&info);
  Value status = Value::object(arena);
  for (const std::string_view part : {"capacity", "allocatable"}) {
    Value resources = status.object_at(part);
    resources.set("cpu", std::to_string(std::max(1u, std::thread::hardware_concurrency())));
    resources.set("memory", fmt::format("{}Ki", info.totalram * info.mem_unit / 1024));
    resources.set("pods", std::to_string(kMaxPods));
  }
  Value ready = Value::object(arena);
  ready.set("type", "Ready");
  ready.set("status", "True");
  ready.set("reason", "AgentReady");
  ready.set("message", "muster runs pods as local processes");
  ready.set("lastHeartbeatTime", format_time(now));
  ready.set("lastTransitionTime", format_time(now));
  status.array_at("conditions").push_back(ready);
  Value address = Value::object(arena);
  address.set("type", "InternalIP");
  address.set("address", kLoopback);
  status.array_at("addresses").push_back(address);
  return status;
}

}  // namespace

// One pod on this node, from its binding to its end.
class Agent::Pod {
 public:
  Pod(Agent& agent, const client::ObjectPtr& object) : agent_(agent) {
    parse(object);
    state_.started = now();
    state_.host_ip = state_.pod_ip = kLoopback;
    for (const std::string_view part : {"initContainers", "containers"}) {
      for (const Value container : pod_.get({"spec", part}).items()) {
        state_.containers.push_back({.name = std::string(container.get("name").as_string()),
                                     .image = std::string(container.get("image").as_string()),
                                     .init = part == "initContainers"});
      }
    }
    processes_.resize(state_.containers.size());
    log_files_.resize(state_.containers.size());
    object->meta().deletion_time ? stop() : advance();
  }

  // The pod changed.
  void seen(const client::ObjectPtr& object) {
    parse(object);
    if (object->meta().deletion_time && !stopping_) stop();
  }

 private:
  // The parsed tree belongs to the newest version.
  void parse(const client::ObjectPtr& object) {
    arena_ = std::make_unique<Arena>();
    pod_ = *json::parse(*arena_, object->bytes());
  }

  Time now() const { return agent_.client_.loop().clock().now(); }

  // Init containers one after the other, then all the others at once.
  void advance() {
    for (std::size_t i = 0; i < state_.containers.size() && phase(state_) != "Failed" && !stopping_;
         ++i) {
      const ContainerState& container = state_.containers[i];
      if (container.finished) continue;
      if (!container.started) start(i);
      if (container.init) break;
    }
    report();
  }

  void start(std::size_t i) {
    ContainerState& container = state_.containers[i];
    const Value spec = container_spec(container);
    auto process = process_spec(pod_, spec, agent_.options_.environment);
    const Value metadata = pod_.get("metadata");
    Result<std::unique_ptr<Process>> started = std::unexpected(Error{});
    if (process) {
      process->log_file = agent_.logs_.opened(metadata.get("namespace").as_string(),
                                              metadata.get("name").as_string(),
                                              metadata.get("uid").as_string(), container.name);
      log_files_[i] = process->log_file;
      started =
          Process::start(agent_.client_.loop(), *process, [this, i](Exit exit) { ended(i, exit); });
    } else {
      started = std::unexpected(process.error());
    }
    container.started = now();
    if (started) {
      processes_[i] = std::move(*started);
    } else {
      container.trouble = started.error().message;
      container.exit_code = 128;
      container.finished = now();
      agent_.logs_.closed(log_files_[i]);
    }
  }

  Value container_spec(const ContainerState& state) const {
    for (const Value container :
         pod_.get({"spec", state.init ? "initContainers" : "containers"}).items()) {
      if (container.get("name").as_string() == state.name) return container;
    }
    return {};
  }

  void ended(std::size_t i, Exit exit) {
    ContainerState& container = state_.containers[i];
    container.finished = now();
    container.exit_code = exit.code;
    container.signal = exit.signal;
    agent_.logs_.closed(log_files_[i]);
    // Runs inside the process' own callback: destroy it afterwards.
    agent_.client_.loop().post([process = std::shared_ptr<Process>(std::move(processes_[i]))] {});
    advance();
    finish_deletion();
  }

  void stop() {
    stopping_ = true;
    for (const auto& process : processes_) {
      if (process) process->signal(SIGTERM);
    }
    const auto grace = std::chrono::seconds(std::clamp<std::int64_t>(
        pod_.get({"metadata", "deletionGracePeriodSeconds"}).as_int(), 0, kLongestGrace));
    agent_.client_.loop().after(grace, [this, alive = std::weak_ptr(alive_)] {
      if (alive.expired()) return;
      for (const auto& process : processes_) {
        if (process) process->signal(SIGKILL);
      }
    });
    finish_deletion();
  }

  // The object goes when its last process has gone and its end is reported: its Job may wait to
  // know how it ended.
  void finish_deletion() {
    const bool running =
        std::ranges::any_of(processes_, [](const auto& process) { return process != nullptr; });
    if (!stopping_ || running) return;
    for (ContainerState& container : state_.containers) {
      if (!container.finished) never_ran(container);
    }
    removable_ = true;
    report();
  }

  void never_ran(ContainerState& container) const {
    container.trouble = "the pod was deleted before this container was started";
    container.exit_code = 128 + SIGKILL;
    container.finished = now();
  }

  void remove() {
    const Value metadata = pod_.get("metadata");
    agent_.client_.write(
        {.verb = client::Verb::kDelete,
         .resource = &agent_.pods_kind_,
         .ns = std::string(metadata.get("namespace").as_string()),
         .name = std::string(metadata.get("name").as_string()),
         .body = fmt::format(R"({{"gracePeriodSeconds":0,"preconditions":{{"uid":"{}"}}}})",
                             metadata.get("uid").as_string())},
        [](Result<std::string> answer) {
          if (!answer && answer.error().code != Code::kNotFound) {
            log::warn("cannot remove a stopped pod", {{"error", answer.error().message}});
          }
        });
  }

  // One report at a time; what changes meanwhile goes with the next.
  void report() {
    if (std::exchange(reporting_, true)) {
      report_again_ = true;
      return;
    }
    Arena arena;
    Value patch = Value::object(arena);
    patch.object_at("metadata").set("uid", pod_.get({"metadata", "uid"}));
    patch.set("status", pod_status(arena, state_, pod_.get("status"), now()));
    agent_.client_.write({.verb = client::Verb::kPatch,
                          .resource = &agent_.pods_kind_,
                          .ns = std::string(pod_.get({"metadata", "namespace"}).as_string()),
                          .name = std::string(pod_.get({"metadata", "name"}).as_string()),
                          .subresource = "status",
                          .body = json::write(patch)},
                         [this, alive = std::weak_ptr(alive_)](Result<std::string> answer) {
                           if (!alive.expired()) reported(answer);
                         });
  }

  void reported(const Result<std::string>& answer) {
    reporting_ = false;
    const bool gone = !answer && answer.error().code == Code::kNotFound;
    if (std::exchange(report_again_, false) && !gone) return report();
    if (answer && removable_) return remove();
    if (answer || gone) return;
    log::warn("cannot report a pod's status", {{"error", answer.error().message}});
    agent_.client_.loop().after(kReportRetry, [this, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) report();
    });
  }

  static constexpr Duration kReportRetry = std::chrono::seconds(1);

  Agent& agent_;
  std::unique_ptr<Arena> arena_;
  Value pod_;
  PodState state_;
  std::vector<std::unique_ptr<Process>> processes_;  // null before its start and after its end
  std::vector<std::string> log_files_;
  bool stopping_ = false;
  bool removable_ = false;
  bool reporting_ = false;
  bool report_again_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

Agent::Agent(client::Client& client, const api::Registry& registry, FileLogs& logs,
             AgentOptions options)
    : client_(client),
      logs_(logs),
      pods_kind_(*registry.find("", "v1", "pods")),
      nodes_kind_(*registry.find("", "v1", "nodes")),
      options_(std::move(options)),
      pods_(client, pods_kind_, {.field_selector = "spec.nodeName=" + options_.node_name}) {
  pods_.on_change([this](const auto& before, const auto& after) { changed(before, after); });
}

Agent::~Agent() = default;

void Agent::start() { register_node(); }

void Agent::register_node() {
  Arena arena;
  Value node = Value::object(arena);
  node.set("apiVersion", "v1");
  node.set("kind", "Node");
  node.object_at("metadata").set("name", options_.node_name);
  node.get("metadata").object_at("labels").set("kubernetes.io/hostname", options_.node_name);
  client_.write({.verb = client::Verb::kCreate,
                 .resource = &nodes_kind_,
                 .name = options_.node_name,
                 .body = json::write(node)},
                [this](Result<std::string> created) {
                  if (!created && created.error().code != Code::kAlreadyExists) {
                    return log::error("cannot register this node",
                                      {{"error", created.error().message}});
                  }
                  Arena patch_arena;
                  Value patch = Value::object(patch_arena);
                  patch.set("status", node_status(patch_arena, client_.loop().clock().now()));
                  client_.write({.verb = client::Verb::kPatch,
                                 .resource = &nodes_kind_,
                                 .name = options_.node_name,
                                 .subresource = "status",
                                 .body = json::write(patch)},
                                [](Result<std::string> ready) {
                                  if (!ready)
                                    log::error("cannot report this node ready",
                                               {{"error", ready.error().message}});
                                });
                  pods_.start();
                });
}

void Agent::changed(const client::ObjectPtr& before, const client::ObjectPtr& after) {
  if (!after) {
    pods_by_uid_.erase(before->meta().uid);
    return;
  }
  const std::string& uid = after->meta().uid;
  if (const auto at = pods_by_uid_.find(uid); at != pods_by_uid_.end())
    return at->second->seen(after);
  Arena arena;
  const std::string_view phase =
      json::parse(arena, after->bytes())->get({"status", "phase"}).as_string();
  if (phase == "Succeeded" || phase == "Failed") return;  // ended before this agent was started
  pods_by_uid_.emplace(uid, std::make_unique<Pod>(*this, after));
}

}  // namespace muster::agent
