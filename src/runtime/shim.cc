#include "runtime/shim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <list>
#include <map>
#include <set>

#include "base/errno_error.h"
#include "base/loop.h"
#include "base/rng.h"
#include "json/parse.h"
#include "json/write.h"
#include "runtime/channel.h"
#include "runtime/journal.h"
#include "runtime/make_file.h"
#include "runtime/records.h"
#include "runtime/shim_run.h"

namespace muster::runtime {
namespace {

using json::Value;
using namespace std::chrono_literals;

constexpr Duration kListenAgain = 1s;

std::string make_container_id(Rng& rng) {
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:016x}", rng.next());
  return id;
}

// Fresh for each run, and writable for whoever the container's program is.
void empty_termination_log(const std::string& file) {
  if (file.empty()) return;
  const UniqueFd log = make_file(file, O_TRUNC, 0666);
  if (log.valid()) fchmod(log.get(), 0666);
}

class Shim {
 public:
  Shim(Loop& loop, const ShimSpec& spec, Journal journal)
      : loop_(loop), spec_(spec), journal_(std::move(journal)), rng_(spec.seed) {
    if (spec.is_new) return;
    for (auto& [id, recorded] : read_journal(spec.folder, spec.pod.uid).runs) {
      runs_[id] = std::make_unique<ShimRun>();
      runs_[id]->record = std::move(recorded);
    }
  }

  void watch_children() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    signals_ = UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    loop_.watch_readable(signals_.get(), [this] { collect(); });
  }

  // A new agent hears of all runs first.
  void serve(UniqueFd socket) {
    auto& agent = agents_.emplace_back();
    agent = std::make_unique<Channel>(
        loop_, std::move(socket),
        Channel::Handlers{
            .message = [this, at = agent_key(agent)](Message m) { handle(at, std::move(m)); },
            .closed = [this, &agent] { lose(agent); }});
    json::Arena arena;
    const Value runs = Value::array(arena);
    for (const auto& [id, run] : runs_) runs.push_back(to_json(arena, run->record.state));
    const Value hello = Value::object(arena);
    hello.set("runs", runs);
    agent->send({json::write(hello), {}});
  }

 private:
  using Agent = std::unique_ptr<Channel>;
  using AgentKey = const Agent*;
  struct Beside {  // a command of Runtime::exec
    AgentKey agent;
    std::int64_t number;
    RunId run;
    Command command;
  };

  static AgentKey agent_key(const Agent& agent) { return &agent; }

  void handle(AgentKey from, Message message);
  void start(AgentKey from, Value request);
  Status start_run(RunSpec spec, std::string server_directory);
  void watch(ShimRun& run);
  void look_at_start(ShimRun& run);
  void send_signal(const RunId& id, int number);
  void exec(AgentKey from, Value request, std::vector<UniqueFd> fds);
  void signal_beside(AgentKey agent, std::int64_t number, int signal);
  void kill_beside(AgentKey agent, std::int64_t number);
  void end_beside(const Beside& beside, int status);
  void lose(const Agent& agent);
  void listen();
  void end_if_idle();
  void collect();
  void collect_one(pid_t pid, int status);
  bool kill_orphans();
  void finish(ShimRun& run);
  void close_pipe(UniqueFd& pipe);
  void record_and_tell(ShimRun& run);
  void answer(AgentKey to, Value message);
  RunId id_in(Value request) const {
    return {spec_.pod.uid, std::string(request.get("container").as_string()),
            static_cast<int>(request.get("number").as_int())};
  }

  Loop& loop_;
  const ShimSpec& spec_;
  Journal journal_;
  Rng rng_;
  UniqueFd signals_;
  bool asked_to_end_ = false;
  UniqueFd listener_;
  std::list<Agent> agents_;
  std::map<RunId, std::unique_ptr<ShimRun>> runs_;
  std::list<Beside> besides_;
};

void Shim::answer(AgentKey to, Value message) {
  for (const Agent& agent : agents_) {
    if (&agent == to) agent->send({json::write(message), {}});
  }
}

