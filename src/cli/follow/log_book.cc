#include "cli/follow/log_book.h"

#include <fmt/format.h>

#include "base/terminal_text.h"

namespace muster::cli {
namespace {

std::string key_of_runs(const std::string& pod_uid, const std::string& container) {
  return fmt::format("{}/{}", pod_uid, container);
}

}  // namespace

std::vector<std::string> prefix_words() { return {"name", "rank", "none"}; }

Prefix parse_prefix(std::string_view word) {
  if (word == "rank") return Prefix::kRank;
  return word == "none" ? Prefix::kNone : Prefix::kName;
}

std::string log_line_text(std::string_view time, std::string_view text, const LogOptions& options) {
  std::string out = log_text(text);
  if (options.timestamps && !time.empty()) out = fmt::format("{} {}", plain_text(time), out);
  return out;
}

std::string log_line(const std::string& prefix, const std::string& text,
                     const LogOptions& options) {
  if (prefix.empty()) return text;
  // A colour that the line leaves on ends with it.
  const std::string_view reset = options.colours && text.contains('\x1b') ? "\x1b[0m" : "";
  return fmt::format("{} | {}{}", coloured(prefix, colour_of(prefix), options.colours), text,
                     reset);
}

std::string LogBook::name_of(const story::PodFacts& pod, const std::string& container) const {
  if (options_.prefix == Prefix::kNone) return "";
  const bool by_rank = options_.prefix == Prefix::kRank && !pod.rank.empty();
  std::string name = by_rank ? plain_text(pod.rank) : story::short_name(pod, job_set_);
  if (pod.several_containers) name += "/" + plain_text(container);
  return name;
}

std::vector<LogRun> LogBook::look(const story::PodFacts& pod) {
  std::vector<LogRun> out;
  for (const auto& [container, restarts] : pod.logs) {
    if (!options_.container.empty() && container != options_.container) continue;
    Runs& runs = runs_[key_of_runs(pod.uid, container)];
    if (runs.newest >= restarts) continue;
    runs.newest = restarts;
    ++open_;
    LogRun log{.pod = pod.name,
               .uid = pod.uid,
               .container = container,
               .run = restarts,
               .prefix = name_of(pod, container)};
    if (runs.is_read) {
      runs.waiting.push_back(std::move(log));
    } else {
      runs.is_read = true;
      out.push_back(std::move(log));
    }
  }
  return out;
}

std::optional<LogRun> LogBook::ended(const LogRun& log) {
  Runs& runs = runs_[key_of_runs(log.uid, log.container)];
  if (!runs.is_read) return std::nullopt;
  --open_;
  if (runs.waiting.empty()) {
    runs.is_read = false;
    return std::nullopt;
  }
  LogRun next = std::move(runs.waiting.front());
  runs.waiting.pop_front();
  return next;
}

void LogBook::keep_line(const std::string& pod_uid, std::string text) {
  std::deque<std::string>& kept = kept_[pod_uid];
  kept.push_back(std::move(text));
  if (kept.size() > kKeptLines) kept.pop_front();
}

std::vector<std::string> LogBook::last_lines(const std::string& pod_uid) const {
  const auto kept = kept_.find(pod_uid);
  if (kept == kept_.end()) return {};
  return {kept->second.begin(), kept->second.end()};
}

}  // namespace muster::cli
