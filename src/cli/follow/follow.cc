#include "cli/follow/follow.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "base/terminal_text.h"
#include "cli/input/kinds.h"
#include "cli/input/shell_word.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/suspend_command.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

constexpr Duration kTick = std::chrono::seconds(1);
constexpr int kServerEvery = 10;  // ticks
constexpr Duration kAtOnce = std::chrono::milliseconds(50);
constexpr Duration kPodless = std::chrono::seconds(10);  // Jobs try again
constexpr std::size_t kFewPods = 100;
constexpr std::size_t kMaxWarnings = 100;  // more than anybody reads
constexpr std::size_t kMaxEarly = 10'000;  // events

// The JobSet's end may be heard before that of its pods, which have something to say yet.
constexpr Duration kLastWords = std::chrono::milliseconds(500);

client::ListOptions pods_of(const FollowOptions& options) {
  return {.ns = options.ns, .label_selector = pods_of_job_set(options.uid)};
}

client::ListOptions events_of(const FollowOptions& options) {
  return {.ns = options.ns,
          .field_selector =
              fmt::format("involvedObject.kind=JobSet,involvedObject.name={}", options.job_set)};
}

}  // namespace

Follow::Follow(client::Client& client, Screen& screen, FollowOptions options,
               std::function<void(int)> ended)
    : client_(client),
      screen_(screen),
      options_(std::move(options)),
      ended_(std::move(ended)),
      begun_(client.loop().clock().now()),
      logs_(client, options_.ns, options_.job_set, options_.logs,
            [this](std::string_view line) { screen_.log(line); }) {
  logs_.on_idle([this] { end_if_over(); });
  logs_.on_refusal([this](const std::string& name, const std::string& why) {
    if (warned_of_.size() < kMaxWarnings && warned_of_.insert(name + why).second)
      screen_.note(fmt::format("error: no log of {}: {}", name, plain_text(why)));
  });
  logs_.hold_while([this] { return screen_.is_full(); });
  screen_.on_room([this] { logs_.go_on(); });
}

Follow::~Follow() {
  screen_.on_room({});
  client_.loop().cancel(tick_);
  client_.loop().cancel(last_words_);
  client_.loop().cancel(show_);
}

void Follow::start() {
  pods_ = std::make_unique<client::Informer>(client_, pods(), pods_of(options_));
  pods_->on_change([this](const auto& before, const auto& after) { pod_changed(before, after); });
  sets_ = std::make_unique<client::Informer>(
      client_, job_sets(),
      client::ListOptions{.ns = options_.ns,
                          .field_selector = "metadata.name=" + options_.job_set});
  sets_->on_change([this](const auto&, const auto& after) { job_set_changed(after); });
  // Of one that has gone before the first look nobody would tell.
  sets_->on_synced([this] {
    if (!sets_->find(options_.ns, options_.job_set)) job_set_changed(nullptr);
  });
  const api::Resource& events = *api::Registry::builtin().find("", "v1", "events");
  events_ = std::make_unique<client::Informer>(client_, events, events_of(options_));
  events_->on_change([this](const auto&, const auto& after) {
    if (after) event_changed(events_->content());
  });
  warnings_ = std::make_unique<client::Informer>(
      client_, events, client::ListOptions{.ns = options_.ns, .field_selector = "type=Warning"});
  warnings_->on_change([this](const auto&, const auto& after) {
    if (after) warned(warnings_->content());
  });
  pods_->start();
  sets_->start();
  events_->start();
  warnings_->start();
  tick();
}

Follow::Known& Follow::take_pod(story::PodFacts facts) {
  Known& known = known_[facts.uid];
  seen_stages_.insert(facts.stage);
  known.facts = std::move(facts);
  known.take_fault();
  return known;
}

void Follow::pod_changed(const client::ObjectPtr& before, const client::ObjectPtr& after) {
  if (!after) {
    const auto gone = known_.find(before->meta().uid);
    if (gone != known_.end()) gone->second.gone = true;
  } else {
    const auto& last_failure = known_[after->meta().uid].facts.failure;
    const bool could_start = !last_failure || last_failure->reason != "StartError";
    Known& known = take_pod(story::pod_facts(pods_->content()));
    if (!known.facts.lacking.empty()) ask_for_room();
    if (room_ && *room_) known.take_room(**room_);
    if (told_restarts_) tell_restart(parse_number<std::int32_t>(known.facts.attempt).value_or(0));
    logs_.look(known.facts);
    if (could_start && known.facts.failure && known.facts.failure->reason == "StartError") {
      screen_.note(fmt::format("error: {}: {}", story::short_name(known.facts, options_.job_set),
                               known.facts.failure->text()));
    }
    const auto [first, last] = early_.equal_range(after->meta().uid);
    for (auto warning = first; warning != last; ++warning) take_warning(known, warning->second);
    early_.erase(first, last);
    podless_.erase(known.facts.job);
  }
  show_soon();
  if (changed_) changed_();
  if (outcome_seen_) end_if_over();
}

