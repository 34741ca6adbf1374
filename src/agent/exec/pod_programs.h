// Programs in the containers of this node's pods, for `kubectl exec` and `attach`: commands through
// the runtime, the output of what runs already through its log.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/logs/guarded_loop.h"
#include "agent/logs/log_reader.h"
#include "base/loop.h"
#include "runtime/runtime.h"
#include "server/program_source.h"

namespace muster::agent {

class PodPrograms final : public server::ProgramSource {
 public:
  // `loop` is the runtime's. Made and destroyed on it, or while it does not run.
  PodPrograms(Loop& loop, LogReader& logs);
  ~PodPrograms() override;

  // The run of the container that has been executed and not exited; nothing if there is none.
  using FindRun = std::function<std::optional<runtime::RunId>(const std::string& pod_uid,
                                                              const std::string& container)>;
  // Both on the loop, or while it does not run. Without a runtime everything is refused.
  // disconnect() comes before the end of the runtime and of the loop: it ends what runs, and
  // nothing is answered any more.
  void connect(runtime::Runtime& runtime, FindRun find_run);
  void disconnect();

  void exec(Wanted wanted, std::shared_ptr<server::ProgramClient> client) override;
  void attach(Wanted wanted, std::shared_ptr<server::ProgramClient> client) override;

 private:
  using CommandId = std::uint64_t;
  struct Command {
    std::shared_ptr<server::ProgramClient> client;
    std::unique_ptr<runtime::Exec> exec;
  };
  class Handle;

  std::optional<runtime::RunId> find(const Wanted& wanted, server::ProgramClient& client) const;
  void start(const Wanted& wanted, const std::shared_ptr<server::ProgramClient>& client);
  void ended(CommandId id, Result<int> exit_code);

  const std::shared_ptr<GuardedLoop> guarded_loop_;
  LogReader& logs_;
  runtime::Runtime* runtime_ = nullptr;
  FindRun find_run_;
  CommandId last_id_ = 0;
  std::map<CommandId, Command> commands_;  // that run; each has a client with a connection
};

}  // namespace muster::agent