void Shim::lose(const Agent& agent) {
  for (const Beside& beside : besides_) {
    if (beside.agent == &agent) (void)kill_process(beside.command.handle, SIGHUP);
  }
  agents_.remove_if([&](const Agent& each) { return &each == &agent; });
  if (agents_.empty()) listen();
  end_if_idle();
}

// All that there is to know is in the journal then; a later run gets a new shim. The machine asks
// (SIGTERM) when it shuts down: everybody in the pod hears of it at the same time.
void Shim::end_if_idle() {
  const bool busy = std::ranges::any_of(
      runs_, [](const auto& each) { return each.second->record.state.phase != RunPhase::kExited; });
  const bool needed = !agents_.empty() && !asked_to_end_;
  if (!needed && besides_.empty() && !busy) _exit(0);
}

// Only now: a socket in a folder is what an ordinary pod can do without.
void Shim::listen() {
  if (listener_.valid()) return;
  auto socket = listen_at(spec_.folder, shim_socket_name(spec_.pod.uid));
  if (!socket) {  // a full disk, perhaps
    loop_.after(kListenAgain, [this] { listen(); });
    return;
  }
  listener_ = std::move(*socket);
  loop_.watch_readable(listener_.get(), [this] {
    const int peer = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (peer >= 0) serve(UniqueFd(peer));
  });
}

void Shim::handle(AgentKey from, Message message) {
  json::Arena arena;
  const auto request = json::parse(arena, message.text);
  if (!request) return;
  const std::string_view what = request->get("op").as_string();
  const auto number = static_cast<int>(request->get("signal").as_int());
  if (what == "start") start(from, *request);
  if (what == "signal") send_signal(id_in(*request), number);
  if (what == "exec") exec(from, *request, std::move(message.fds));
  if (what == "execSignal") signal_beside(from, request->get("id").as_int(), number);
  if (what == "execKill") kill_beside(from, request->get("id").as_int());
}

void Shim::start(AgentKey from, Value request) {
  RunSpec spec = run_spec_from(request.get("run"));
  const RunId id{spec_.pod.uid, spec.container, spec.number};
  const Status started =
      start_run(std::move(spec), std::string(request.get("serverDirectory").as_string()));
  json::Arena arena;
  const Value reply = Value::object(arena);
  reply.set("done", request.get("id"));
  if (started) reply.set("run", to_json(arena, runs_.at(id)->record.state));
  if (!started) reply.set("error", started.error().message);
  answer(from, reply);
}

Status Shim::start_run(RunSpec spec, std::string server_directory) {
  const RunId id{spec_.pod.uid, spec.container, spec.number};
  if (runs_.contains(id)) return {};
  for (const auto& [other, run] : runs_) {
    if (other.container != id.container || run->record.state.phase == RunPhase::kExited) continue;
    return fail(Code::kConflict, fmt::format("run {} of it has not exited", other.number));
  }
  auto made = std::make_unique<ShimRun>();
  made->record.state = {.id = id,
                        .container_id = make_container_id(rng_),
                        .phase = RunPhase::kHeld,
                        .started = {},
                        .exit = {}};
  // Whoever reads this and finds no process later knows that there was one, perhaps.
  MUSTER_CHECK(journal_.add(made->record));
  ShimRun& run = *(runs_[id] = std::move(made));
  run.log = std::make_unique<LogWriter>(loop_.clock(), spec.log_file);
  if (!spec.gate.empty()) run.log->open_file();  // nothing but the exec is left for then
  empty_termination_log(spec.termination_log);
  auto groups = spec_.cgroups.make(spec_.pod.uid, run.record.state.container_id, spec.limits);
  run.program = {.argv = spec.argv,
                 .environment = spec.environment,
                 .working_directory = spec.working_directory,
                 .server_directory = std::move(server_directory),
                 .user = spec.user,
                 .user_processes = spec.user_processes,
                 .groups = groups ? *groups : RunGroups{},
                 .gate = spec.gate,
                 .bundle = spec.rootfs.empty() ? "" : spec_.folder};
  auto launched = groups ? launch(spec_.pod, spec, run.program, spec_.namespaces)
                         : Result<Launched>(std::unexpected(groups.error()));
  if (!launched) {
    run.start_text = kErrorMark + launched.error().message;
    loop_.post([this, &run] { finish(run); });  // after the answer
    return {};
  }
  run.processes = std::move(*launched);
  run.record.process = identity_of(run.processes.init).value_or(ProcessIdentity{});
  (void)journal_.add(run.record);
  watch(run);
  return {};
}

