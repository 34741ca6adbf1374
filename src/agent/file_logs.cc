#include "agent/file_logs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "server/errors.h"

namespace muster::agent {
namespace {

// A reader that is this far behind is cut: it would hold the log in memory.
constexpr std::size_t kMaxUnsent = 8u << 20;

void refuse(http::Exchange& exchange, std::string message) {
  http::Response response{
      .status = 400, .headers = {{"Content-Type", "application/json"}}, .body = {}};
  response.body.push_back(
      http::Chunk::own(server::status_body(server::bad_request(std::move(message)))));
  exchange.respond(std::move(response));
}

std::string read_rest(int fd) {
  std::string text;
  char buffer[16384];
  ssize_t got = 0;
  while ((got = ::read(fd, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

std::string last_lines(std::string text, std::int64_t lines) {
  if (lines <= 0) return {};
  std::size_t at = text.size();
  if (at > 0 && text[at - 1] == '\n') --at;  // the end of the last line begins none
  while (lines-- > 0 && at != std::string::npos)
    at = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return at == std::string::npos ? text : text.substr(at + 1);
}

http::Response text_head() {
  return {.status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = {}};
}

}  // namespace

FileLogs::FileLogs(Loop& loop, std::string directory)
    : loop_(loop),
      directory_(std::move(directory)),
      inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  MUSTER_ASSERT(inotify_ >= 0, "the kernel has inotify");
  loop_.watch_readable(inotify_, [this] { grew(); });
}

FileLogs::~FileLogs() {
  *alive_ = false;
  loop_.unwatch(inotify_);
  ::close(inotify_);
  for (const auto& [name, file] : files_) {
    for (const auto& follower : file.followers) ::close(follower.fd);
  }
}

std::string FileLogs::path(std::string_view ns, std::string_view pod, std::string_view uid,
                           std::string_view container) const {
  return fmt::format("{}/{}_{}_{}/{}.log", directory_, ns, pod, uid, container);
}

std::string FileLogs::opened(std::string_view ns, std::string_view pod, std::string_view uid,
                             std::string_view container) {
  std::string file = path(ns, pod, uid, container);
  std::error_code ignored;  // the open that follows says what is wrong
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  files_.try_emplace(file);
  return file;
}

void FileLogs::closed(const std::string& file) {
  const auto at = files_.find(file);
  if (at == files_.end()) return;
  send_news(at->second);
  for (const auto& follower : at->second.followers) {
    ::close(follower.fd);
    follower.exchange->finish();
  }
  if (at->second.watch >= 0) {
    ::inotify_rm_watch(inotify_, at->second.watch);
    watched_.erase(at->second.watch);
  }
  files_.erase(at);
}

void FileLogs::serve(Wanted wanted, std::shared_ptr<http::Exchange> exchange) {
  loop_.post([this, alive = alive_, wanted = std::move(wanted), exchange = std::move(exchange)] {
    if (*alive) answer(wanted, exchange);
  });
}

void FileLogs::answer(const Wanted& wanted, const std::shared_ptr<http::Exchange>& exchange) {
  if (wanted.previous) {
    return refuse(*exchange,
                  fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                              wanted.container, wanted.pod));
  }
  if (wanted.timestamps || wanted.since_seconds || wanted.since_time) {
    return refuse(*exchange,
                  "this runtime does not record the times of log lines yet: leave out timestamps, "
                  "since and since-time");
  }
  const std::string file = path(wanted.ns, wanted.pod, wanted.uid, wanted.container);
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return refuse(
        *exchange,
        fmt::format("container \"{}\" in pod \"{}\" is waiting to start: ContainerCreating",
                    wanted.container, wanted.pod));
  }
  std::string text = read_rest(fd);
  if (wanted.tail_lines) text = last_lines(std::move(text), *wanted.tail_lines);
  if (wanted.limit_bytes)
    text.resize(std::min(text.size(),
                         static_cast<std::size_t>(std::max<std::int64_t>(0, *wanted.limit_bytes))));
  if (wanted.follow && files_.contains(file)) return follow(file, fd, exchange, std::move(text));
  ::close(fd);
  http::Response response = text_head();
  response.body.push_back(http::Chunk::own(std::move(text)));
  exchange->respond(std::move(response));
}

void FileLogs::follow(const std::string& name, int fd, std::shared_ptr<http::Exchange> exchange,
                      std::string first) {
  http::Response head = text_head();
  head.body.push_back(http::Chunk::own(std::move(first)));
  exchange->start_stream(std::move(head));
  exchange->on_close([this, alive = alive_, name, raw = exchange.get()] {
    loop_.post([this, alive, name, raw] {
      if (*alive) drop(name, raw);
    });
  });
  File& file = files_[name];
  file.followers.push_back({std::move(exchange), fd});
  if (file.watch < 0) {
    file.watch = ::inotify_add_watch(inotify_, name.c_str(), IN_MODIFY);
    watched_[file.watch] = name;
  }
  send_news(file);  // what was written between the first read and the watch
}

void FileLogs::drop(const std::string& name, const http::Exchange* exchange) {
  const auto at = files_.find(name);
  if (at == files_.end()) return;
  std::erase_if(at->second.followers, [exchange](const Follower& follower) {
    if (follower.exchange.get() != exchange) return false;
    ::close(follower.fd);
    return true;
  });
}

void FileLogs::grew() {
  alignas(inotify_event) char buffer[4096];
  std::set<std::string> names;
  ssize_t got = 0;
  while ((got = ::read(inotify_, buffer, sizeof buffer)) > 0) {
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      if (const auto name = watched_.find(event->wd); name != watched_.end())
        names.insert(name->second);
      at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
    }
  }
  for (const auto& name : names) send_news(files_[name]);
}

void FileLogs::send_news(File& file) {
  for (const auto& follower : file.followers) {
    std::string text = read_rest(follower.fd);
    if (text.empty()) continue;
    if (follower.exchange->unsent_bytes() > kMaxUnsent) {
      follower.exchange->abort();
      continue;
    }
    std::vector<http::Chunk> chunks;
    chunks.push_back(http::Chunk::own(std::move(text)));
    follower.exchange->send(std::move(chunks));
  }
}

}  // namespace muster::agent
