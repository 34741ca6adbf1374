#include "runtime/fake_runtime.h"

#include <csignal>

#include "base/lifetime.h"
#include "runtime/gate.h"

namespace muster::runtime {

struct FakeMachine::State {
  explicit State(Loop& on) : loop(on) {}

  void tell(const Run& run);
  void execute(const RunId& id);
  void end(const RunId& id, Exit exit);
  void signal(const RunId& id, int number);
  void print(std::size_t command, bool is_error, std::string bytes);
  void end_command(std::size_t command, Result<int> exit_code);
  Run* find(const RunId& id);

  Loop& loop;
  std::map<std::string, Pod> pods;
  std::function<FakeProgram(const RunSpec&)> programs;
  std::function<FakeCommand(const ExecSpec&)> commands;
  Connection* connection = nullptr;  // the one that is told
  std::vector<Command> executed;
  std::vector<std::weak_ptr<ExecEvents>> listeners;  // of `executed`
  std::uint64_t ids = 0;
  Lifetime lifetime;
};

// Whoever holds the events is the one who listens: they go with the Exec.
class FakeMachine::FakeExec final : public Exec {
 public:
  FakeExec(State& machine, std::size_t index, std::shared_ptr<ExecEvents> events)
      : machine_(machine),
        machine_watch_(machine.lifetime.watch()),
        index_(index),
        events_(std::move(events)) {}
  ~FakeExec() override {
    if (Command* command = self()) command->hung_up = command->open;
  }
  void input(std::string_view bytes) override {
    if (Command* command = self()) command->input += bytes;
  }
  void end_input() override {}
  void resize(int, int) override {}
  void pause_output(bool) override {}
  void kill() override {
    Command* command = self();
    if (command == nullptr || !command->open) return;
    command->killed = true;
    machine_.end_command(index_, 128 + SIGKILL);
  }

 private:
  Command* self() { return machine_watch_.ended() ? nullptr : &machine_.executed[index_]; }

  State& machine_;
  const Lifetime::Watch machine_watch_;
  const std::size_t index_;
  const std::shared_ptr<ExecEvents> events_;
};

class FakeMachine::Connection final : public Runtime {
 public:
  explicit Connection(State& machine) : machine_(machine) { machine_.connection = this; }
  ~Connection() override {
    if (machine_.connection == this) machine_.connection = nullptr;
  }

  void on_change(std::function<void(const RunState&)> changed) override {
    changed_ = std::move(changed);
  }

  void start_pod(const PodSpec& pod, Done done) override {
    machine_.pods.try_emplace(pod.uid, Pod{pod, {}});
    later(std::move(done), {});
  }

  void start(const std::string& pod_uid, const RunSpec& spec, Done done) override {
    const auto pod = machine_.pods.find(pod_uid);
    if (pod == machine_.pods.end()) {
      return later(std::move(done), fail(Code::kNotFound, "no such pod: " + pod_uid));
    }
    const RunId id{pod_uid, spec.container, spec.number};
    Run run{.spec = spec, .state = {.id = id}, .program = {}, .signals = {}};
    run.state.container_id = fmt::format("{:064x}", ++machine_.ids);
    run.state.phase = RunPhase::kHeld;
    if (!pod->second.runs.try_emplace(id, std::move(run)).second) return later(std::move(done), {});
    later(std::move(done), {});
    machine_.loop.post(machine_.lifetime.guard([&machine = machine_, id] {
      const Run* known = machine.find(id);
      if (known == nullptr || known->state.phase != RunPhase::kHeld) return;
      if (known->spec.gate.empty() || gate_is_open(known->spec.gate)) return machine.execute(id);
      machine.tell(*known);
    }));
  }

  void signal(const RunId& run, int number) override { machine_.signal(run, number); }
  void kill(const RunId& run) override { machine_.signal(run, SIGKILL); }

  void remove_pod(const std::string& pod_uid, Done done) override {
    const auto pod = machine_.pods.find(pod_uid);
    if (pod != machine_.pods.end()) {
      for (const auto& [id, run] : pod->second.runs) {
        if (run.state.phase == RunPhase::kExited) continue;
        return later(std::move(done),
                     fail(Code::kConflict, "container " + id.container + " has not exited"));
      }
      machine_.pods.erase(pod);
    }
    later(std::move(done), {});
  }

  std::unique_ptr<Exec> exec(const ExecSpec& spec, ExecEvents events) override {
    const Run* run = machine_.find(spec.run);
    FakeCommand command;
    if (run == nullptr || run->state.phase != RunPhase::kRunning) {
      command.exit_code =
          fail(Code::kInternal, fmt::format("container not found (\"{}\")", spec.run.container));
    } else if (machine_.commands) {
      command = machine_.commands(spec);
    }
    const std::size_t index = machine_.executed.size();
    auto listener = std::make_shared<ExecEvents>(std::move(events));
    machine_.executed.push_back({.spec = spec});
    machine_.listeners.push_back(listener);
    if (command.lasts) {
      machine_.loop.after(*command.lasts,
                          machine_.lifetime.guard([&machine = machine_, index, command] {
                            if (!command.output.empty())
                              machine.print(index, false, command.output);
                            machine.end_command(index, command.exit_code);
                          }));
    }
    return std::make_unique<FakeExec>(machine_, index, std::move(listener));
  }