// Hundreds of pods change at once: one picture will do.
void Follow::show_soon() {
  if (!set_ || is_over_ || show_ != TimerId::kNone) return;
  show_ = client_.loop().after(kAtOnce, [this] {
    show_ = TimerId::kNone;
    if (!is_over_) show();
  });
}

void Follow::job_set_changed(const client::ObjectPtr& after) {
  if (!after || after->meta().uid != options_.uid) {
    deleted_ = true;
    if (changed_) changed_();
    if (deletion_expected_ || is_over_) return;
    screen_.note(fmt::format("jobset {} was deleted", options_.job_set));
    return end(kCancelled);
  }
  set_ = api::read_job_set(sets_->content());
  look();
}

// A Job that the server will never accept: waiting does not help.
void Follow::event_changed(json::Value event) {
  if (!set_ || is_over_ || deletion_expected_) return;
  if (event.get({"involvedObject", "uid"}).as_string() != set_->meta.uid) return;
  const std::string message = plain_text(event.get("message").as_string());
  if (event.get("reason").as_string() != "JobCreationFailed" || !message.contains(" is invalid"))
    return;
  screen_.note(fmt::format("error: the server takes the JobSet, but not its Jobs: {}", message));
  if (message.contains(".image: Required value"))
    screen_.note("  help: where pods are processes, image: none will do");
  end(kCannotPlace);
}

void Follow::warned(json::Value event) {
  const std::string_view kind = event.get({"involvedObject", "kind"}).as_string();
  if (kind == "Pod") pod_warned(event);
  if (kind == "Job") job_warned(event);
}

// A Job whose pods the server does not take (of an account that is not there, say) has none that
// could tell.
void Follow::job_warned(json::Value event) {
  if (!set_ || event.get("reason").as_string() != "FailedCreate") return;
  const std::string name(event.get({"involvedObject", "name"}).as_string());
  const bool is_ours = std::ranges::any_of(set_->replicated_jobs, [&](const auto& entry) {
    return name.starts_with(fmt::format("{}-{}-", options_.job_set, entry.name));
  });
  // One of the same name may have been there before.
  const auto told = parse_time(event.get({"metadata", "creationTimestamp"}).as_string());
  if (!is_ours || (told && set_->meta.creation_time && *told < *set_->meta.creation_time)) return;
  // Each attempt has another name for the pod: the first will do.
  podless_.try_emplace(name, fmt::format("job {} has no pods: {}", plain_text(name),
                                         plain_text(event.get("message").as_string())));
  show_soon();
}

// A pod whose volumes cannot be made waits like any other; what it waits for is told as an event.
// What a pod asks for and does not get (an image, a limit) is told by one too, and said once.
void Follow::pod_warned(json::Value event) {
  const auto warning = story::pod_warning(event);
  if (!warning) return;
  const std::string uid(event.get({"involvedObject", "uid"}).as_string());
  if (const auto known = known_.find(uid); known != known_.end()) {
    take_warning(known->second, *warning);
  } else if (early_.size() < kMaxEarly) {
    early_.emplace(uid, *warning);
  }
}

void Follow::take_warning(Known& known, const story::PodWarning& warning) {
  if (warning.kind == story::PodWarning::Kind::kFault) {
    known.fault_reason = warning.reason;
    known.fault = fmt::format("{}: {}", warning.reason, warning.message);
    known.take_fault();
    return show_soon();
  }
  if (warned_of_.size() < kMaxWarnings && warned_of_.insert(warning.message).second)
    screen_.note("warning: " + warning.message);
}

// What a pod is short of is told with what there is.
void Follow::ask_for_room() {
  if (room_) return;
  room_ = std::make_shared<std::optional<story::Room>>();
  const std::weak_ptr<std::optional<story::Room>> place = room_;
  client_.raw_get("/api/v1/nodes", [this, place](const Result<std::string>& answer) {
    const auto kept = place.lock();
    if (!kept) return;
    json::Arena arena;
    const auto nodes = answer ? json::parse(arena, *answer) : json::parse(arena, "{}");
    *kept = nodes ? story::room_on(*nodes) : story::Room();
    (*kept)->is_here = options_.is_alone();
    for (auto& [uid, known] : known_) known.take_room(**kept);
    show_soon();
  });
}

