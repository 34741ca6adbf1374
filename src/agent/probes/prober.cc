#include "agent/probes/prober.h"

#include <array>
#include <map>

#include "agent/probes/handlers.h"
#include "agent/probes/rules.h"
#include "base/stable_hash.h"

namespace muster::agent {
namespace {

using runtime::RunId;

constexpr std::array<std::pair<ProbeKind, std::string_view>, 3> kKinds = {
    std::pair(ProbeKind::kStartup, "startupProbe"),
    std::pair(ProbeKind::kReadiness, "readinessProbe"),
    std::pair(ProbeKind::kLiveness, "livenessProbe")};

// A moment within a period that is the same for a run whenever it is asked for, and differs from
// run to run: agents that start with a hundred pods do not probe them all at once.
Duration spread_of(const RunId& run, std::chrono::seconds period) {
  const std::uint64_t hash = stable_hash(run.container, stable_hash(run.pod_uid));
  const auto span = static_cast<std::uint64_t>(Duration(period).count());
  return Duration(static_cast<std::int64_t>(hash % span));
}

class ProberImpl final : public Prober {
 public:
  ProberImpl(Loop& loop, std::unique_ptr<Handlers> handlers, ProbeEvents events)
      : loop_(loop), events_(std::move(events)), handlers_(std::move(handlers)) {}
  ~ProberImpl() override {
    while (!runs_.empty()) remove(RunId(runs_.begin()->first));
  }

  void add(const ProbeTarget& target) override;
  void remove(const RunId& id) override;
  void only_readiness(const std::string& pod_uid) override;
  std::unique_ptr<Attempt> http_hook(json::Value http_get, const ProbeTarget& target,
                                     Duration timeout, HookDone done) override {
    return handlers_->start_hook(http_get, target, timeout, std::move(done));
  }

 private:
  struct Worker {
    json::Value probe;
    ProbeRules rules;
    TimerId timer = TimerId::kNone;
    std::unique_ptr<Attempt> attempt;
  };
  struct Run {
    json::Arena arena;
    ProbeTarget target;
    bool started = false;
    std::map<ProbeKind, Worker> workers;
  };

  void schedule(Run& run, ProbeKind kind);
  void tick(Run& run, ProbeKind kind);
  void execute(Run& run, ProbeKind kind);
  void take(Run& run, ProbeKind kind, const ProbeOutcome& outcome);
  void end_worker(Run& run, ProbeKind kind);

  Loop& loop_;
  const ProbeEvents events_;
  const std::unique_ptr<Handlers> handlers_;
  std::map<RunId, std::unique_ptr<Run>> runs_;  // gone before what their attempts use
};

void ProberImpl::add(const ProbeTarget& target) {
  remove(target.run);
  auto run = std::make_unique<Run>();
  run->target = target;
  run->target.container = json::clone(run->arena, target.container);
  const json::Value container = run->target.container;
  run->started = target.was_started || !container.get("startupProbe").is_object();
  for (const auto& [kind, name] : kKinds) {
    const json::Value probe = container.get(name);
    if (!probe.is_object() || (kind == ProbeKind::kStartup && run->started)) continue;
    const ProbeSettings settings = probe_settings(probe);
    const ProbeRules rules(kind, settings,
                           {.now = loop_.clock().now(),
                            .container_started = target.started,
                            .adopted = target.was_started,
                            .spread = spread_of(target.run, settings.period),
                            .was_ready = target.was_ready});
    run->workers.emplace(kind, Worker{.probe = probe, .rules = rules});
  }
  if (run->workers.empty()) return;
  Run& added = *runs_.emplace(target.run, std::move(run)).first->second;
  for (const auto& [kind, name] : kKinds) schedule(added, kind);
}

void ProberImpl::remove(const RunId& id) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) return;
  for (const auto& [kind, name] : kKinds) end_worker(*found->second, kind);
  runs_.erase(found);
}

void ProberImpl::only_readiness(const std::string& pod_uid) {
  for (auto& [id, run] : runs_) {
    if (id.pod_uid != pod_uid) continue;
    end_worker(*run, ProbeKind::kStartup);
    end_worker(*run, ProbeKind::kLiveness);
  }
}

void ProberImpl::end_worker(Run& run, ProbeKind kind) {
  const auto worker = run.workers.find(kind);
  if (worker == run.workers.end()) return;
  loop_.cancel(worker->second.timer);
  run.workers.erase(worker);
}

// A worker waits for its tick, or for the outcome of its attempt.
void ProberImpl::schedule(Run& run, ProbeKind kind) {
  const auto worker = run.workers.find(kind);
  if (worker == run.workers.end() || worker->second.attempt) return;
  loop_.cancel(worker->second.timer);
  const std::optional<Time> next = worker->second.rules.next_tick();
  if (!next) return;
  worker->second.timer =
      loop_.after(*next - loop_.clock().now(), [this, &run, kind] { tick(run, kind); });
}

void ProberImpl::tick(Run& run, ProbeKind kind) {
  if (!run.workers.at(kind).rules.tick(loop_.clock().now(), run.started)) {
    return schedule(run, kind);
  }
  execute(run, kind);
}

void ProberImpl::execute(Run& run, ProbeKind kind) {
  Worker& worker = run.workers.at(kind);
  worker.attempt = handlers_->start(
      run.target, worker.probe,
      [this, &run, kind](const ProbeOutcome& outcome) { take(run, kind, outcome); });
}

void ProberImpl::take(Run& run, ProbeKind kind, const ProbeOutcome& outcome) {
  Worker& worker = run.workers.at(kind);
  worker.attempt.reset();
  const ProbeReaction reaction = worker.rules.take(outcome);
  if (reaction.try_again) return execute(run, kind);
  if (kind == ProbeKind::kStartup && reaction.verdict == true) {
    run.started = true;
    if (const auto readiness = run.workers.find(ProbeKind::kReadiness);
        readiness != run.workers.end()) {
      readiness->second.rules.look_now(loop_.clock().now());
      schedule(run, ProbeKind::kReadiness);
    }
  }
  schedule(run, kind);
  // Last: whoever is told may remove the run.
  const RunId id = run.target.run;
  if (!reaction.event_message.empty()) {
    events_.event(id, reaction.event_reason, reaction.event_message);
  }
  if (reaction.verdict) events_.verdict(id, kind, *reaction.verdict);
}

}  // namespace

std::unique_ptr<Prober> make_prober(Loop& loop, std::unique_ptr<Handlers> handlers,
                                    ProbeEvents events) {
  return std::make_unique<ProberImpl>(loop, std::move(handlers), std::move(events));
}

std::unique_ptr<Prober> Prober::make(Loop& loop, runtime::Runtime& runtime, ProbeEvents events) {
  return make_prober(loop, make_handlers(loop, runtime), std::move(events));
}

}  // namespace muster::agent
