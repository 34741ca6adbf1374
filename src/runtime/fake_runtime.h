// A machine whose processes are data, for tests in real or virtual time: the test decides how each
// run goes, by a script or run by run. The machine outlives the runtimes that are connected to it,
// as the real one does, so that an agent can die and adopt.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/loop.h"
#include "runtime/runtime.h"

namespace muster::runtime {

// How a program behaves if nobody interferes.
struct FakeProgram {
  std::optional<Duration> lasts;  // empty: until the test or a signal ends it
  Exit exit;                      // how it ends then; `finished` is filled in
  bool ends_on_sigterm = true;    // false: only kill() ends it
  std::string start_error;        // not empty: it cannot be started
};

// How a command of Runtime::exec behaves.
struct FakeCommand {
  std::string output;
  std::optional<Duration> lasts = Duration::zero();  // empty: until the test or kill() ends it
  Result<int> exit_code = 0;
};

class FakeMachine {
 public:
  explicit FakeMachine(Loop& loop);
  ~FakeMachine();
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  // Events go to the runtime connected last. It must not outlive the machine.
  std::unique_ptr<Runtime> connect();

  // Asked when a run is executed (after its gate) or a command is; without an answer of the test
  // programs run until they are ended, and commands succeed at once.
  void set_programs(std::function<FakeProgram(const RunSpec&)> programs);
  void set_commands(std::function<FakeCommand(const ExecSpec&)> commands);

  void end(const RunId& run, Exit exit);  // `finished` is filled in; nothing if it has ended
  void look_at_gates();                   // executes the held runs whose gates are open by now

  // Commands that runtimes were asked to execute, in order; `open` while nobody has heard the end.
  struct Command {
    ExecSpec spec;
    std::string input;  // so far
    bool open = true;
    bool killed = false;
    bool hung_up = false;  // the Exec was destroyed before its end
  };
  const std::vector<Command>& commands() const;
  void print(std::size_t command, bool is_error, std::string bytes);
  void end(std::size_t command, Result<int> exit_code);

  struct Run {
    RunSpec spec;
    RunState state;
    FakeProgram program;
    std::vector<int> signals;  // all that it got, in order; kill() is SIGKILL
  };
  struct Pod {
    PodSpec spec;
    std::map<RunId, Run> runs;
  };
  const std::map<std::string, Pod>& pods() const;  // by uid
  const Run* find(const RunId& run) const;         // null if there was no such run

 private:
  class Connection;
  class FakeExec;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace muster::runtime
