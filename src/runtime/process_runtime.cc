#include "runtime/process_runtime.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "base/lifetime.h"
#include "base/log.h"
#include "json/parse.h"
#include "json/write.h"
#include "runtime/journal.h"
#include "runtime/keeper.h"
#include "runtime/records.h"
#include "runtime/shim.h"

namespace muster::runtime {
namespace {

using json::Value;
using namespace std::chrono_literals;

constexpr Duration kRetryKeeper = 1s;
constexpr Duration kRetryShim = 2ms;
constexpr Duration kMostRetryShim = 500ms;
constexpr int kMostFailures = 10;  // with growing pauses: two seconds

Value run_request(json::Arena& arena, std::string_view op, const RunId& run) {
  const Value request = Value::object(arena);
  request.set("op", op);
  request.set("container", run.container);
  request.set("number", Value::of(run.number));
  return request;
}

class ProcessExec final : public Exec {
 public:
  ProcessExec(ProcessRuntime& runtime, Lifetime::Watch runtime_watch, std::string pod_uid,
              std::int64_t id, std::unique_ptr<ExecLink> link)
      : runtime_(runtime),
        runtime_watch_(std::move(runtime_watch)),
        pod_uid_(std::move(pod_uid)),
        id_(id),
        link_(std::move(link)) {}
  ~ProcessExec() override {
    if (!runtime_watch_.ended()) runtime_.drop_exec(pod_uid_, id_);
  }
  void input(std::string_view bytes) override { link_->input(bytes); }
  void end_input() override { link_->end_input(); }
  void resize(int columns, int rows) override { link_->resize(columns, rows); }
  void pause_output(bool paused) override { link_->pause_output(paused); }
  void kill() override {
    if (!runtime_watch_.ended()) runtime_.kill_exec(pod_uid_, id_);
  }

 private:
  ProcessRuntime& runtime_;
  const Lifetime::Watch runtime_watch_;
  const std::string pod_uid_;
  const std::int64_t id_;
  const std::unique_ptr<ExecLink> link_;
};

// One that could not be begun: it ends with the reason, if it is still there then.
class FailedExec final : public Exec {
 public:
  FailedExec(Loop& loop, Error why, ExecEvents events) {
    loop.post(lifetime_.guard([why = std::move(why), end = std::move(events.end)] {
      if (end) end(std::unexpected(why));
    }));
  }
  void input(std::string_view) override {}
  void end_input() override {}
  void resize(int, int) override {}
  void pause_output(bool) override {}
  void kill() override {}

