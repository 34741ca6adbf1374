// Agent: what an earlier agent left behind whose pod is gone.
#include <signal.h>

#include <filesystem>

#include "agent/agent.h"
#include "base/log.h"

namespace muster::agent {
namespace {

std::set<runtime::RunId> runs_alive(const runtime::Runtime::Adopted& pod) {
  std::set<runtime::RunId> alive;
  for (const runtime::RunState& run : pod.runs) {
    if (run.phase != runtime::RunPhase::kExited) alive.insert(run.id);
  }
  return alive;
}

}  // namespace

void Agent::end_orphans() {
  for (const auto& [uid, pod] : *adopted_) end_orphan(pod);
  adopted_->clear();
}

// SIGTERM, and SIGKILL for those that do not listen.
void Agent::end_orphan(const runtime::Runtime::Adopted& orphan) {
  const std::string& uid = orphan.pod.uid;
  log::info("ending processes of a pod that is gone", {{"uid", uid}});
  const std::set<runtime::RunId>& alive = orphans_[uid] = runs_alive(orphan);
  for (const runtime::RunId& run : alive) runtime_.signal(run, SIGTERM);
  if (alive.empty()) return orphan_run_ended({.pod_uid = uid, .container = {}, .number = 0});
  client_.loop().after(kLeastGrace, lifetime_.guard([this, uid] {
    if (!orphans_.contains(uid)) return;
    for (const runtime::RunId& run : orphans_.at(uid)) runtime_.kill(run);
  }));
}

void Agent::orphan_run_ended(const runtime::RunId& run) {
  const auto orphan = orphans_.find(run.pod_uid);
  if (orphan == orphans_.end()) return;
  orphan->second.erase(run);
  if (!orphan->second.empty()) return;
  orphans_.erase(orphan);
  ++removals_;
  runtime_.remove_pod(run.pod_uid, lifetime_.guard([this,
                                                    uid = run.pod_uid](const Status& removed) {
    --removals_;
    if (removed) {
      messages_.discard(uid);
      disposal_.remove_pod(paths_.pod(uid));
    } else {
      log::warn("cannot clean up after a pod", {{"uid", uid}, {"error", removed.error().message}});
    }
    tell_if_all_is_gone();
  }));
}

void Agent::kill_everything(Task done) {
  closing_ = true;
  when_all_is_gone_ = std::move(done);
  wanted_by_.clear();
  if (adopted_) {
    for (const auto& [uid, pod] : *adopted_) orphans_[uid] = runs_alive(pod);
    adopted_->clear();
  }
  std::vector<std::string> idle;
  for (const auto& [uid, driver] : std::exchange(drivers_, {})) {
    const auto runs = driver->alive_runs();
    orphans_[uid].insert(runs.begin(), runs.end());
  }
  for (const auto& [uid, runs] : orphans_) {
    for (const runtime::RunId& run : runs) runtime_.kill(run);
    if (runs.empty()) idle.push_back(uid);
  }
  for (const std::string& uid : idle)
    orphan_run_ended({.pod_uid = uid, .container = {}, .number = 0});
  tell_if_all_is_gone();
}

void Agent::tell_if_all_is_gone() {
  if (when_all_is_gone_ && orphans_.empty() && removals_ == 0)
    std::exchange(when_all_is_gone_, nullptr)();
}

// Of pods and claims that went while no agent was there. They are chosen now and not by the thread
// that removes them: what is made meanwhile stays.
void Agent::remove_unknown_folders() {
  std::set<std::string> known;
  for (const auto& [key, pod] : pods_.objects()) known.insert(pod->meta().uid);
  for (const auto& [uid, runs] : orphans_) known.insert(uid);
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(paths_.pods(), none)) {
    if (!known.contains(entry.path().filename())) disposal_.remove_pod(entry.path());
  }
  for (const auto& entry : std::filesystem::directory_iterator(paths_.logs(), none)) {
    const std::string name = entry.path().filename();
    const std::size_t before_uid = name.rfind('_');
    if (before_uid != std::string::npos && !known.contains(name.substr(before_uid + 1)))
      disposal_.remove_logs(entry.path());
  }
  for (const std::string& folder : data_of_other_claims(paths_.claims(), objects_.claim_uids()))
    disposal_.remove_claim(folder);
}

}  // namespace muster::agent
