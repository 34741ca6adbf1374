#include "cli/follow/log_streams.h"

#include <fmt/format.h>

#include "cli/input/kinds.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

// Before a stream that was cut is opened again.
constexpr Duration kPause = std::chrono::milliseconds(100);
constexpr std::size_t kMaxHeld = 4u << 20;
// A server that has no room just now is asked so often, for half a minute.
constexpr Duration kRefusedPause = std::chrono::milliseconds(500);
constexpr int kMaxRefusals = 60;

// Not the end of the log: the server went, or nothing has come for so long that it may have.
bool was_cut(const Error& why) {
  return why.code == Code::kUnavailable || why.code == Code::kTimeout;
}

}  // namespace

LogStreams::LogStreams(client::Client& client, std::string ns, LogOptions options, Events events)
    : client_(client),
      ns_(std::move(ns)),
      options_(std::move(options)),
      events_(std::move(events)) {}

LogStreams::~LogStreams() {
  *alive_ = false;
  for (const auto& log : logs_) client_.loop().cancel(log->retry);
}

void LogStreams::read(LogRun run) {
  logs_.push_back(std::make_unique<Log>(std::move(run)));
  open(*logs_.back());
}

void LogStreams::open(Log& log) {
  const int number = ++log.stream_number;
  const auto is_current = [alive = alive_, &log, number] {
    return *alive && log.stream_number == number;
  };
  log.is_proven = number == 1;
  log.status = 0;
  log.answer.clear();
  log.held.clear();
  log.held_end.reset();
  log.stream = client_.stream(target_of(log), {.head =
                                                   [this, &log, is_current](int status) {
                                                     if (is_current()) took_head(log, status);
                                                   },
                                               .data =
                                                   [this, &log, is_current](std::string_view data) {
                                                     if (is_current()) took_data(log, data);
                                                   },
                                               .end =
                                                   [this, &log, is_current](Status why) {
                                                     if (is_current())
                                                       took_end(log, std::move(why));
                                                   }});
}

std::string LogStreams::target_of(Log& log) const {
  std::string target = fmt::format("{}?container={}&timestamps=true",
                                   client::url_path(pods(), ns_, log.run.pod, "log"),
                                   client::url_escape(log.run.container));
  if (options_.follow) target += "&follow=true";
  if (options_.previous || log.newest_run > log.run.run) target += "&previous=true";
  const bool is_first = log.stream_number == 1 || !(log.has_begun || log.position.since());
  if (is_first && options_.tail >= 0) target += fmt::format("&tailLines={}", options_.tail);
  // What is written from now on is wanted, also if this stream is cut before it has come.
  if (is_first && options_.tail == 0) log.position.begin_at(client_.loop().clock().now());
  if (const auto since = log.position.since(); since && !is_first)
    target += "&sinceTime=" + client::url_escape(format_micro_time(*since));
  return target;
}

void LogStreams::took_head(Log& log, int status) {
  log.status = status;
  if (status / 100 == 2) {
    log.has_begun = true;
    log.refusals = 0;
  }
  if (!log.is_proven && status / 100 == 2) prove(log);
}

void LogStreams::took_data(Log& log, std::string_view data) {
  const bool refused = log.status / 100 != 2;
  if (!refused && must_wait(log)) return hold(log);
  std::string& kept = refused ? log.answer : log.held;
  if (!refused && log.is_proven)
    return log.position.take(data,
                             [&](const LogPosition::Line& line) { events_.line(log.run, line); });
  if (kept.size() + data.size() <= kMaxHeld) {
    kept += data;
  } else if (!refused) {
    open_again(log, kPause);
  }
}

// The server chose the run when it began to answer. If the container has not been started again by
// now, it was the one that we mean.
void LogStreams::prove(Log& log) {
  client_.get(pods(), ns_, log.run.pod,
              [this, alive = alive_, &log, number = log.stream_number](Result<std::string> pod) {
                if (*alive && log.stream_number == number) proven(log, pod);
              });
}

void LogStreams::proven(Log& log, const Result<std::string>& pod) {
  const bool is_gone = !pod && pod.error().code == Code::kNotFound;
  if (!pod && !is_gone) return open_again(log, kPause);
  json::Arena arena;
  const auto tree = json::parse(arena, is_gone ? "{}" : *pod);
  const story::PodFacts facts = story::pod_facts(tree ? *tree : json::Value());
  if (!is_gone && facts.uid != log.run.uid) return over(log);  // another one of that name
  std::int64_t newest = log.newest_run;
  for (const story::PodFacts::Log& container : facts.logs)
    if (container.container == log.run.container) newest = container.restarts;
  if (std::exchange(log.newest_run, newest) != newest) {
    // Servers keep one run besides the newest; that of --previous is it already.
    const bool is_kept = newest == log.run.run + 1 && !options_.previous;
    return is_kept ? open_again(log, Duration::zero()) : over(log);
  }
  log.is_proven = true;
  took_data(log, std::exchange(log.held, {}));
  if (log.held_end && !log.is_held) took_end(log, *std::exchange(log.held_end, std::nullopt));
}

// A stream that was to begin at the last lines, and has shown none, would begin elsewhere.
bool LogStreams::must_wait(const Log& log) const {
  return is_full_ && is_full_() && (options_.tail < 0 || log.position.since());
}

void LogStreams::hold(Log& log) {
  drop_stream(log);
  log.is_held = true;
}

void LogStreams::go_on() {
  for (const auto& log : logs_)
    if (std::exchange(log->is_held, false)) open(*log);
}

void LogStreams::drop_stream(Log& log) {
  ++log.stream_number;  // what is left of the present one is not listened to
  log.position.cut();
  // We may be in a callback of the stream, which must outlive it.
  client_.loop().post([stream = std::shared_ptr(std::move(log.stream))] {});
}

void LogStreams::open_again(Log& log, Duration pause) {
  drop_stream(log);
  log.retry = client_.loop().after(pause, [this, &log] {
    log.retry = TimerId::kNone;
    open(log);
  });
}

void LogStreams::took_end(Log& log, Status why) {
  if (!why && was_cut(why.error())) return open_again(log, kPause);
  if (!log.is_proven && log.status / 100 == 2) {
    log.held_end = std::move(why);
    return;
  }
  const bool is_busy = log.status == 429 || log.status == 503;
  if (is_busy && ++log.refusals <= kMaxRefusals) return open_again(log, kRefusedPause);
  const bool pod_is_gone = log.status == 404;  // between our look and our question: no news
  std::string refusal;
  if (log.status / 100 != 2 && !pod_is_gone && !log.answer.empty())
    refusal = client::error_of_status(log.status, log.answer).message;
  if (!why) refusal = why.error().message;
  over(log, refusal);
}

void LogStreams::over(Log& log, const std::string& refusal) {
  log.position.finish([&](const LogPosition::Line& line) { events_.line(log.run, line); });
  ++log.stream_number;
  events_.ended(log.run, refusal);
}

}  // namespace muster::cli
