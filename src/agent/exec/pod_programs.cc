#include "agent/exec/pod_programs.h"

#include "server/errors.h"

namespace muster::agent {

// The server's hold on a command: everything happens on the loop.
class PodPrograms::Handle final : public server::Program {
 public:
  Handle(PodPrograms& programs, CommandId id)
      : programs_(programs), guarded_loop_(programs.guarded_loop_), id_(id) {}
  ~Handle() override {
    guarded_loop_->post([programs = &programs_, id = id_] { programs->commands_.erase(id); });
  }

  void input(std::string bytes) override {
    on_command([bytes = std::move(bytes)](Command& command) { command.exec->input(bytes); });
  }
  void end_input() override {
    on_command([](Command& command) { command.exec->end_input(); });
  }
  void resize(int columns, int rows) override {
    on_command([=](Command& command) { command.exec->resize(columns, rows); });
  }
  void hold_output(bool hold) override {
    on_command([hold](Command& command) { command.exec->pause_output(hold); });
  }

 private:
  template <class Action>
  void on_command(Action action) {
    guarded_loop_->post([programs = &programs_, id = id_, action = std::move(action)] {
      const auto found = programs->commands_.find(id);
      if (found != programs->commands_.end()) action(found->second);
    });
  }

  PodPrograms& programs_;  // there while the guard is open
  const std::shared_ptr<GuardedLoop> guarded_loop_;
  const CommandId id_;
};

PodPrograms::PodPrograms(Loop& loop, LogReader& logs)
    : guarded_loop_(std::make_shared<GuardedLoop>(loop)), logs_(logs) {}

PodPrograms::~PodPrograms() { guarded_loop_->shut(); }

void PodPrograms::connect(runtime::Runtime& runtime, FindRun find_run) {
  runtime_ = &runtime;
  find_run_ = std::move(find_run);
}

void PodPrograms::disconnect() {
  guarded_loop_->shut();
  runtime_ = nullptr;
  find_run_ = nullptr;
  const auto running = std::exchange(commands_, {});
  for (const auto& [id, command] : running)
    command.client->end(fail(Code::kUnavailable, "the node agent stops"));
}

void PodPrograms::exec(Wanted wanted, std::shared_ptr<server::ProgramClient> client) {
  guarded_loop_->post(
      [this, wanted = std::move(wanted), client = std::move(client)] { start(wanted, client); });
}

void PodPrograms::attach(Wanted wanted, std::shared_ptr<server::ProgramClient> client) {
  guarded_loop_->post([this, wanted = std::move(wanted), client = std::move(client)] {
    const auto run = find(wanted, *client);
    if (!run) return;
    logs_.attach({wanted.ns, wanted.pod, wanted.uid, wanted.container, run->number}, client);
  });
}

// Refuses if there is none.
std::optional<runtime::RunId> PodPrograms::find(const Wanted& wanted,
                                                server::ProgramClient& client) const {
  const auto run = find_run_ ? find_run_(wanted.uid, wanted.container) : std::nullopt;
  if (!run) {
    client.refuse(server::container_not_found(wanted.container));
  }
  return run;
}

void PodPrograms::start(const Wanted& wanted,
                        const std::shared_ptr<server::ProgramClient>& client) {
  const auto run = find(wanted, *client);
  if (!run) return;
  const CommandId id = ++last_id_;
  client->begin(std::make_shared<Handle>(*this, id));
  runtime::ExecEvents events;
  events.output = [client](bool is_error, std::string_view bytes) {
    client->output(is_error, bytes);
  };
  events.input_taken = [client](std::size_t bytes) { client->input_taken(bytes); };
  events.end = [this, id](Result<int> exit_code) { ended(id, std::move(exit_code)); };
  // In its place first: a client that has gone already takes it away again.
  Command& command = commands_[id];
  command.client = client;
  command.exec = runtime_->exec(
      {.run = *run, .argv = wanted.command, .tty = wanted.tty, .with_input = wanted.input},
      std::move(events));
}

void PodPrograms::ended(CommandId id, Result<int> exit_code) {
  const auto command = commands_.extract(id);
  if (!command.empty()) command.mapped().client->end(std::move(exit_code));
}

}  // namespace muster::agent
