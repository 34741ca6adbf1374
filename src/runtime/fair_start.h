// New pods wait while enough is being started: pods that have begun get where they are going first.
//
// When hundreds start at once, all would otherwise be half done for long, and a gang's last pod
// would find the processors busy with preparations of the others.
//
// Groups of pods (JobSets) take turns: a pod does not wait for a thousand of another group that
// came before it, only for one of each group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/loop.h"
#include "runtime/runtime.h"

namespace muster::runtime {

class FairStart final : public Runtime {
 public:
  // `at_once`: pods and runs that are being started, before the next pod has its turn.
  FairStart(Loop& loop, std::unique_ptr<Runtime> runtime, std::size_t at_once);
  ~FairStart() override;

  void on_change(std::function<void(const RunState&)> changed) override;
  void start_pod(const PodSpec& pod, Done done) override;
  void start(const std::string& pod_uid, const RunSpec& run, Done done) override;
  void signal(const RunId& run, int number) override { runtime_->signal(run, number); }
  void kill(const RunId& run) override { runtime_->kill(run); }
  void remove_pod(const std::string& pod_uid, Done done) override;
  std::unique_ptr<Exec> exec(const ExecSpec& spec, ExecEvents events) override;
  void adopt(std::function<void(std::vector<Adopted>)> done) override;
  const std::vector<Ability>& abilities() const override { return runtime_->abilities(); }

 private:
  // Of a run, or of a pod (then without a container).
  void begin(const RunId& what);
  void end(const RunId& what);
  void next();

  struct Waiting {
    PodSpec pod;
    Done done;
  };
  Waiting take_first();

  Loop& loop_;
  const std::size_t at_once_;
  // By group, and within it in the order of arrival. No group without pods is kept.
  std::map<std::string, std::map<std::uint64_t, Waiting>> waiting_;
  std::string last_group_;  // that had its turn
  std::uint64_t arrivals_ = 0;
  // Where a pod waits, by its uid: a pod that is removed is found without a search.
  std::map<std::string, std::pair<std::string, std::uint64_t>> places_;
  std::map<RunId, TimerId> under_way_;      // until the timer rings, at most
  const std::unique_ptr<Runtime> runtime_;  // its last answers still find the others
};

}  // namespace muster::runtime
