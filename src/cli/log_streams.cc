#include "cli/log_streams.h"

#include <fmt/format.h>

#include "cli/kinds.h"
#include "cli/terminal_text.h"

namespace muster::cli {

LogStreams::LogStreams(client::Client& client, std::string ns, std::string job_set,
                       LogOptions options, Print print)
    : client_(client),
      ns_(std::move(ns)),
      job_set_(std::move(job_set)),
      options_(std::move(options)),
      print_(std::move(print)) {}

std::string LogStreams::name_of(const PodFacts& pod, const std::string& container) const {
  if (options_.prefix == Prefix::kNone) return "";
  const bool by_rank = options_.prefix == Prefix::kRank && !pod.rank.empty();
  std::string name = by_rank ? plain_text(pod.rank) : short_name(pod, job_set_);
  if (pod.several_containers) name += "/" + plain_text(container);
  return name;
}

void LogStreams::look(const PodFacts& pod) {
  for (const PodFacts::Log& container : pod.logs) {
    if (!options_.container.empty() && container.container != options_.container) continue;
    const std::string key =
        fmt::format("{}/{}/{}", pod.uid, container.container, container.restarts);
    if (logs_.contains(key)) continue;
    logs_[key] = std::make_unique<Log>(name_of(pod, container.container));
    Log& log = *logs_[key];
    log.pod_uid = pod.uid;
    ++open_;
    std::string target =
        fmt::format("{}?container={}", client::url_path(pods(), ns_, pod.name, "log"),
                    client::url_escape(container.container));
    if (options_.follow) target += "&follow=true";
    if (options_.previous) target += "&previous=true";
    if (options_.timestamps) target += "&timestamps=true";
    if (options_.tail >= 0) target += fmt::format("&tailLines={}", options_.tail);
    log.stream = client_.stream(std::move(target),
                                {.head = [&log](int status) { log.status = status; },
                                 .data =
                                     [this, &log](std::string_view data) {
                                       if (log.status / 100 != 2) {
                                         if (log.answer.size() < kLongestLogLine)
                                           log.answer += data;
                                         return;
                                       }
                                       log.lines.take(
                                           data, [&](std::string_view line) { print(log, line); });
                                     },
                                 .end = [this, &log](const Status&) { ended(log); }});
  }
}

void LogStreams::print(const Log& log, std::string_view line) {
  const std::string text = log_text(line);
  std::deque<std::string>& kept = kept_[log.pod_uid];
  kept.push_back(text);
  if (kept.size() > kKeptLines) kept.pop_front();
  if (log.prefix.empty()) return print_(text);
  // A colour that the line leaves on ends with it.
  const std::string_view reset = options_.colours && text.contains('\x1b') ? "\x1b[0m" : "";
  print_(fmt::format("{} | {}{}", coloured(log.prefix, colour_of(log.prefix), options_.colours),
                     text, reset));
}

void LogStreams::ended(Log& log) {
  log.lines.finish([&](std::string_view line) { print(log, line); });
  const bool pod_is_gone = log.status == 404;  // between our look and our question: no news
  if (log.status / 100 != 2 && !pod_is_gone && !log.answer.empty())
    refusal_ = client::error_of_status(log.status, log.answer).message;
  if (--open_ == 0 && idle_) idle_();
}

std::vector<std::string> LogStreams::last_lines(const std::string& pod_uid) const {
  const auto kept = kept_.find(pod_uid);
  if (kept == kept_.end()) return {};
  return {kept->second.begin(), kept->second.end()};
}

}  // namespace muster::cli