 private:
  Lifetime lifetime_;
};

}  // namespace

ProcessRuntime::ProcessRuntime(Loop& loop, RuntimeOptions options, std::string server_directory,
                               KeeperLink link)
    : loop_(loop), options_(std::move(options)), server_directory_(std::move(server_directory)) {
  use_keeper(std::move(link));
}

void ProcessRuntime::use_keeper(KeeperLink link) {
  abilities_ = std::move(link.abilities);
  keeper_ = std::make_unique<Channel>(
      loop_, std::move(link.socket),
      Channel::Handlers{.message = [this](const Message& m) { keeper_says(m); },
                        .closed = [this] { reach_keeper_again(); }});
  if (options_.end_with_agent) tell_keeper("endWithAgent", "");
}

// Shims go on without a keeper; the next one finds them.
void ProcessRuntime::reach_keeper_again() {
  keeper_.reset();
  Result<KeeperLink> link = reach_keeper(options_);
  if (!link) {
    log::error("no keeper of pods", {{"error", link.error().message}});
    loop_.after(kRetryKeeper, lifetime_.guard([this] { reach_keeper_again(); }));
    return;
  }
  use_keeper(std::move(*link));
  tell_keeper("list", "");
  for (const auto& [uid, pod] : pods_) {
    if (!pod.removals.empty()) tell_keeper("remove", uid);
  }
}

void ProcessRuntime::tell_keeper(std::string_view op, const std::string& uid) {
  if (keeper_ == nullptr) return;  // the next one is told
  json::Arena arena;
  const Value request = Value::object(arena);
  request.set("op", op);
  request.set("uid", uid);
  keeper_->send({json::write(request), {}});
}

void ProcessRuntime::later(Done done, Status status) {
  loop_.post(lifetime_.guard(
      [done = std::move(done), status = std::move(status)]() mutable { done(std::move(status)); }));
}

void ProcessRuntime::on_change(std::function<void(const RunState&)> changed) {
  changed_ = std::move(changed);
}

void ProcessRuntime::start_pod(const PodSpec& spec, Done done) {
  Pod& pod = pods_[spec.uid];
  if (pod.shim != nullptr && pod.greeted) return later(std::move(done), {});
  pod.starting.push_back(std::move(done));
  if (pod.shim != nullptr || pod.asking) return;
  pod.spec = spec;
  ask_for_shim(pod);
}

// Its end of the channel goes to the shim through the keeper.
void ProcessRuntime::ask_for_shim(Pod& pod) {
  auto ends = make_channel_pair();
  if (!ends || keeper_ == nullptr) {
    const std::string why = ends ? "no keeper of pods" : ends.error().message;
    loop_.post(lifetime_.guard([this, uid = pod.spec.uid, why] { shim_is_gone(uid, why); }));
    return;
  }
  json::Arena arena;
  const Value request = Value::object(arena);
  request.set("op", "pod");
  request.set("spec", to_json(arena, pod.spec));
  Message message{json::write(request), {}};
  message.fds.push_back(std::move(ends->second));
  keeper_->send(std::move(message));
  use_shim(pod, std::move(ends->first));
  for (const auto& [id, asked] : pod.requests) pod.shim->send({asked.text, {}});
}

// It listens as soon as it has noticed that its former agent is gone. Should it be gone itself, its
// keeper tells.
void ProcessRuntime::connect_to_shim(const std::string& uid) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end() || pod->second.shim != nullptr || !pod->second.reachable) return;
  auto socket = connect_to(pods_folder(options_.directory), shim_socket_name(uid));
  if (socket) return use_shim(pod->second, std::move(*socket));
  pod->second.retry = std::clamp(pod->second.retry * 2, kRetryShim, kMostRetryShim);
  loop_.after(pod->second.retry, lifetime_.guard([this, uid] { connect_to_shim(uid); }));
}

void ProcessRuntime::use_shim(Pod& pod, UniqueFd socket) {
  pod.greeted = false;
  pod.retry = {};
  pod.shim = std::make_unique<Channel>(
      loop_, std::move(socket),
      Channel::Handlers{
          .message = [this, uid = pod.spec.uid](const Message& m) { shim_says(uid, m); },
          .closed = [this, uid = pod.spec.uid] { shim_is_gone(uid, "the pod's shim is gone"); }});
}

void ProcessRuntime::start(const std::string& pod_uid, const RunSpec& run, Done done) {
  const auto found = pods_.find(pod_uid);
  if (found == pods_.end()) {
    return later(std::move(done), fail(Code::kNotFound, "no such pod: " + pod_uid));
  }
  Pod& pod = found->second;
  if (pod.runs.contains({pod_uid, run.container, run.number})) return later(std::move(done), {});
  const std::int64_t id = ++last_id_;
  json::Arena arena;
  const Value message = Value::object(arena);
  message.set("op", "start");
  message.set("id", Value::of(id));
  message.set("run", to_json(arena, run));
  message.set("serverDirectory", server_directory_);
  Request& request = pod.requests[id];
  request = {json::write(message), std::move(done)};
  if (pod.shim != nullptr) return pod.shim->send({request.text, {}});
  // After the shim's death a new one goes on with the old one's records.
  if (!pod.asking) ask_for_shim(pod);
}