  void adopt(std::function<void(std::vector<Adopted>)> done) override {
    std::vector<Adopted> adopted;
    for (const auto& [uid, pod] : machine_.pods) {
      Adopted& one = adopted.emplace_back(Adopted{pod.spec, {}});
      for (const auto& [id, run] : pod.runs) one.runs.push_back(run.state);
    }
    machine_.loop.post(
        lifetime_.guard([done = std::move(done), adopted = std::move(adopted)] { done(adopted); }));
  }

  const std::vector<Ability>& abilities() const override { return abilities_; }

  void changed(const RunState& state) const {
    machine_.loop.post(lifetime_.guard([this, state] {
      if (changed_) changed_(state);
    }));
  }

 private:
  void later(Done done, Status status) {
    machine_.loop.post(
        lifetime_.guard([done = std::move(done), status = std::move(status)]() mutable {
          done(std::move(status));
        }));
  }

  State& machine_;
  std::function<void(const RunState&)> changed_;
  std::vector<Ability> abilities_;
  Lifetime lifetime_;
};

void FakeMachine::State::tell(const Run& run) {
  if (connection != nullptr) connection->changed(run.state);
}

void FakeMachine::State::execute(const RunId& id) {
  Run& run = *find(id);
  if (programs) run.program = programs(run.spec);
  if (!run.program.start_error.empty()) {
    return end(id, Exit{.code = kStartErrorCode, .start_error = run.program.start_error});
  }
  run.state.phase = RunPhase::kRunning;
  run.state.started = loop.clock().now();
  tell(run);
  if (!run.program.lasts) return;
  loop.after(*run.program.lasts,
             lifetime.guard([this, id, exit = run.program.exit] { end(id, exit); }));
}

void FakeMachine::State::end(const RunId& id, Exit exit) {
  Run* run = find(id);
  if (run == nullptr || run->state.phase == RunPhase::kExited) return;
  exit.finished = loop.clock().now();
  run->state.phase = RunPhase::kExited;
  run->state.exit = std::move(exit);
  tell(*run);
}

void FakeMachine::State::signal(const RunId& id, int number) {
  Run* run = find(id);
  if (run == nullptr || run->state.phase == RunPhase::kExited) return;
  run->signals.push_back(number);
  const bool deadly = number == SIGKILL || (number == SIGTERM && run->program.ends_on_sigterm);
  if (deadly) end(id, Exit{.code = 128 + number, .signal = number});
}

void FakeMachine::State::print(std::size_t command, bool is_error, std::string bytes) {
  loop.post([listener = listeners[command], is_error, bytes = std::move(bytes)] {
    const auto events = listener.lock();
    if (events && events->output) events->output(is_error, bytes);
  });
}

void FakeMachine::State::end_command(std::size_t command, Result<int> exit_code) {
  if (!executed[command].open) return;
  executed[command].open = false;
  loop.post([listener = listeners[command], exit_code = std::move(exit_code)] {
    const auto events = listener.lock();
    if (events && events->end) events->end(exit_code);
  });
}

FakeMachine::Run* FakeMachine::State::find(const RunId& id) {
  const auto pod = pods.find(id.pod_uid);
  if (pod == pods.end()) return nullptr;
  const auto run = pod->second.runs.find(id);
  return run == pod->second.runs.end() ? nullptr : &run->second;
}

FakeMachine::FakeMachine(Loop& loop) : state_(std::make_unique<State>(loop)) {}
FakeMachine::~FakeMachine() = default;

std::unique_ptr<Runtime> FakeMachine::connect() { return std::make_unique<Connection>(*state_); }

void FakeMachine::set_programs(std::function<FakeProgram(const RunSpec&)> programs) {
  state_->programs = std::move(programs);
}

void FakeMachine::set_commands(std::function<FakeCommand(const ExecSpec&)> commands) {
  state_->commands = std::move(commands);
}

void FakeMachine::end(const RunId& run, Exit exit) { state_->end(run, std::move(exit)); }

const std::vector<FakeMachine::Command>& FakeMachine::commands() const { return state_->executed; }

void FakeMachine::print(std::size_t command, bool is_error, std::string bytes) {
  state_->print(command, is_error, std::move(bytes));
}

void FakeMachine::end(std::size_t command, Result<int> exit_code) {
  state_->end_command(command, std::move(exit_code));
}

void FakeMachine::look_at_gates() {
  for (auto& [uid, pod] : state_->pods) {
    for (auto& [id, run] : pod.runs) {
      const bool held = run.state.phase == RunPhase::kHeld;
      if (held && gate_is_open(run.spec.gate)) state_->execute(id);
    }
  }
}

const std::map<std::string, FakeMachine::Pod>& FakeMachine::pods() const { return state_->pods; }

const FakeMachine::Run* FakeMachine::find(const RunId& run) const { return state_->find(run); }

}  // namespace muster::runtime
