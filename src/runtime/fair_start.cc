#include "runtime/fair_start.h"

#include <algorithm>
#include <utility>

namespace muster::runtime {
namespace {

// What takes longer has other reasons than a lack of processors.
constexpr Duration kPatience = std::chrono::seconds(1);

RunId of_pod(const std::string& uid) { return {.pod_uid = uid, .container = {}, .number = 0}; }

}  // namespace

FairStart::FairStart(Loop& loop, std::unique_ptr<Runtime> runtime, std::size_t at_once)
    : loop_(loop), at_once_(std::max<std::size_t>(at_once, 1)), runtime_(std::move(runtime)) {}

FairStart::~FairStart() {
  for (const auto& [what, timer] : under_way_) loop_.cancel(timer);
}

void FairStart::on_change(std::function<void(const RunState&)> changed) {
  runtime_->on_change([this, changed = std::move(changed)](const RunState& state) {
    changed(state);
    end(state.id);  // after: its pod may have more to start
  });
}

void FairStart::start_pod(const PodSpec& pod, Done done) {
  const std::uint64_t arrival = ++arrivals_;
  if (!places_.try_emplace(pod.uid, pod.group, arrival).second)
    return done(fail(Code::kConflict, "the pod is being started already"));
  waiting_[pod.group].emplace(arrival, Waiting{pod, std::move(done)});
  next();
}

void FairStart::start(const std::string& pod_uid, const RunSpec& run, Done done) {
  const RunId id{pod_uid, run.container, run.number};
  begin(id);
  runtime_->start(pod_uid, run, [this, id, done = std::move(done)](Status started) mutable {
    const bool failed = !started;
    done(std::move(started));
    if (failed) end(id);
  });
}

// One that still waits never comes.
void FairStart::remove_pod(const std::string& pod_uid, Done done) {
  if (const auto place = places_.extract(pod_uid); !place.empty()) {
    const auto& [group, arrival] = place.mapped();
    const auto line = waiting_.find(group);
    const auto waiting = line->second.extract(arrival);
    if (line->second.empty()) waiting_.erase(line);
    waiting.mapped().done(fail(Code::kConflict, "the pod is being removed"));
  }
  runtime_->remove_pod(pod_uid, std::move(done));
}

std::unique_ptr<Exec> FairStart::exec(const ExecSpec& spec, ExecEvents events) {
  return runtime_->exec(spec, std::move(events));
}

void FairStart::adopt(std::function<void(std::vector<Adopted>)> done) {
  runtime_->adopt(std::move(done));
}

void FairStart::begin(const RunId& what) {
  const auto [turn, fresh] = under_way_.try_emplace(what, TimerId::kNone);
  if (fresh) turn->second = loop_.after(kPatience, [this, what] { end(what); });
}

void FairStart::end(const RunId& what) {
  const auto turn = under_way_.find(what);
  if (turn == under_way_.end()) return;
  loop_.cancel(turn->second);
  under_way_.erase(turn);
  next();
}

// The oldest of the group after the one that had the last turn.
FairStart::Waiting FairStart::take_first() {
  auto line = waiting_.upper_bound(last_group_);
  if (line == waiting_.end()) line = waiting_.begin();
  last_group_ = line->first;
  Waiting first = std::move(line->second.begin()->second);
  line->second.erase(line->second.begin());
  if (line->second.empty()) waiting_.erase(line);
  places_.erase(first.pod.uid);
  return first;
}

void FairStart::next() {
  while (!waiting_.empty() && under_way_.size() < at_once_) {
    Waiting first = take_first();
    const RunId pod = of_pod(first.pod.uid);
    begin(pod);
    runtime_->start_pod(first.pod, [this, pod, done = std::move(first.done)](Status made) mutable {
      done(std::move(made));
      end(pod);
    });
  }
}

}  // namespace muster::runtime