void ProcessRuntime::signal(const RunId& run, int number) {
  const auto found = pods_.find(run.pod_uid);
  if (found == pods_.end()) return;
  Pod& pod = found->second;
  json::Arena arena;
  const Value request = run_request(arena, "signal", run);
  request.set("signal", Value::of(number));
  if (pod.shim != nullptr) {
    pod.shim->send({json::write(request), {}});
  } else if (pod.reachable) {
    pod.unsent.push_back(json::write(request));
  }
}

// The run's init takes everything with it.
void ProcessRuntime::kill(const RunId& run) { signal(run, SIGKILL); }

void ProcessRuntime::remove_pod(const std::string& pod_uid, Done done) {
  Pod& pod = pods_[pod_uid];  // also one that only the keeper knows
  pod.spec.uid = pod_uid;
  for (const auto& [id, run] : pod.runs) {
    if (run.phase == RunPhase::kExited) continue;
    return later(std::move(done),
                 fail(Code::kConflict, "container " + id.container + " has not exited"));
  }
  if (!pod.requests.empty()) {
    return later(std::move(done), fail(Code::kConflict, "a container is just being started"));
  }
  pod.removals.push_back(std::move(done));
  if (pod.removals.size() == 1) tell_keeper("remove", pod_uid);
}

void ProcessRuntime::finish_removal(const std::string& uid) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end() || pod->second.removals.empty()) return;
  std::vector<Done> removals = std::move(pod->second.removals);
  shim_is_gone(uid, "the pod was removed");
  pods_.erase(uid);
  settle(uid);
  for (Done& done : removals) done({});
}

std::unique_ptr<Exec> ProcessRuntime::exec(const ExecSpec& spec, ExecEvents events) {
  const auto pod = pods_.find(spec.run.pod_uid);
  if (pod == pods_.end() || pod->second.shim == nullptr) {
    const std::string why = fmt::format("container not found (\"{}\")", spec.run.container);
    return std::make_unique<FailedExec>(loop_, Error{Code::kInternal, why}, std::move(events));
  }
  auto made = ExecLink::make(loop_, spec, events);
  if (!made) return std::make_unique<FailedExec>(loop_, made.error(), std::move(events));
  const std::int64_t id = ++last_id_;
  json::Arena arena;
  const Value request = run_request(arena, "exec", spec.run);
  request.set("id", Value::of(id));
  request.set("argv", strings_to_json(arena, spec.argv));
  pod->second.shim->send({json::write(request), std::move(made->second)});
  pod->second.execs[id] = made->first.get();
  return std::make_unique<ProcessExec>(*this, lifetime_.watch(), spec.run.pod_uid, id,
                                       std::move(made->first));
}

void ProcessRuntime::tell_exec(const Pod& pod, std::string_view op, std::int64_t id,
                               std::optional<int> signal) {
  if (pod.shim == nullptr) return;
  json::Arena arena;
  const Value request = Value::object(arena);
  request.set("op", op);
  request.set("id", Value::of(id));
  if (signal) request.set("signal", Value::of(*signal));
  pod.shim->send({json::write(request), {}});
}

void ProcessRuntime::drop_exec(const std::string& pod_uid, std::int64_t id) {
  const auto pod = pods_.find(pod_uid);
  if (pod == pods_.end() || pod->second.execs.erase(id) == 0) return;
  tell_exec(pod->second, "execSignal", id, SIGHUP);
}

void ProcessRuntime::kill_exec(const std::string& pod_uid, std::int64_t id) {
  const auto pod = pods_.find(pod_uid);
  if (pod != pods_.end()) tell_exec(pod->second, "execKill", id);
}

void ProcessRuntime::adopt(std::function<void(std::vector<Adopted>)> done) {
  adopted_ = std::move(done);
  listed_ = false;
  tell_keeper("list", "");
}

void ProcessRuntime::keeper_says(const Message& message) {
  json::Arena arena;
  const auto parsed = json::parse(arena, message.text);
  if (!parsed) return;
  if (const Value* pods = parsed->find("pods")) return take_list(*pods);
  if (const Value* gone = parsed->find("gone")) read_records(std::string(gone->as_string()));
  if (const Value* removed = parsed->find("removed")) {
    finish_removal(std::string(removed->as_string()));
  }
}

