#include "controllers/runtime/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/thread_time.h"
#include "json/parse.h"

namespace muster::controllers {
namespace {

// Not fmt::format: the pattern holds foreign text.
std::string fill(std::string pattern, std::string_view text) {
  const auto at = pattern.find("{}");
  return at == std::string::npos ? pattern : pattern.replace(at, 2, text);
}

Event filled(const Event& event, std::string_view text) {
  Event out = event;
  out.message = fill(event.message, text);
  return out;
}

bool has_cause(const Error& error, std::string_view reason) {
  return std::ranges::find(error.causes, reason, &Cause::reason) != error.causes.end();
}

// What is to be written is there already, or what is to be removed is gone. And nothing can be made
// in a namespace that goes away: that is no news, and another attempt would not help.
bool is_needless(const Write& write, const Error& error) {
  const auto verb = write.operation.verb;
  if (verb == client::Verb::kDelete) return error.code == Code::kNotFound;
  if (verb != client::Verb::kCreate) return false;
  return (error.code == Code::kAlreadyExists && write.may_exist) ||
         has_cause(error, "NamespaceTerminating");
}

// A delete is answered with the object, or with a Status about it.
std::string deleted_uid(client::Written& answer) {
  if (std::string uid = answer.meta().uid; !uid.empty()) return uid;
  json::Arena arena;
  const auto body = json::parse(arena, answer.text());
  return body ? std::string(body->get({"details", "uid"}).as_string()) : std::string();
}

bool is_stale(const Error& error) {
  return error.code == Code::kConflict || error.code == Code::kNotFound;
}

}  // namespace

Runner::Runner(client::Client& client, Options options)
    : client_(client),
      options_(std::move(options)),
      width_(client.feed() != nullptr ? kLocalWidth : kRemoteWidth),
      queue_(
          client.loop(), width_, [this](const QueueKey& key) { begin(key); },
          options_.longest_backoff, options_.group) {}

bool Runner::synced(const QueueKey& key) {
  for (client::Informer* source : options_.sources) {
    if (source->synced()) continue;
    const bool first = unsynced_.empty();
    unsynced_.insert(key);
    if (!first) return false;  // one of them waits already, for all
    source->on_synced(lifetime_.guard([this] {
      for (const QueueKey& waiting : std::exchange(unsynced_, {})) queue_.add(waiting);
    }));
    return false;
  }
  return true;
}

bool Runner::current(const QueueKey& key) {
  const auto at = awaited_.find(key);
  if (at == awaited_.end()) return true;
  if (shown(at->second) || at->second.until <= moment()) {
    awaited_.erase(at);
    return true;
  }
  queue_.add_after(key, kRecheck);  // mostly its event comes sooner, and brings the key with it
  return false;
}

bool Runner::shown(Awaited& awaited) {
  for (const auto& [source, revision] : awaited.revisions) {
    if (source->position() < revision) return false;
  }
  while (!awaited.removals.empty()) {
    const Awaited::Removal& removal = awaited.removals.back();
    const client::ObjectPtr object = removal.source->find(removal.ns, removal.name);
    const bool gone =
        !object || object->meta().uid != removal.uid || object->meta().deletion_time.has_value();
    if (!gone) return false;
    awaited.removals.pop_back();
  }
  return true;
}

void Runner::remember(const QueueKey& key, const client::Operation& write,
                      client::Written& answer) {
  const auto awaited = [&]() -> Awaited& {
    Awaited& slot = awaited_[key];
    slot.until = moment() + kPatience;
    return slot;
  };
  for (const client::Informer* source : options_.sources) {
    if (&source->resource() != write.resource) continue;
    if (write.verb == client::Verb::kDelete) {
      awaited().removals.push_back({source, write.ns, write.name, deleted_uid(answer)});
    } else if (const auto revision = client::to_revision(answer.meta().resource_version);
               revision != 0) {
      store::Revision& newest = awaited().revisions[source];
      newest = std::max(newest, revision);
    }
  }
}

// Keys whose objects are gone may never be looked at again.
void Runner::forget_overdue() {
  constexpr std::size_t kMany = 1'024;
  if (awaited_.size() < kMany || moment() < next_sweep_) return;
  next_sweep_ = moment() + kPatience;
  std::erase_if(awaited_, [this](const auto& each) { return each.second.until <= moment(); });
}

void Runner::begin(const QueueKey& key) {
  if (!synced(key) || !current(key)) return queue_.done(key);
  const Clock& clock = client_.loop().clock();
  const Duration before = thread_time(clock);
  auto work = std::make_shared<Work>(Work{
      .key = key, .plan = options_.plan(key, {.now = now(), .failures = queue_.failures(key)})});
  if (const Duration rest = rest_after(thread_time(clock) - before, options_.rest_factor);
      rest > Duration::zero()) {
    queue_.hold_off(key, rest);
  }
  if (put_off(key, work->plan)) return queue_.done(key);
  note(key, work->plan);
  if (options_.creates_for != nullptr) {
    if (const auto object = options_.creates_for->find(key.ns, key.name))
      work->uid = object->meta().uid;
  }
  end_step(work);
}

// The wait begins with the first such plan; later ones do not extend it. A server that is still
// busy with what somebody waits for is asked later, and then there is mostly more to tell at once.
// Each plan sees to it that the key comes again: of a key's wishes the queue keeps the earliest
// only.
bool Runner::put_off(const QueueKey& key, const Plan& plan) {
  if (plan.may_wait) {
    const Duration step = *plan.may_wait;
    const Duration waited = moment() - put_off_.try_emplace(key, moment()).first->second;
    if (waited < (under_way_ > 0 ? kBusySteps * step : step)) {
      queue_.add_after(key, step - waited % step);
      return true;
    }
  }
  put_off_.erase(key);
  return false;
}

void Runner::note(const QueueKey& key, const Plan& plan) {
  if (options_.log == nullptr || (!plan.has_writes() && plan.error.empty())) return;
  options_.log->add({.at = now(),
                     .controller = options_.name,
                     .key = key,
                     .seen = seen(plan),
                     .plan = plan.text()});
}

// Of a controller that looks at all kinds, only those matter that it writes.
std::string Runner::seen(const Plan& plan) const {
  constexpr std::size_t kFew = 8;
  std::set<const api::Resource*> written;
  for (const Step& step : plan.steps) {
    for (const Write& write : step.writes) written.insert(write.operation.resource);
  }
  std::string text;
  for (const client::Informer* source : options_.sources) {
    if (options_.sources.size() > kFew && !written.contains(&source->resource())) continue;
    text += fmt::format("{}{}@{}", text.empty() ? "" : " ", source->resource().plural,
                        source->position());
  }
  return text;
}

// Moves on to the next step that has writes; the work ends when there is none.
void Runner::end_step(const WorkPtr& work) {
  const auto& steps = work->plan.steps;
  while (work->step < steps.size() && work->next == steps[work->step].writes.size()) {
    if (work->given_up) return fail_pass(work->key);
    if (!work->refusals.empty()) {
      std::string text;
      for (const std::string& refusal : work->refusals)
        text += (text.empty() ? "" : "\n") + refusal;
      if (const auto& event = steps[work->step].when_refused) tell(filled(*event, text));
      return fail_pass(work->key);
    }
    ++work->step;
    work->next = 0;
  }
  if (work->step == steps.size()) return finish(*work);
  ready_.push_back(work);
  pump();
}

void Runner::pump() {
  while (under_way_ < width_ && !ready_.empty()) {
    const WorkPtr work = ready_.front();
    ready_.pop_front();
    send(work);
  }
}

void Runner::send(const WorkPtr& work) {
  Step& step = work->plan.steps[work->step];
  if (is_pointless(*work, step.writes[work->next])) return give_up(work);
  Write& write = step.writes[work->next++];
  ++work->under_way;
  ++under_way_;
  if (work->next < step.writes.size()) ready_.push_back(work);
  if (options_.sent) options_.sent(write);
  client_.write(write.operation,
                lifetime_.guard([this, work, &write](Result<client::Written> answer) {
                  took_answer(work, write, std::move(answer));
                }));
  write.operation.body = {};  // of five thousand Jobs it is most of the plan
}

bool Runner::is_pointless(const Work& work, const Write& write) const {
  if (options_.creates_for == nullptr || write.operation.verb != client::Verb::kCreate)
    return false;
  const auto object = options_.creates_for->find(work.key.ns, work.key.name);
  return !object || object->meta().uid != work.uid || object->meta().deletion_time.has_value();
}

// The pass ends when what has been sent is answered; the next one sees why.
void Runner::give_up(const WorkPtr& work) {
  work->given_up = true;
  work->next = work->plan.steps[work->step].writes.size();
  if (work->under_way == 0) end_step(work);
}

void Runner::took_answer(const WorkPtr& work, const Write& write, Result<client::Written> answer) {
  --under_way_;
  --work->under_way;
  if (options_.answered) options_.answered(write, answer);
  if (answer) {
    remember(work->key, write.operation, *answer);
    if (write.when_done) tell(filled(*write.when_done, answer->meta().name));
  } else if (!is_needless(write, answer.error())) {
    work->refusals.push_back(fill(write.refusal, answer.error().message));
    if (write.when_refused) tell(filled(*write.when_refused, answer.error().message));
    // A stale cache is no news: the next plan, made of newer knowledge, gets there.
    if (!is_stale(answer.error())) {
      log::warn("write refused", {{"controller", options_.name},
                                  {"write", write.operation.summary()},
                                  {"error", answer.error().message}});
    }
  }
  const bool step_is_sent = work->next == work->plan.steps[work->step].writes.size();
  if (step_is_sent && work->under_way == 0) end_step(work);
  pump();
}

void Runner::finish(const Work& work) {
  forget_overdue();
  for (const Event& event : work.plan.events) tell(event);
  if (options_.carried_out) options_.carried_out(work.key, work.plan);
  if (!work.plan.error.empty()) {
    log::warn("cannot go on", {{"controller", options_.name},
                               {"key", work.key.ns + "/" + work.key.name},
                               {"why", work.plan.error}});
    return fail_pass(work.key);
  }
  queue_.forget_failures(work.key);
  if (work.plan.look_again) queue_.add_after(work.key, *work.plan.look_again);
  queue_.done(work.key);
}

void Runner::fail_pass(const QueueKey& key) {
  queue_.add_failed(key);
  queue_.done(key);
}

}  // namespace muster::controllers
