// The keeper of a runtime directory: makes shims, collects what dies, and knows which pods there
// are. It holds no state that is not on disk too, so it may be killed and started again.
//
//   <directory>/keeper.lock, keeper.sock    one keeper at a time, and where it is reached
//   <directory>/pods/<uid>.journal          a pod that was started and not removed (journal.h)
//   <directory>/pods/<uid>.sock             where its shim is reached by later agents (shim.h)
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>

#include "base/loop.h"
#include "base/rng.h"
#include "base/unique_fd.h"
#include "json/value.h"
#include "runtime/cgroups.h"
#include "runtime/channel.h"
#include "runtime/file_recycler.h"
#include "runtime/isolation.h"
#include "runtime/journal.h"

namespace muster::runtime {

inline constexpr const char* kKeeperSocket = "keeper.sock";
inline constexpr const char* kKeeperLock = "keeper.lock";
std::string pods_folder(const std::string& directory);

class Keeper {
 public:
  // `lock` is the file of that name in the directory, held.
  Keeper(Loop& loop, std::string directory, UniqueFd lock, Isolation isolation, Cgroups cgroups);

  // Finds the pods of an earlier keeper, then serves until there is no process and no agent.
  Status start();

 private:
  using Agent = std::unique_ptr<Channel>;
  enum class State { kAlive, kDying, kDead };
  struct Pod {
    PodSpec spec;
    State state = State::kAlive;
    UniqueFd shim;  // valid while it is alive
    pid_t shim_pid = 0;
    std::map<int, UniqueFd> dying;  // inits that outlived the shim, by descriptor
    bool removing = false;
  };

  Status load();
  void remove_stray_sockets();
  void serve(UniqueFd socket);
  void lose(const Agent& agent);
  void handle(const Agent& from, Message message);
  void start_pod(const PodSpec& spec, UniqueFd agent);
  Status make_shim(const PodSpec& spec, UniqueFd agent);
  void watch_shim(const std::string& uid);
  void remove(const Agent& from, const std::string& uid);
  void end_pod(const std::string& uid);
  void bury(const std::string& uid);
  void finish_burial(const std::string& uid);
  void forget(const std::string& uid);
  void collect();
  bool orphans_are_possible() const;
  bool kill_orphans();
  json::Value list(json::Arena& arena) const;
  void tell(std::string_view what, const std::string& uid);
  void end_if_idle();
  void end_all();
  void watch_directory();
  void check_directory();

  Loop& loop_;
  const std::string directory_;
  const std::string pods_folder_;
  const UniqueFd lock_;
  const Isolation isolation_;
  const Cgroups cgroups_;
  std::optional<FileRecycler> spares_;  // for journals
  Rng rng_ = Rng::from_system();
  UniqueFd listener_;
  UniqueFd signals_;
  UniqueFd deletions_;  // tells when our directory goes
  bool records_deleted_ = false;
  bool asked_to_end_ = false;
  std::list<Agent> agents_;
  bool had_agent_ = false;
  bool end_with_agent_ = false;
  std::map<std::string, Pod> pods_;
};

}  // namespace muster::runtime