void ProcessRuntime::take_list(Value pods) {
  std::vector<std::string> dead;
  for (const Value each : pods.items()) {
    const PodSpec spec = pod_spec_from(each.get("spec"));
    const bool is_new = !pods_.contains(spec.uid);
    Pod& pod = pods_[spec.uid];
    pod.spec = spec;
    const bool alive = each.get("alive").as_bool();
    if (is_new && adopted_) unsettled_.insert(spec.uid);
    pod.reachable = alive;
    if (alive) connect_to_shim(spec.uid);
    if (!alive && !each.get("dying").as_bool()) dead.push_back(spec.uid);
  }
  listed_ = true;
  if (!unsettled_.empty()) {
    loop_.after(options_.adopt_patience, lifetime_.guard([this] { adopt_the_silent(); }));
  }
  for (const std::string& uid : dead) read_records(uid);
  settle("");
}

// Its shim is gone and all of its processes are: the records are complete.
void ProcessRuntime::read_records(const std::string& uid) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  pod->second.reachable = false;
  for (const auto& [id, run] : read_journal(pods_folder(options_.directory), uid).runs) {
    const auto still = pods_.find(uid);  // whoever is told may remove it
    if (still == pods_.end()) break;
    apply(still->second, run.state);
  }
  settle(uid);
}

// A shim that does not answer must not stop the node. What happens to its runs is told when it
// does.
void ProcessRuntime::adopt_the_silent() {
  for (const std::string& uid : std::set(unsettled_)) {
    log::warn("the shim of a pod does not answer", {{"pod", pods_.at(uid).spec.name}});
    for (const auto& [id, run] : read_journal(pods_folder(options_.directory), uid).runs)
      apply(pods_.at(uid), run.state);
    settle(uid);
  }
}

// One more pod is known; the agent is told of all at once.
void ProcessRuntime::settle(const std::string& uid) {
  unsettled_.erase(uid);
  if (!adopted_ || !listed_ || !unsettled_.empty()) return;
  std::vector<Adopted> all;
  for (const auto& [id, pod] : pods_) {
    Adopted& one = all.emplace_back(Adopted{pod.spec, {}});
    for (const auto& [run_id, state] : pod.runs) one.runs.push_back(state);
  }
  const auto done = std::move(adopted_);
  adopted_ = nullptr;
  done(std::move(all));
}

void ProcessRuntime::apply(Pod& pod, const RunState& state) {
  const auto known = pod.runs.find(state.id);
  if (known != pod.runs.end() && known->second.phase == state.phase &&
      state.phase != RunPhase::kHeld) {
    return;
  }
  pod.runs.insert_or_assign(state.id, state);
  if (changed_ && !unsettled_.contains(pod.spec.uid)) changed_(RunState(state));
}

void ProcessRuntime::shim_says(const std::string& uid, const Message& message) {
  const auto found = pods_.find(uid);
  json::Arena arena;
  const auto parsed = json::parse(arena, message.text);
  if (!parsed || found == pods_.end()) return;
  Pod& pod = found->second;
  if (const Value* runs = parsed->find("runs")) return shim_greets(uid, *runs);
  if (const Value* run = parsed->find("run")) {
    const RunState state = run_state_from(*run, uid);
    if (!parsed->has("done")) return apply(pod, state);
    pod.runs.try_emplace(state.id, state);
  }
  if (parsed->has("execEnd")) return end_exec(pod, *parsed);
  if (parsed->has("exists")) {  // of an earlier agent that was not asked for by adopt()
    pod.shim.reset();
    pod.reachable = true;
    return connect_to_shim(uid);
  }
  if (parsed->has("dying")) return shim_is_gone(uid, std::string(parsed->get("dying").as_string()));
  const Value error = parsed->get("error");
  if (const Value* done = parsed->find("done")) {
    auto request = pod.requests.extract(done->as_int());
    if (request.empty()) return;
    if (error.is_null()) return request.mapped().done({});
    return request.mapped().done(fail(Code::kInternal, std::string(error.as_string())));
  }
  if (error.is_null()) return;
  pod.failures = kMostFailures;  // it would fail again
  shim_is_gone(uid, std::string(error.as_string()));
}

