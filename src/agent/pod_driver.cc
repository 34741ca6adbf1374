#include "agent/pod_driver.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "agent/lifecycle/status.h"
#include "api/views/job_set_names.h"
#include "base/log.h"
#include "json/parse.h"

namespace muster::agent {
namespace {

using json::Value;

// What a pod tells while it starts is gathered for so long; what runs is told sooner, an end and a
// pod that waits at a barrier at once.
constexpr Duration kGatherStart = std::chrono::milliseconds(100);
constexpr Duration kGatherRunning = std::chrono::milliseconds(5);
// A gang that was just let go needs the processors for itself.
constexpr Duration kGatherGang = std::chrono::milliseconds(50);

// A look at the machine that leads to actions is followed by another; so many in a row mean that
// something is wrong, and the loop must see to others in between.
constexpr int kMaxLooks = 32;

constexpr Duration kRetry = std::chrono::seconds(1);  // of what should not fail

FoundRun found_run(const runtime::RunState& state) {
  Run run{.number = state.id.number, .id = state.container_id};
  run.held = state.phase == runtime::RunPhase::kHeld;
  run.started = state.started;
  return {.container = state.id.container, .run = std::move(run)};
}

}  // namespace

PodDriver::PodDriver(NodeServices& node, const client::ObjectPtr& object,
                     const runtime::Runtime::Adopted* adopted)
    : node_(node),
      tokens_(node.client, node.accounts),
      writer_(node.client, node.pods, object->meta().ns, object->meta().name,
              {.patch = [this](json::Arena& arena) { return status_patch_now(arena); },
               .written =
                   [this](client::Written&& answer) {
                     if (answer.object() != nullptr) {
                       parse(answer.object()->bytes(), answer.object()->revision());
                     } else if (!answer.meta().name.empty()) {
                       parse(answer.text(), client::to_revision(answer.meta().resource_version));
                     }
                     wake();
                   }}) {
  parse(object->bytes(), object->revision());
  references_ = references_of(pod_, view_);
  std::vector<FoundRun> found;
  if (adopted != nullptr) {
    in_runtime_ = true;
    for (const runtime::RunState& state : adopted->runs) {
      FoundRun& run = found.emplace_back(found_run(state));
      const auto at = view_.find(run.container);
      if (state.exit && at) run.run.end = end_of(*at, run.run, *state.exit);
    }
  }
  memory_ = recall(view_, pod_.get("status"), found, now());
  if (!memory_.start_time) memory_.start_time = now();
  memory_.host_ip = node_.host_ip;
}

PodDriver::~PodDriver() { node_.client.loop().cancel(timer_); }

void PodDriver::begin(std::vector<std::string> devices) {
  devices_ = std::move(devices);
  if (view_.barrier) node_.gates.use(gate_file());
  if (in_runtime_ && memory_.stage == Stage::kSync) {
    memory_.prepared = take_address().has_value();
    // What cannot be brought up to date now is when an object changes.
    const Status fresh = PodTokens::wanted(pod_) ? Status() : refresh_volumes();
    if (!fresh)
      log::warn("cannot refresh the volumes of a pod",
                {{"pod", view_.name}, {"error", fresh.error().message}});
  }
  for (std::size_t i = 0; i < memory_.containers.size(); ++i) {
    auto& run = memory_.containers[i].run;
    if (!in_runtime_ || !run || !run->running() || view_.containers[i].barrier) continue;
    node_.log_began(log_key(i, run->number));
    node_.prober.add(probe_target(i, *run));
  }
  wake();
}

void PodDriver::reject(Verdict why) {
  tell(std::nullopt, true, why.reason, why.message);
  why.message = "Pod was rejected: " + why.message;
  memory_.failed = std::move(why);
  memory_.stage = Stage::kTerminated;
  rejected_ = true;
  wake();
}

void PodDriver::parse(std::string_view bytes, store::Revision revision) {
  if (revision <= revision_ && revision != 0) return;
  auto arena = std::make_unique<json::Arena>(bytes.size() * 3);
  const auto tree = json::parse(*arena, bytes);
  if (!tree) return;
  revision_ = revision;
  arena_ = std::move(arena);
  pod_ = *tree;
  drop_unwanted_token(pod_);
  drop_barrier_volumes(pod_);
  view_ = read_pod_view(pod_);
}

void PodDriver::seen(const client::ObjectPtr& object) {
  parse(object->bytes(), object->revision());
  wake();
}

void PodDriver::object_gone() {
  memory_.object_gone = true;
  wake();
}

void PodDriver::object_changed() {
  prepare_at_.reset();
  for (ContainerMemory& container : memory_.containers) {
    if (container.trouble) container.trouble->retry = now();
  }
  volumes_stale_ = true;  // looked at after what is more urgent: a gate may have to be opened
  wake();
}

void PodDriver::wake() {
  if (retired_ || std::exchange(wake_posted_, true)) return;
  node_.client.loop().post(lifetime_.guard([this] { step(); }));
}

void PodDriver::step() {
  wake_posted_ = false;
  if (retired_) return;
  if (view_.deleted && !std::exchange(only_readiness_, view_.deleted))
    node_.prober.only_readiness(view_.uid);
  std::optional<Time> look_again;
  renew_tokens();
  if (!rejected_) {
    note_barrier();
    for (int looks = 0;; ++looks) {
      if (memory_.stage == Stage::kSync && !memory_.prepared) prepare();
      const Decision decision = advance(view_, memory_, node_.backoff, now());
      for (const Notice& notice : decision.notices)
        tell(notice.container, notice.warning, notice.reason, notice.message);
      for (const Action& action : decision.actions) carry_out(action);
      note_barrier();
      look_again = decision.look_again;
      const bool due = look_again && *look_again <= now();
      if (decision.actions.empty() && !due) break;
      if (looks == kMaxLooks) {
        look_again = now() + kRetry;
        break;
      }
    }
  }
  if (memory_.stage == Stage::kSync && memory_.prepared && std::exchange(volumes_stale_, false)) {
    if (const Status fresh = refresh_volumes(); !fresh)
      tell(std::nullopt, true, "FailedMount", fresh.error().message);
  }
  for (const std::optional<Time> wish : {prepare_at_, token_renewal()}) {
    if (memory_.stage == Stage::kSync && wish)
      look_again = std::min(look_again.value_or(*wish), *wish);
  }
  set_timer(look_again);
  if (memory_.stage == Stage::kTerminated && !std::exchange(released_, true))
    node_.released(view_.uid);
  if (memory_.stage != Stage::kTerminated || !all_is_told()) {
    report();
  } else {
    wind_up();
  }
}

std::optional<Time> PodDriver::token_renewal() const {
  const auto due = tokens_.due();
  return due ? std::optional(std::max(*due, renew_at_)) : std::nullopt;
}

void PodDriver::set_timer(std::optional<Time> when) {
  node_.client.loop().cancel(timer_);
  timer_ = TimerId::kNone;
  if (when) timer_ = node_.client.loop().after(*when - now(), [this] { wake(); });
}

void PodDriver::carry_out(const Action& action) {
  const std::size_t i = action.container;
  switch (action.kind) {
    case Action::Kind::kStart:
      return start(i, action.held);
    case Action::Kind::kPostStart:
      return run_hook_of(i, true);
    case Action::Kind::kPreStop:
      return run_hook_of(i, false);
    case Action::Kind::kTerminate:
      hooks_.erase(i);
      return node_.runtime.signal(id_of(i, *memory_.containers[i].run), SIGTERM);
    case Action::Kind::kKill:
      hooks_.erase(i);
      return node_.runtime.kill(id_of(i, *memory_.containers[i].run));
    case Action::Kind::kOpenGate:
      return open_gate();
  }
}

void PodDriver::note_barrier() {
  if (!view_.barrier) return;
  const Value map = node_.objects.config_map(view_.ns, view_.barrier->config_map);
  const auto is_there = [&](const std::string& key) {
    return map.get({"data", key}).is_string() || map.get({"binaryData", key}).is_string();
  };
  const Barrier& barrier = *view_.barrier;
  const bool go = is_there(barrier.key);
  const bool named = barrier.coordinator.empty() || node_.is_named(view_.ns, barrier.coordinator) ||
                     is_there(barrier.key + std::string(api::kCoordinatorEnded));
  memory_.barrier_open = go && named;
  memory_.barrier_unnamed = go && !named;
  const auto& run = memory_.containers[*view_.find(api::kBarrierContainer)].run;
  at_barrier_ = run && run->alive();
  note_count(map);
}

// What the pod says if it gives up. The keys of an attempt differ in their first word only.
void PodDriver::note_count(Value config_map) {
  const std::string_view key = view_.barrier->key;
  if (!key.starts_with(api::kBarrierStarted)) return;
  const std::string_view attempt = key.substr(api::kBarrierStarted.size());
  const auto text_of = [&](std::string_view prefix) {
    return config_map.get({"data", fmt::format("{}{}", prefix, attempt)});
  };
  if (const Value started = text_of(api::kBarrierProgress); started.is_string())
    memory_.barrier_started = started.as_string();
  if (const Value missing = text_of(api::kBarrierMissing); missing.is_string())
    memory_.barrier_missing = missing.as_string();
}

// One per gang and attempt. A JobSet that follows another of the same name has another uid.
std::string PodDriver::gate_file() const {
  const std::string_view gang =
      pod_.get({"metadata", "labels", api::label::kJobSetUid}).as_string();
  return fmt::format("{}/{}_{}_{}", node_.paths.gates(), gang.empty() ? view_.ns : gang,
                     view_.barrier->config_map, view_.barrier->key);
}

runtime::RunId PodDriver::id_of(std::size_t i, const Run& run) const {
  return {.pod_uid = view_.uid, .container = view_.containers[i].name, .number = run.number};
}

Value PodDriver::spec_of(std::size_t i) const { return container_spec(pod_, i); }

std::optional<runtime::RunId> PodDriver::running(std::string_view container) const {
  const auto at = view_.find(container);
  if (!at || view_.containers[*at].barrier) return std::nullopt;
  const auto& run = memory_.containers[*at].run;
  return run && run->running() ? std::optional(id_of(*at, *run)) : std::nullopt;
}

std::vector<runtime::RunId> PodDriver::alive_runs() const {
  std::vector<runtime::RunId> runs;
  for (std::size_t i = 0; i < memory_.containers.size(); ++i) {
    const auto& run = memory_.containers[i].run;
    if (run && run->alive() && !view_.containers[i].barrier) runs.push_back(id_of(i, *run));
  }
  return runs;
}

void PodDriver::tell(std::optional<std::size_t> container, bool warning, std::string reason,
                     std::string message) {
  controllers::Event event{.regarding = {.api_version = "v1",
                                         .kind = "Pod",
                                         .ns = view_.ns,
                                         .name = view_.name,
                                         .uid = view_.uid},
                           .warning = warning,
                           .reason = std::move(reason),
                           .message = std::move(message)};
  if (container) {
    const ContainerView& view = view_.containers[*container];
    event.regarding.field_path = fmt::format(
        "spec.{}{{{}}}", view.role == Role::kMain ? "containers" : "initContainers", view.name);
  }
  node_.events.record(event);
}

void PodDriver::report() {
  if (!memory_.object_gone) writer_.want(report_delay());
}

Duration PodDriver::report_delay() const {
  if (memory_.stage == Stage::kTerminated || at_barrier_) return Duration::zero();
  const bool runs = std::ranges::any_of(memory_.containers,
                                        [](const auto& c) { return c.run && c.run->started; });
  if (!runs) return kGatherStart;
  return view_.barrier ? kGatherGang : kGatherRunning;
}

Value PodDriver::status_patch_now(json::Arena& arena) {
  if (memory_.object_gone) return {};
  const Value status = rejected_ ? write_rejection(arena, view_, memory_, pod_)
                                 : write_status(arena, view_, memory_, pod_, now());
  return status_patch(arena, view_, pod_.get("status"), status);
}

bool PodDriver::all_is_told() {
  json::Arena arena;
  return memory_.object_gone || (!writer_.sending() && status_patch_now(arena).is_null());
}

// Nothing runs any more, and its end is told. Only now may the runtime forget the pod: whoever
// takes over in between finds out again how it ended.
void PodDriver::wind_up() {
  if (preparing_ || starts_under_way_ > 0) return;
  if (in_runtime_) return leave_runtime();
  if (memory_.object_gone) return retire();
  if (view_.deleted) return delete_object();
  retire();
}

void PodDriver::leave_runtime() {
  if (std::exchange(leaving_runtime_, true)) return;
  node_.runtime.remove_pod(view_.uid, lifetime_.guard([this](const Status& left) {
    leaving_runtime_ = false;
    if (left) {
      in_runtime_ = false;
      node_.messages.discard(view_.uid);
      return wake();
    }
    log::warn("cannot clean up after a pod",
              {{"pod", view_.name}, {"error", left.error().message}});
    set_timer(now() + kRetry);
  }));
}

// Only this very pod, never a later one of its name.
void PodDriver::delete_object() {
  if (std::exchange(deleting_, true)) return;
  node_.client.write(
      {.verb = client::Verb::kDelete,
       .resource = &node_.pods,
       .ns = view_.ns,
       .name = view_.name,
       .body =
           fmt::format(R"({{"gracePeriodSeconds":0,"preconditions":{{"uid":"{}"}}}})", view_.uid)},
      lifetime_.guard([this](const Result<std::string>& answer) {
        deleting_ = false;
        const bool gone = !answer && (answer.error().code == Code::kNotFound ||
                                      answer.error().code == Code::kConflict);
        if (answer || gone) return retire();  // what is left of it waits for its finalizers
        log::warn("cannot remove a stopped pod",
                  {{"pod", view_.name}, {"error", answer.error().message}});
        set_timer(now() + kRetry);
      }));
}

void PodDriver::retire() {
  if (std::exchange(retired_, true)) return;
  set_timer(std::nullopt);
  if (view_.barrier && !rejected_) node_.gates.leave(gate_file());
  node_.named(view_, false);
  node_.names.remove(view_.uid);
  node_.retired(view_.uid, memory_.object_gone);
}

}  // namespace muster::agent