void Shim::watch(ShimRun& run) {
  loop_.watch_readable(run.processes.output.get(), [this, &run] {
    if (!read_output(run, Stream::kOut)) close_pipe(run.processes.output);
  });
  loop_.watch_readable(run.processes.errors.get(), [this, &run] {
    if (!read_output(run, Stream::kError)) close_pipe(run.processes.errors);
  });
  loop_.watch_readable(run.processes.start.get(), [this, &run] { look_at_start(run); });
}

void Shim::look_at_start(ShimRun& run) {
  const bool ended = !read_start(run.processes.start, run.start_text);
  RunState& state = run.record.state;
  if (ended) close_pipe(run.processes.start);
  if (ended && was_executed(run.start_text) && state.phase == RunPhase::kHeld) {
    state.phase = RunPhase::kRunning;
    state.started = loop_.clock().now();
    record_and_tell(run);
  } else if (!ended && was_held(run.start_text)) {
    record_and_tell(run);
  }
}

void Shim::close_pipe(UniqueFd& pipe) {
  if (!pipe.valid()) return;
  loop_.unwatch(pipe.get());
  pipe = {};
}

void Shim::record_and_tell(ShimRun& run) {
  // A full disk must not hide an end: this shim knows it, and tells it to every agent.
  (void)journal_.add(run.record);
  json::Arena arena;
  const Value message = Value::object(arena);
  message.set("run", to_json(arena, run.record.state));
  const std::string text = json::write(message);
  for (const Agent& agent : agents_) agent->send({text, {}});
}

void Shim::send_signal(const RunId& id, int number) {
  const auto run = runs_.find(id);
  if (run == runs_.end() || !run->second->alive()) return;
  (void)kill_process(run->second->processes.handle, number);
}

void Shim::exec(AgentKey from, Value request, std::vector<UniqueFd> fds) {
  const auto run = runs_.find(id_in(request));
  json::Arena arena;
  const Value reply = Value::object(arena);
  reply.set("execEnd", request.get("id"));
  const bool running = run != runs_.end() && run->second->alive() &&
                       run->second->record.state.phase == RunPhase::kRunning;
  if (!running || (fds.size() != 1 && fds.size() != 3)) {
    reply.set("error",
              fmt::format("container not found (\"{}\")", request.get("container").as_string()));
    return answer(from, reply);
  }
  Program program = run->second->program;
  program.argv = strings_from(request.get("argv"));
  program.gate.clear();
  const bool terminal = fds.size() == 1;
  const Stdio stdio{.input = fds.front().get(),
                    .output = fds[terminal ? 0 : 1].get(),
                    .errors = fds[terminal ? 0 : 2].get(),
                    .terminal = terminal};
  auto command = launch_beside(run->second->processes.handle, program, stdio, spec_.namespaces);
  if (!command) {
    reply.set("error", command.error().message);
    return answer(from, reply);
  }
  besides_.push_back({from, request.get("id").as_int(), run->first, std::move(*command)});
}

void Shim::signal_beside(AgentKey agent, std::int64_t number, int signal) {
  for (const Beside& beside : besides_) {
    if (beside.agent == agent && beside.number == number) {
      (void)kill_process(beside.command.handle, signal);
    }
  }
}

// Its group too: it is the leader of one, and its number is not given to others before it is
// collected.
void Shim::kill_beside(AgentKey agent, std::int64_t number) {
  for (const Beside& beside : besides_) {
    if (beside.agent != agent || beside.number != number) continue;
    kill(-beside.command.pid, SIGKILL);
    (void)kill_process(beside.command.handle, SIGKILL);  // it may not lead one yet
  }
}

