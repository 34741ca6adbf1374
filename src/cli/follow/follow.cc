#include "cli/follow/follow.h"

#include <fmt/format.h>

#include <utility>

#include "cli/follow/heard_event.h"
#include "cli/input/kinds.h"
#include "cli/input/shell_word.h"
#include "cli/verbs/suspend_command.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

client::ListOptions pods_of(const FollowOptions& options) {
  return {.ns = options.ns, .label_selector = pods_of_job_set(options.uid)};
}

FollowPlan plan_of(const FollowOptions& options, const Screen& screen, Time now) {
  std::string flags = " -n " + options.ns;
  if (!options.kubeconfig.empty()) flags += " --kubeconfig " + shell_word(options.kubeconfig);
  return {.job_set = options.job_set,
          .uid = options.uid,
          .logs = options.logs,
          .keys = options.keys,
          .exit_code_from = options.exit_code_from,
          .timeout = options.timeout,
          .resume_command = suspend_command(flags, options.job_set, false),
          .has_block = screen.has_block(),
          .status_colours = screen.status_colours(),
          .begun = now};
}

const api::Resource& event_resource() { return *api::Registry::builtin().find("", "v1", "events"); }

}  // namespace

Follow::Follow(client::Client& client, Screen& screen, const FollowOptions& options,
               std::function<void(int)> ended)
    : client_(client),
      screen_(screen),
      ns_(options.ns),
      is_alone_(options.is_alone),
      ended_(std::move(ended)),
      state_(plan_of(options, screen, client.loop().clock().now())),
      logs_(client, options.ns, options.logs,
            {.line =
                 [this](const LogRun& log, const LogPosition::Line& line) {
                   tell(event::LogLine{.log = log, .time = line.time, .text = line.text});
                 },
             .ended =
                 [this](const LogRun& log, const std::string& refusal) {
                   tell(event::LogEnded{.log = log, .refusal = refusal});
                 }}),
      sets_(client, job_sets(),
            {.ns = options.ns, .field_selector = "metadata.name=" + options.job_set}),
      pods_(client, pods(), pods_of(options)),
      warnings_(client, event_resource(), {.ns = options.ns, .field_selector = "type=Warning"}) {
  logs_.hold_while([this] { return screen_.is_full(); });
  screen_.on_room([this] { logs_.go_on(); });
  sets_.on_change([this](const auto&, const auto& after) {
    if (!after || after->meta().uid != state_.plan.uid) return tell_object(event::JobSetGone{});
    tell_object(event::JobSetSeen{.set = api::read_job_set(sets_.content())});
  });
  pods_.on_change([this](const auto& before, const auto& after) {
    if (!after) return tell_object(event::PodGone{.uid = before->meta().uid});
    tell_object(event::PodSeen{.facts = story::pod_facts(pods_.content())});
  });
  warnings_.on_change([this](const auto&, const auto& after) {
    if (!after) return;
    if (const auto heard = heard_event(warnings_.content())) tell(*heard);
  });
}

Follow::~Follow() {
  *alive_ = false;
  screen_.on_room({});
  for (const auto& [timer, id] : timers_) client_.loop().cancel(id);
}

void Follow::start() {
  pods_.start();
  sets_.start();
  warnings_.start();
  // Of one that has gone before the first look nobody would tell.
  sets_.on_synced([this] {
    if (!sets_.find(ns_, state_.plan.job_set)) tell_object(event::JobSetGone{});
  });
  fire(FollowTimer::kTick);
}

void Follow::tell(const FollowEvent& what) {
  for (FollowEffect& effect : reduce(state_, what, client_.loop().clock().now()))
    effects_.push_back(std::move(effect));
  // An effect may tell of something itself, such as the end that makes its caller stop the JobSet.
  if (std::exchange(is_acting_, true)) return;
  while (!effects_.empty()) {
    const FollowEffect effect = std::move(effects_.front());
    effects_.pop_front();
    std::visit([this](const auto& one) { act(one); }, effect);
  }
  is_acting_ = false;
}

void Follow::tell_object(const FollowEvent& what) {
  look_around();
  tell(what);
  if (changed_) changed_();
}

void Follow::look_around() {
  event::Surroundings now{.is_alone = is_alone_()};
  if (state_.plan.has_block) now.width = terminal_width();
  if (now != state_.surroundings) tell(now);
}

void Follow::fire(FollowTimer timer) {
  timers_.erase(timer);
  look_around();
  tell(event::TimerFired{timer});
}

void Follow::act(const effect::StartTimer& start) {
  TimerId& timer = timers_[start.timer];
  client_.loop().cancel(timer);
  timer = client_.loop().after(start.delay, [this, which = start.timer] { fire(which); });
}

void Follow::act(const effect::AskForRoom&) {
  client_.raw_get("/api/v1/nodes", [this, alive = alive_](const Result<std::string>& answer) {
    if (!*alive) return;
    json::Arena arena;
    const auto nodes = json::parse(arena, answer ? *answer : "{}");
    story::Room room = nodes ? story::room_on(*nodes) : story::Room();
    room.is_here = is_alone_();
    tell(event::RoomKnown{.room = room});
  });
}

// The feed tells all kinds in one order: whoever has been told of the JobSet's end has been told of
// its pods, once what is being told at this moment is over. Watches are heard of apart: of a pod
// that was quick nothing may have come yet, and it has a log all the same.
void Follow::act(const effect::FindAllPods&) {
  if (client_.feed() != nullptr) {
    return client_.loop().post([this, alive = alive_] {
      if (*alive) tell_object(event::PodsComplete{});
    });
  }
  const client::ListOptions options{.ns = ns_, .label_selector = pods_of_job_set(state_.plan.uid)};
  client_.list(pods(), options, [this, alive = alive_](const Result<std::string>& answer) {
    if (!*alive) return;
    json::Arena arena;
    if (const auto list = json::parse(arena, answer ? *answer : "{}")) {
      for (const json::Value pod : list->get("items").items())
        tell(event::PodSeen{.facts = story::pod_facts(pod)});
    }
    tell_object(event::PodsComplete{});
  });
}

void Follow::act(const effect::AskServer&) {
  client_.raw_get("/livez", [](const Result<std::string>&) {});
}

}  // namespace muster::cli