const story::PodFacts* Follow::failure_before(std::int64_t restart) const {
  const std::string attempt = std::to_string(restart - 1);
  const story::PodFacts* first = nullptr;
  for (const auto& [uid, known] : known_) {
    if (known.facts.attempt == attempt && known.facts.failure &&
        (first == nullptr || story::failed_before(known.facts, *first)))
      first = &known.facts;
  }
  return first;
}

// Before the first line of the next attempt, whoever tells of it first.
void Follow::tell_restart(std::int64_t restart) {
  if (!set_ || restart <= told_restarts_.value_or(restart)) return;
  told_restarts_ = restart;
  const story::PodFacts* const failed = failure_before(restart);
  std::optional<std::int64_t> most;
  if (set_->failure_policy) most = set_->failure_policy->max_restarts;
  screen_.note(story::restart_line(
      restart, most,
      failed == nullptr ? ""
                        : fmt::format("{} failed: {}", story::short_name(*failed, options_.job_set),
                                      failed->failure->text())));
}

void Follow::expect_deletion() {
  deletion_expected_ = true;
  show_soon();
}

story::BlockView Follow::block_view() const {
  return {.now = client_.loop().clock().now(),
          .begun = begun_,
          .width = terminal_width(),
          .colours = screen_.status_colours(),
          .trouble = {},
          .keys = deletion_expected_ ? "stopping   Ctrl-C: kill" : options_.keys,
          .stopping = deletion_expected_};
}

// The last picture stays above what is said of the end.
void Follow::keep_block() {
  if (!screen_.has_block() || !told_) return screen_.clear_block();
  story::BlockView view = block_view();
  view.keys.clear();
  screen_.clear_block();
  for (const std::string& line : story::progress_block(*told_, view)) screen_.note(line);
}

story::PodList Follow::present_pods() const {
  story::PodList out;
  for (const auto& [uid, known] : known_) {
    if (!known.gone) out.add(known.facts);
  }
  out.sort_by_name();
  return out;
}

std::vector<std::string> Follow::live_pods() const {
  std::vector<std::string> out;
  for (const auto& [uid, known] : known_) {
    if (known.is_live()) out.push_back(known.facts.name);
  }
  return out;
}

bool Follow::has_live_pods() const {
  return std::ranges::any_of(known_, [](const auto& entry) { return entry.second.is_live(); });
}

void Follow::look() {
  // Of few pods it is shown at once, so that it stands where it belongs among the lines of logs.
  known_.size() <= kFewPods ? show() : show_soon();
  if (changed_) changed_();
  end_if_over();
}

void Follow::show() {
  const story::PodList present = present_pods();
  story::Standing standing = story::standing_of(*set_, present);
  seen_before_end_ |= !standing.outcome;
  if (standing.outcome && seen_before_end_) story::mark_unstarted(standing, seen_stages_);
  const bool room_is_known = !room_ || *room_;
  std::string trouble = room_is_known ? story::trouble_of(present, options_.job_set) : "";
  if (trouble.empty() && !podless_.empty() && !has_live_pods()) trouble = podless_.begin()->second;
  if (standing.suspended && !standing.outcome && !std::exchange(suspension_told_, true)) {
    std::string flags = " -n " + options_.ns;
    if (!options_.kubeconfig.empty()) flags += " --kubeconfig " + shell_word(options_.kubeconfig);
    screen_.note(fmt::format("jobset {} is suspended; this starts it: {}", options_.job_set,
                             suspend_command(flags, options_.job_set, false)));
  }
  if (!standing.suspended) suspension_told_ = false;
  tell_restart(standing.restarts);
  if (!told_restarts_) told_restarts_ = standing.restarts;
  if (screen_.has_block()) {
    if (is_over_) return;
    story::BlockView view = block_view();
    view.trouble = trouble;
    screen_.set_block(story::progress_block(standing, view));
  } else {
    for (const std::string& line : story::changes(told_.value_or(story::Standing{}), standing))
      screen_.note(line);
    if (!trouble.empty() && trouble != told_trouble_) screen_.note(trouble);
    told_trouble_ = trouble;
  }
  told_ = std::move(standing);
}

void Follow::tick() {
  if (is_over_) return;
  if (set_) {
    if (screen_.has_block()) show();
    watch_for_dead_end();
  }
  const Time now = client_.loop().clock().now();
  if (!is_over_ && options_.timeout && now - begun_ >= *options_.timeout) {
    screen_.note(fmt::format("jobset {} has not ended within {}", options_.job_set,
                             human_duration(*options_.timeout)));
    return end(kTimedOut);
  }
  // A server that goes without a word is noticed by asking: the transport says so.
  if (++seconds_ % kServerEvery == 0) client_.raw_get("/livez", [](const Result<std::string>&) {});
  Duration pause = kTick;
  if (options_.timeout) pause = std::min(pause, *options_.timeout - (now - begun_));
  tick_ = client_.loop().after(pause, [this] { tick(); });
}