void Shim::end_beside(const Beside& beside, int status) {
  std::string start_text;
  read_start(beside.command.start, start_text);
  const auto start_error = start_error_in(start_text);
  json::Arena arena;
  const Value reply = Value::object(arena);
  reply.set("execEnd", Value::of(beside.number));
  if (start_error) reply.set("error", *start_error);
  reply.set("code", Value::of(exit_code(status)));
  answer(beside.agent, reply);
}

void Shim::collect() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGTERM) asked_to_end_ = true;
  }
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) collect_one(pid, status);
  if (!spec_.namespaces.runs && kill_orphans()) return;  // their ends bring us back
  for (const auto& [id, run] : runs_) {
    if (run->init_status && run->record.state.phase != RunPhase::kExited) finish(*run);
  }
  end_if_idle();
}

void Shim::collect_one(pid_t pid, int status) {
  for (const auto& [id, run] : runs_) {
    if (run->processes.init == pid && !run->init_status) run->init_status = status;
  }
  for (auto beside = besides_.begin(); beside != besides_.end(); ++beside) {
    if (beside->command.pid != pid) continue;
    end_beside(*beside, status);
    besides_.erase(beside);
    return;
  }
}

// Without a PID namespace the rest of a tree whose init has ended becomes ours. True if there was
// any: it may have made more meanwhile.
bool Shim::kill_orphans() {
  std::set<pid_t> known;
  for (const auto& [id, run] : runs_) {
    if (run->alive()) known.insert(run->processes.init);
  }
  for (const Beside& beside : besides_) {
    const ShimRun& run = *runs_.at(beside.run);
    if (run.alive()) known.insert(beside.command.pid);  // else it must go with its run
  }
  return kill_children_but(known);
}

void Shim::finish(ShimRun& run) {
  if (run.processes.start.valid()) look_at_start(run);
  drain_output(run);
  RunState& state = run.record.state;
  state.exit = exit_of(run, loop_.clock().now());
  state.phase = RunPhase::kExited;
  run.program.groups.remove();
  for (UniqueFd* pipe : {&run.processes.output, &run.processes.errors, &run.processes.start}) {
    close_pipe(*pipe);
  }
  run.processes.report = {};
  run.processes.handle = {};
  run.log.reset();
  record_and_tell(run);
}

Status set_up(const ShimSpec& spec) {
  prctl(PR_SET_NAME, "muster-shim");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  MUSTER_CHECK(spec.cgroups.enter_pod(spec.pod.uid, spec.pod.processes));
  spec.cgroups.deny_devices(spec.pod.uid, spec.pod.denied_devices);
  const int flags =
      (spec.namespaces.uts ? CLONE_NEWUTS : 0) | (spec.namespaces.ipc ? CLONE_NEWIPC : 0);
  if (flags != 0 && unshare(flags) != 0) {
    return errno_error("no namespaces");
  }
  const std::string& name = spec.pod.hostname;
  if (spec.namespaces.uts && !name.empty() && sethostname(name.data(), name.size()) != 0) {
    return errno_error(fmt::format("hostname {}", name));
  }
  return {};
}

// Returns only with an error.
Status serve_pod(const ShimSpec& spec, Journal journal, UniqueFd& agent) {
  MUSTER_CHECK(set_up(spec));
  const auto self = identity_of(getpid());
  if (!self) return fail(Code::kInternal, "no /proc");
  MUSTER_CHECK(journal.add(*self));
  const std::unique_ptr<Loop> loop = make_real_loop();
  Shim shim(*loop, spec, std::move(journal));
  shim.watch_children();
  shim.serve(std::move(agent));
  loop->run();
  return fail(Code::kInternal, "the loop has ended");
}

}  // namespace

std::string shim_socket_name(const std::string& pod_uid) { return pod_uid + ".sock"; }

void run_shim(const ShimSpec& spec, Journal journal, UniqueFd agent) {
  keep_only({journal.fd(), agent.get()});
  const Status ended = serve_pod(spec, std::move(journal), agent);
  json::Arena arena;
  const Value message = Value::object(arena);
  message.set("error", ended.error().message);
  if (agent.valid()) (void)send_message(agent.get(), {json::write(message), {}});
  _exit(1);
}

}  // namespace muster::runtime