void ProcessRuntime::shim_greets(const std::string& uid, Value runs) {
  for (const Value each : runs.items()) {
    const auto pod = pods_.find(uid);  // whoever is told may remove it
    if (pod == pods_.end()) return;
    apply(pod->second, run_state_from(each, uid));
  }
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  pod->second.greeted = true;
  pod->second.failures = 0;
  for (std::string& text : std::exchange(pod->second.unsent, {}))
    pod->second.shim->send({std::move(text), {}});
  std::vector<Done> starting = std::move(pod->second.starting);
  pod->second.starting.clear();
  settle(uid);
  for (Done& done : starting) done({});
}

void ProcessRuntime::end_exec(Pod& pod, Value message) {
  auto exec = pod.execs.extract(message.get("execEnd").as_int());
  if (exec.empty()) return;
  const Value* error = message.find("error");
  if (error == nullptr) return exec.mapped()->ended(static_cast<int>(message.get("code").as_int()));
  exec.mapped()->ended(fail(Code::kInternal, std::string(error->as_string())));
}

// A keeper or a shim that was killed just now must not fail what can be tried again.
bool ProcessRuntime::ask_again_later(Pod& pod) {
  const bool wanted = !pod.starting.empty() || !pod.requests.empty();
  if (!wanted || pod.asking || pod.failures >= kMostFailures) return pod.asking;
  const Duration pause = kRetryShim * (1 << pod.failures++);
  pod.asking = true;
  loop_.after(pause, lifetime_.guard([this, uid = pod.spec.uid] {
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return;
    found->second.asking = false;
    if (found->second.shim == nullptr) ask_for_shim(found->second);
  }));
  return true;
}

// What was asked of it fails; what becomes of its runs the keeper tells when it is certain.
void ProcessRuntime::shim_is_gone(const std::string& uid, const std::string& why) {
  if (!pods_.contains(uid)) return;
  pods_.at(uid).shim.reset();
  pods_.at(uid).greeted = false;
  pods_.at(uid).unsent.clear();
  end_execs(uid, why);
  const auto found = pods_.find(uid);  // whoever heard of an end may have removed it
  if (found == pods_.end() || ask_again_later(found->second)) return;
  found->second.failures = 0;
  auto starting = std::exchange(found->second.starting, {});
  auto requests = std::exchange(found->second.requests, {});
  for (Done& done : starting) done(fail(Code::kUnavailable, why));
  for (auto& [id, request] : requests) request.done(fail(Code::kUnavailable, why));
}

// One's end may be that of another.
void ProcessRuntime::end_execs(const std::string& uid, const std::string& why) {
  for (;;) {
    const auto pod = pods_.find(uid);
    if (pod == pods_.end() || pod->second.execs.empty()) return;
    auto exec = pod->second.execs.extract(pod->second.execs.begin());
    exec.mapped()->ended(fail(Code::kUnavailable, why));
  }
}

Result<std::unique_ptr<Runtime>> make_process_runtime(Loop& loop, RuntimeOptions options) {
  std::error_code error;
  std::filesystem::create_directories(options.directory, error);
  if (!error) {
    std::filesystem::permissions(options.directory, std::filesystem::perms::owner_all, error);
  }
  if (!error) options.directory = std::filesystem::canonical(options.directory, error).string();
  if (error) return fail(Code::kInternal, options.directory + ": " + error.message());
  std::string server_directory = std::filesystem::current_path(error).string();
  if (error) server_directory = "/";
  ::signal(SIGPIPE, SIG_IGN);  // a command that does not read its input must not end the server
  MUSTER_TRY(KeeperLink link, reach_keeper(options));
  return std::make_unique<ProcessRuntime>(loop, std::move(options), std::move(server_directory),
                                          std::move(link));
}

}  // namespace muster::runtime