std::optional<story::DeadEnd> Follow::find_dead_end() const {
  if (deletion_expected_) return std::nullopt;
  if (podless_.empty() || has_live_pods()) return story::dead_end(present_pods());
  return story::DeadEnd{podless_.begin()->first, podless_.begin()->second, kPodless};
}

// Nobody else can bring what is missing: waiting would be for ever.
void Follow::watch_for_dead_end() {
  const auto stuck = find_dead_end();
  if (!stuck || !options_.is_alone()) {
    stuck_pod_.clear();
    return;
  }
  const Time now = client_.loop().clock().now();
  if (stuck->pod != stuck_pod_) {
    stuck_pod_ = stuck->pod;
    stuck_since_ = now;
    screen_.note(fmt::format("nobody else uses this server: giving up in {} unless that changes",
                             human_duration(stuck->grace)));
  } else if (now - stuck_since_ >= stuck->grace) {
    const bool reason_is_told = !screen_.has_block() && !stuck->brief.empty();
    screen_.note("error: " + (reason_is_told ? stuck->brief : stuck->why));
    end(kCannotPlace);
  }
}

// JobSet and pods are heard of apart: of a pod that was quick nothing may have come yet, and it has
// a log all the same.
void Follow::look_for_pods() {
  all_pods_known_ = std::make_shared<bool>(false);
  const std::weak_ptr<bool> place = all_pods_known_;
  client_.list(pods(), pods_of(options_), [this, place](const Result<std::string>& answer) {
    const auto known = place.lock();
    if (!known) return;
    *known = true;
    json::Arena arena;
    const auto list = json::parse(arena, answer ? *answer : "{}");
    if (list) {
      for (const json::Value pod : list->get("items").items())
        logs_.look(take_pod(story::pod_facts(pod)).facts);
    }
    end_if_over();
  });
}

// The logs are part of the run: it ends after their last line.
void Follow::end_if_over() {
  if (is_over_ || !set_ || logs_.open() > 0) return;
  const auto outcome = story::standing_of(*set_).outcome;
  if (!outcome) return;
  const Time now = client_.loop().clock().now();
  if (!outcome_seen_) {
    outcome_seen_ = now;
    last_words_ = client_.loop().after(kLastWords, [this] { end_if_over(); });
    return look_for_pods();
  }
  if (!*all_pods_known_) return;
  if (has_live_pods() && now - *outcome_seen_ < kLastWords) return;
  show();  // the last change
  keep_block();
  screen_.note(fmt::format("jobset {}: {}", options_.job_set, plain_text(outcome->message)));
  if (!outcome->succeeded) tell_failure();
  end(exit_code());
}

void Follow::tell_failure() {
  std::vector<story::PodFacts> last, all;
  const std::string attempt = std::to_string(set_->status.restarts);
  for (const auto& [uid, known] : known_) {
    all.push_back(known.facts);
    if (known.facts.attempt == attempt) last.push_back(known.facts);
  }
  const story::PodFacts* failed = story::first_failure(last);
  if (failed == nullptr) failed = story::first_failure(all);
  if (failed == nullptr) return;
  screen_.note(fmt::format("failed: pod {}, container {}: {}", plain_text(failed->name),
                           plain_text(failed->failure->container), failed->failure->text()));
  const std::vector<std::string> lines = logs_.last_lines(failed->uid);
  if (lines.empty()) return screen_.note("  it wrote nothing");
  screen_.note(lines.size() == 1 ? "  its last line:"
                                 : fmt::format("  its last {} lines:", lines.size()));
  for (const std::string& line : lines) screen_.note("  | " + plain_text(line));
}

int Follow::exit_code() const {
  if (!options_.exit_code_from.empty()) {
    std::optional<std::int64_t> code;
    for (const auto& [uid, known] : known_) {
      if (!story::is_meant(known.facts, options_.exit_code_from) || !known.facts.exit_code)
        continue;
      if (known.facts.attempt != std::to_string(set_->status.restarts)) continue;
      if (code.value_or(0) == 0) code = known.facts.exit_code;
    }
    if (code) return static_cast<int>(*code);
    screen_.note(fmt::format("no pod of {} has ended by itself: the exit code is the JobSet's",
                             plain_text(options_.exit_code_from)));
  }
  return story::standing_of(*set_).outcome->succeeded ? kSucceeded : kJobSetFailed;
}

void Follow::end(int exit_code) {
  if (std::exchange(is_over_, true)) return;
  screen_.clear_block();
  ended_(exit_code);
}

}  // namespace muster::cli
