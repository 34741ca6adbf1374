#include "agent/logs/log_reader.h"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "agent/logs/log_sinks.h"
#include "base/contained_path.h"
#include "base/duration.h"
#include "base/log.h"
#include "server/errors.h"

namespace muster::agent {
namespace {

constexpr std::uint32_t kNews = IN_MODIFY | IN_CREATE | IN_MOVED_TO;
constexpr std::uint32_t kNewFolders = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR;

void refuse(http::Exchange& exchange, const Error& error) {
  http::Response response{.status = server::http_status(error.code),
                          .headers = {{"Content-Type", "application/json"}},
                          .body = {}};
  response.body.push_back(http::Chunk::own(server::status_body(error)));
  exchange.respond(std::move(response));
}

// In a kubelet's words; that it cannot be read just now is another matter than a link in its place.
Error explain(const server::LogSource::Wanted& wanted, const Error& why) {
  std::string message =
      fmt::format("unable to retrieve container logs for {}", wanted.container_id);
  if (why.code != Code::kUnavailable) return server::bad_request(std::move(message));
  message += ": " + why.message;
  return {.code = Code::kUnavailable, .message = std::move(message)};
}

LogKey key_of(const server::LogSource::Wanted& wanted) {
  return {wanted.ns, wanted.pod, wanted.uid, wanted.container, wanted.run};
}

}  // namespace

LogReader::LogReader(Loop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      guarded_loop_(std::make_shared<GuardedLoop>(loop)),
      inotify_(options_.notify ? ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1),
      runs_are_known_(options_.runs_are_known) {
  if (inotify_.valid()) loop_.watch_readable(inotify_.get(), [this] { on_notify(); });
}

LogReader::~LogReader() {
  guarded_loop_->shut();
  if (inotify_.valid()) loop_.unwatch(inotify_.get());
  loop_.cancel(poll_timer_);
}

void LogReader::began(const LogKey& key) {
  guarded_loop_->post([this, key] { running_.insert(key); });
}

void LogReader::ended(const LogKey& key) {
  guarded_loop_->post([this, key] {
    running_.erase(key);
    for (const auto& [id, reading] : readings_)
      if (reading.key == key) schedule(id);
  });
}

void LogReader::settle() {
  guarded_loop_->post([this] {
    runs_are_known_ = true;
    for (const auto& [id, reading] : readings_) schedule(id);
  });
}

bool LogReader::is_over(const LogKey& key) const {
  return runs_are_known_ && !running_.contains(key);
}

void LogReader::serve(Wanted wanted, std::shared_ptr<http::Exchange> exchange) {
  guarded_loop_->post([this, wanted = std::move(wanted), exchange = std::move(exchange)] {
    answer(wanted, exchange);
  });
}

void LogReader::attach(const LogKey& key, std::shared_ptr<server::ProgramClient> client) {
  guarded_loop_->post([this, key, client = std::move(client)] { join(key, client); });
}

void LogReader::answer(const Wanted& wanted, const std::shared_ptr<http::Exchange>& exchange) {
  Result<LogFile> file = LogFile::open(options_.directory, key_of(wanted));
  if (!file) {
    log::debug("no log", {{"pod", wanted.pod}, {"reason", file.error().message}});
    return refuse(*exchange, explain(wanted, file.error()));
  }
  if (wanted.tail_lines) file->skip_to_last_lines(*wanted.tail_lines);
  if (!wanted.follow) file->stop_at_present_end();
  LogView::Options view{.since = wanted.since_time,
                        .timestamps = wanted.timestamps,
                        .limit_bytes = wanted.limit_bytes};
  if (wanted.since_seconds)
    view.since = loop_.clock().now() - std::chrono::seconds(bounded_seconds(*wanted.since_seconds));
  // At once, also when there is nothing to show yet.
  exchange->start_stream({.status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = {}});
  const ReadingId id = ++last_id_;
  exchange->on_close([this, guard = guarded_loop_, id] { guard->post([this, id] { drop(id); }); });
  start(id, {.key = key_of(wanted),
             .file = *std::move(file),
             .follow = wanted.follow,
             .sink = std::make_unique<ExchangeSink>(exchange, view)});
}

void LogReader::join(const LogKey& key, const std::shared_ptr<server::ProgramClient>& client) {
  Result<LogFile> file = LogFile::open(options_.directory, key);
  if (!file || is_over(key)) return client->refuse(server::container_not_found(key.container));
  file->skip_to_end();
  const ReadingId id = ++last_id_;
  const auto gone = [this, guard = guarded_loop_, id] { guard->post([this, id] { drop(id); }); };
  const auto flow = std::make_shared<AttachFlow>(
      [this, guard = guarded_loop_, id] { guard->post([this, id] { schedule(id); }); });
  client->begin(std::make_shared<AttachedProgram>(flow, gone));
  start(id, {.key = key,
             .file = *std::move(file),
             .follow = true,
             .sink = std::make_unique<AttachSink>(client, flow)});
}

void LogReader::start(ReadingId id, Reading reading) {
  Reading& placed = readings_.emplace(id, std::move(reading)).first->second;
  if (placed.follow) watch(id, placed);  // before the first read: nothing is missed in between
  schedule(id);
}

void LogReader::drop(ReadingId id) {
  const auto found = readings_.find(id);
  if (found == readings_.end()) return;
  unwatch(id, found->second);
  readings_.erase(found);
}

void LogReader::schedule(ReadingId id) {
  const auto found = readings_.find(id);
  if (found == readings_.end() || std::exchange(found->second.scheduled, true)) return;
  loop_.post([this, guard = guarded_loop_, id] {
    if (guard->is_open()) pump(id);
  });
}

// One slice; others have their turn before the next.
void LogReader::pump(ReadingId id) {
  const auto found = readings_.find(id);
  if (found == readings_.end()) return;
  Reading& reading = found->second;
  reading.scheduled = false;
  const auto ready = [this, guard = guarded_loop_, id] {
    guard->post([this, id] { schedule(id); });
  };
  if (!reading.sink->has_room(ready)) return;
  // Asked before reading: what an ended run has written is then all there.
  const bool over = !reading.follow || is_over(reading.key);
  if (const std::string_view lines = reading.file.read_lines(); !lines.empty()) {
    if (!reading.sink->take(lines)) return finish(id);
    return schedule(id);
  }
  if (reading.follow && reading.file.switch_to_new_file()) return schedule(id);
  if (!over) return;
  if (const std::string_view rest = reading.file.unfinished_line(); !rest.empty())
    reading.sink->take(rest);
  finish(id);
}

void LogReader::finish(ReadingId id) {
  readings_.at(id).sink->end();
  drop(id);
}

void LogReader::watch(ReadingId id, Reading& reading) {
  const bool sees_new_folders = watch_root();  // before the look: what is made after it is told
  const std::string folder = reading.key.folder();
  const Result<UniqueFd> place = open_beneath(options_.directory, folder);
  if (sees_new_folders && !place && place.error().code == Code::kNotFound) {
    reading.watch = root_watch_;
    awaited_[folder].insert(id);
    return;
  }
  const bool can_watch = inotify_.valid() && place;
  reading.watch =
      can_watch ? ::inotify_add_watch(inotify_.get(), path_of(*place).c_str(), kNews) : -1;
  if (reading.watch >= 0) {
    watched_[reading.watch].insert(id);
  } else if (poll_timer_ == TimerId::kNone) {
    poll_timer_ = loop_.after(options_.poll_every, [this] { poll(); });
  }
}

// Only what is there can be watched, so it is made.
bool LogReader::watch_root() {
  if (root_watch_ >= 0 || !inotify_.valid()) return root_watch_ >= 0;
  ::mkdir(options_.directory.c_str(), 0700);
  root_watch_ = ::inotify_add_watch(inotify_.get(), options_.directory.c_str(), kNewFolders);
  return root_watch_ >= 0;
}

void LogReader::folder_made(const std::string& folder) {
  const auto found = awaited_.find(folder);
  if (found == awaited_.end()) return;
  const std::set<ReadingId> ids = std::move(found->second);
  awaited_.erase(found);
  for (const ReadingId id : ids) {
    watch(id, readings_.at(id));
    schedule(id);
  }
}

void LogReader::unwatch(ReadingId id, const Reading& reading) {
  if (const auto found = awaited_.find(reading.key.folder()); found != awaited_.end()) {
    found->second.erase(id);
    if (found->second.empty()) awaited_.erase(found);
  }
  const auto found = watched_.find(reading.watch);
  if (found == watched_.end()) return;
  found->second.erase(id);
  if (!found->second.empty()) return;
  ::inotify_rm_watch(inotify_.get(), found->first);
  watched_.erase(found);
}

void LogReader::on_notify() {
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  std::set<ReadingId> woken;
  ssize_t got = 0;
  while ((got = ::read(inotify_.get(), buffer.data(), buffer.size())) > 0) {
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      if (const auto found = watched_.find(event->wd); found != watched_.end())
        woken.insert(found->second.begin(), found->second.end());
      if (event->wd == root_watch_ && event->len > 0) folder_made(event->name);
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        for (const auto& [id, reading] : readings_) woken.insert(id);
        for (const auto& [folder, ids] : std::map(awaited_)) folder_made(folder);
      }
      at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
    }
  }
  for (const ReadingId id : woken) schedule(id);
}

void LogReader::poll() {
  poll_timer_ = TimerId::kNone;
  bool needed = false;
  for (const auto& [id, reading] : readings_) {
    if (!reading.follow || reading.watch >= 0) continue;
    needed = true;
    schedule(id);
  }
  if (needed) poll_timer_ = loop_.after(options_.poll_every, [this] { poll(); });
}

LogThread::LogThread(LogReader::Options options)
    : reader_(std::make_unique<LogReader>(thread_.loop(), std::move(options))) {}

LogThread::~LogThread() { thread_.stop(); }

}  // namespace muster::agent
