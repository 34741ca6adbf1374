#include "cli/follow/top_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/terminal_text.h"
#include "story/text_table.h"

namespace muster::cli {
namespace {

std::vector<std::string> lines_of(story::TextTable table) {
  std::vector<std::string> lines;
  const std::string text = table.take();
  for (std::size_t start = 0, end; (end = text.find('\n', start)) != text.npos; start = end + 1)
    lines.push_back(text.substr(start, end - start));
  return lines;
}

std::string age(const std::optional<Time>& since, Time now) {
  return since ? human_duration(std::max(Duration{}, now - *since)) : "";
}

std::size_t clamped(std::size_t row, std::size_t rows) {
  return rows == 0 ? 0 : std::min(row, rows - 1);
}

}  // namespace

void TopView::set_pod(const std::string& key, story::PodFacts pod, std::string job_set) {
  pods_[key] = {std::move(pod), std::move(job_set)};
}

void TopView::add_log_line(std::string line) {
  log_.push_back(std::move(line));
  if (log_.size() > kMaxLog) log_.erase(log_.begin());
}

std::string TopView::selected_job_set() const {
  if (sets_.empty()) return "";
  return std::next(sets_.begin(), static_cast<std::ptrdiff_t>(clamped(set_row_, sets_.size())))
      ->first;
}

std::vector<const std::pair<const std::string, TopView::Pod>*> TopView::pods_of_selected() const {
  std::vector<const std::pair<const std::string, Pod>*> out;
  const std::string set = selected_job_set();
  for (const auto& entry : pods_) {
    if (entry.second.job_set == set) out.push_back(&entry);
  }
  return out;
}

std::string TopView::selected_pod() const {
  const auto pods = pods_of_selected();
  return pods.empty() ? "" : pods[clamped(pod_row_, pods.size())]->first;
}

std::size_t TopView::rows() const {
  return level_ == Level::kJobSets ? sets_.size() : pods_of_selected().size();
}

bool TopView::press(Key key) {
  if (key == Key('q')) return false;
  const bool up = key == Key(Special::kUp) || key == Key('k');
  const bool down = key == Key(Special::kDown) || key == Key('j');
  const bool in = key == Key(Special::kEnter) || key == Key(Special::kRight) || key == Key('l');
  const bool out = key == Key(Special::kEscape) || key == Key(Special::kLeft) || key == Key('h');
  if (level_ == Level::kLog) {
    if (up) log_up_ = std::min(log_up_ + 1, log_.size());
    if (down && log_up_ > 0) --log_up_;
    if (out) level_ = Level::kPods;
    return true;
  }
  std::size_t& row = level_ == Level::kJobSets ? set_row_ : pod_row_;
  row = clamped(row, rows());
  if (up && row > 0) --row;
  if (down) row = clamped(row + 1, rows());
  if (in && rows() > 0) {
    level_ = level_ == Level::kJobSets ? Level::kPods : Level::kLog;
    if (level_ == Level::kPods) pod_row_ = 0;
    log_up_ = 0;
  } else if (out) {
    if (level_ == Level::kJobSets) return key != Key(Special::kEscape);
    level_ = Level::kJobSets;
  }
  return true;
}

// The header first.
std::vector<std::string> TopView::body(Time now) const {
  if (level_ == Level::kJobSets) {
    story::TextTable table(
        {"NAMESPACE", "JOBSET", "STATE", "STAGE", "PODS", "RESTARTS", "AGE", "WAITING FOR"});
    for (const auto& [key, set] : sets_) {
      std::int64_t ready = 0, all = 0;
      for (const auto& [name, pod] : pods_) {
        if (pod.job_set != key) continue;
        ready += pod.facts.ready || pod.facts.phase == "Succeeded" ? 1 : 0;
        ++all;
      }
      table.add({key.substr(0, key.find('/')), set.name, set.state, set.current(),
                 fmt::format("{}/{}", ready, all), std::to_string(set.restarts),
                 age(set.created, now), set.waiting});
    }
    return lines_of(std::move(table));
  }
  story::TextTable table({"POD", "STATUS", "READY", "NODE", "TIME", "NOTE"});
  for (const auto* entry : pods_of_selected()) {
    const story::PodFacts& pod = entry->second.facts;
    const std::string note = pod.failure            ? pod.failure->text()
                             : !pod.trouble.empty() ? pod.trouble
                             : pod.at_barrier       ? "at the barrier"
                                                    : pod.unschedulable;
    table.add({pod.name, pod.status, pod.ready ? "yes" : "no", pod.node,
               pod.finished && pod.started
                   ? human_duration(std::max(Duration{}, *pod.finished - *pod.started))
                   : age(pod.started, now),
               note});
  }
  return lines_of(std::move(table));
}

std::vector<std::string> TopView::lines(Time now, std::size_t width, std::size_t height,
                                        bool colours) const {
  constexpr int kReverse = 7, kFaint = 2;
  std::vector<std::string> out;
  if (height < 3) return out;
  const std::size_t room = height - 2;  // title and keys
  const std::string set = plain_text(selected_job_set());
  const std::string title = level_ == Level::kJobSets ? fmt::format("{} JobSets", sets_.size())
                            : level_ == Level::kPods  ? set
                                                      : plain_text(selected_pod());
  out.push_back(coloured(cut_to("muster top   " + title, width), kReverse, colours));
  if (level_ == Level::kLog) {
    const std::size_t end = log_.size() - std::min(log_up_, log_.size());
    for (std::size_t i = end > room ? end - room : 0; i < end; ++i)
      out.push_back(cut_to(log_[i], width));
  } else {
    const std::vector<std::string> all = body(now);
    const std::size_t row = clamped(level_ == Level::kJobSets ? set_row_ : pod_row_, rows());
    const std::size_t first = row + 2 > room ? row + 2 - room : 0;  // the header stays
    if (!all.empty()) out.push_back(cut_to(all.front(), width));
    for (std::size_t i = first; i + 1 < all.size() && out.size() < room + 1; ++i)
      out.push_back(coloured(cut_to(all[i + 1], width), kReverse, colours && i == row));
    if (all.empty()) out.push_back("nothing here yet");
  }
  const std::string_view keys = level_ == Level::kLog ? "up/down: scroll   left: back   q: quit"
                                : level_ == Level::kPods
                                    ? "up/down: choose   right: log   left: back   q: quit"
                                    : "up/down: choose   right: pods   q: quit";
  out.push_back(coloured(cut_to(keys, width), kFaint, colours));
  return out;
}

}  // namespace muster::cli
