// The agent's side of the process runtime: one channel to the keeper, one to each pod's shim.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "json/value.h"
#include "runtime/channel.h"
#include "runtime/exec_link.h"
#include "runtime/keeper_link.h"
#include "runtime/runtime.h"

namespace muster::runtime {

class ProcessRuntime final : public Runtime {
 public:
  ProcessRuntime(Loop& loop, RuntimeOptions options, std::string server_directory, KeeperLink link);
  ~ProcessRuntime() override = default;

  void on_change(std::function<void(const RunState&)> changed) override;
  void start_pod(const PodSpec& pod, Done done) override;
  void start(const std::string& pod_uid, const RunSpec& run, Done done) override;
  void signal(const RunId& run, int number) override;
  void kill(const RunId& run) override;
  void remove_pod(const std::string& pod_uid, Done done) override;
  std::unique_ptr<Exec> exec(const ExecSpec& spec, ExecEvents events) override;
  void adopt(std::function<void(std::vector<Adopted>)> done) override;
  const std::vector<Ability>& abilities() const override { return abilities_; }

  // For Exec objects, which may outlive this.
  void drop_exec(const std::string& pod_uid, std::int64_t id);
  void kill_exec(const std::string& pod_uid, std::int64_t id);

 private:
  struct Request {
    std::string text;
    Done done;
  };
  struct Pod {
    PodSpec spec;
    std::unique_ptr<Channel> shim;    // null while there is none
    int failures = 0;                 // in a row, to get one
    Duration retry{};                 // until the next try to reach the one that is there
    std::vector<std::string> unsent;  // signals, for when it is reached
    bool asking = false;              // another try to get one is due
    bool greeted = false;             // the shim has told its runs
    bool reachable = false;           // there is one, whom we may have to reach yet
    std::map<RunId, RunState> runs;
    std::vector<Done> starting;
    std::map<std::int64_t, Request> requests;  // without an answer yet
    std::map<std::int64_t, ExecLink*> execs;
    std::vector<Done> removals;
  };

  void use_keeper(KeeperLink link);
  void reach_keeper_again();
  void keeper_says(const Message& message);
  void take_list(json::Value pods);
  void ask_for_shim(Pod& pod);
  void connect_to_shim(const std::string& uid);
  void adopt_the_silent();
  void use_shim(Pod& pod, UniqueFd socket);
  void shim_says(const std::string& uid, const Message& message);
  void shim_greets(const std::string& uid, json::Value runs);
  void shim_is_gone(const std::string& uid, const std::string& why);
  bool ask_again_later(Pod& pod);
  void end_execs(const std::string& uid, const std::string& why);
  void tell_exec(const Pod& pod, std::string_view op, std::int64_t id,
                 std::optional<int> signal = std::nullopt);
  void end_exec(Pod& pod, json::Value message);
  void read_records(const std::string& uid);
  void apply(Pod& pod, const RunState& state);
  void settle(const std::string& uid);
  void tell_keeper(std::string_view op, const std::string& uid);
  void finish_removal(const std::string& uid);
  void later(Done done, Status status);

  Loop& loop_;
  const RuntimeOptions options_;
  const std::string server_directory_;
  std::vector<Ability> abilities_;
  std::unique_ptr<Channel> keeper_;
  std::function<void(const RunState&)> changed_;
  std::map<std::string, Pod> pods_;
  std::int64_t last_id_ = 0;
  // While adopting: whom to tell, and which pods are not known yet. Their runs are not told singly.
  std::function<void(std::vector<Adopted>)> adopted_;
  bool listed_ = false;
  std::set<std::string> unsettled_;
  Lifetime lifetime_;
};

}  // namespace muster::runtime
