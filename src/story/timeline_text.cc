#include "story/timeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/terminal_text.h"
#include "json/value.h"
#include "json/write.h"

namespace muster::story {
namespace {

using json::Value;

constexpr std::size_t kMaxName = 30;
constexpr std::size_t kLeastBar = 10;
constexpr int kRowHeight = 18, kNameWidth = 220, kChartWidth = 760;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string state_of(const PodFacts& pod) {
  if (pod.phase == "Succeeded") return "succeeded";
  if (pod.phase == "Failed") return "failed";
  return pod.started ? "running" : "waiting";
}

char last_letter(const Bar& bar) { return bar.state == "failed" ? '!' : '#'; }

std::string as_text(const Timeline& timeline, std::size_t width) {
  std::size_t name_width = 0;
  for (const Bar& bar : timeline.bars)
    name_width = std::max(name_width, std::min(bar.name.size(), kMaxName));
  constexpr std::size_t kTimes = 20;
  const std::size_t room =
      width > name_width + kTimes + kLeastBar ? width - name_width - kTimes : kLeastBar;
  const double whole = std::max(seconds(timeline.end - timeline.begin), 1e-3);
  const auto column = [&](Time time) {
    const double part = std::clamp(seconds(time - timeline.begin) / whole, 0.0, 1.0);
    return static_cast<std::size_t>(std::lround(part * static_cast<double>(room)));
  };
  std::string out =
      fmt::format("{}   {}   . waits  # runs  ! failed\n", plain_text(timeline.job_set),
                  human_duration(timeline.end - timeline.begin));
  for (const Bar& bar : timeline.bars) {
    const std::size_t created = column(bar.created), end = column(bar.end);
    const std::size_t started = bar.started ? std::min(column(*bar.started), end) : end;
    std::string line(room + 1, ' ');
    for (std::size_t i = created; i < started; ++i) line[i] = '.';
    for (std::size_t i = started; i < end; ++i) line[i] = '#';
    // It ran until it failed.
    if (bar.started) line[started == end ? std::min(end, room) : end - 1] = last_letter(bar);
    const Duration ran = bar.started ? bar.end - *bar.started : Duration{};
    out += fmt::format("{:<{}} |{}| {} {}\n", cut_to(plain_text(bar.name), name_width), name_width,
                       line, bar.state, bar.started ? human_duration(ran) : "");
  }
  return out;
}

std::string as_json(const Timeline& timeline) {
  json::Arena arena;
  const Value root = Value::object(arena);
  root.set("apiVersion", "muster.dev/v1");
  root.set("kind", "Timeline");
  root.set("jobSet", timeline.job_set);
  root.set("begin", format_micro_time(timeline.begin));
  root.set("end", format_micro_time(timeline.end));
  const Value pods = root.array_at("pods");
  for (const Bar& bar : timeline.bars) {
    const Value pod = Value::object(arena);
    pod.set("name", bar.name);
    pod.set("stage", bar.stage);
    pod.set("attempt", bar.attempt);
    pod.set("state", bar.state);
    pod.set("created", format_micro_time(bar.created));
    if (bar.started) pod.set("started", format_micro_time(*bar.started));
    pod.set("end", format_micro_time(bar.end));
    pods.push_back(pod);
  }
  return escaped_json(json::write_pretty(root)) + "\n";
}

void add_trace(Value events, const Timeline& timeline, std::string_view name, const Bar& bar,
               Time from, Time to, std::size_t row, std::int64_t process) {
  const Value event = Value::object(events.arena());
  event.set("name", name);
  event.set("cat", bar.stage);
  event.set("ph", "X");
  event.set("ts", Value::of(std::int64_t{(from - timeline.begin).count()}));
  event.set("dur", Value::of(std::int64_t{std::max<std::int64_t>((to - from).count(), 1)}));
  event.set("pid", Value::of(process));
  event.set("tid", Value::of(static_cast<std::int64_t>(row)));
  events.push_back(event);
}

void add_name(Value events, std::string_view what, std::string_view name, std::int64_t process,
              std::size_t row) {
  const Value event = Value::object(events.arena());
  event.set("name", what);
  event.set("ph", "M");
  event.set("pid", Value::of(process));
  event.set("tid", Value::of(static_cast<std::int64_t>(row)));
  event.object_at("args").set("name", name);
  events.push_back(event);
}

// One process per stage, one thread per pod.
std::string as_perfetto(const Timeline& timeline) {
  json::Arena arena;
  const Value root = Value::object(arena);
  const Value events = root.array_at("traceEvents");
  std::map<std::string, std::int64_t> processes;
  for (std::size_t row = 0; row < timeline.bars.size(); ++row) {
    const Bar& bar = timeline.bars[row];
    const auto [process, is_new] =
        processes.try_emplace(bar.stage, static_cast<std::int64_t>(processes.size()) + 1);
    if (is_new) add_name(events, "process_name", bar.stage, process->second, 0);
    add_name(events, "thread_name", bar.name, process->second, row + 1);
    const Time started = bar.started.value_or(bar.end);
    if (started > bar.created)
      add_trace(events, timeline, "waits", bar, bar.created, started, row + 1, process->second);
    if (bar.started)
      add_trace(events, timeline, bar.state, bar, started, bar.end, row + 1, process->second);
  }
  return escaped_json(json::write(root)) + "\n";
}

std::string escaped_xml(std::string_view text) {
  std::string out;
  for (const char c : plain_text(text)) {
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  }
  return out;
}

std::string rectangle(double x, int y, double width, std::string_view colour,
                      std::string_view title) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" "
      "fill=\"{}\"><title>{}</title></rect>\n",
      x, y + 3, std::max(width, 1.0), kRowHeight - 6, colour, title);
}

std::string as_svg(const Timeline& timeline) {
  const double whole = std::max(seconds(timeline.end - timeline.begin), 1e-3);
  const auto at = [&](Time time) {
    return kNameWidth + std::clamp(seconds(time - timeline.begin) / whole, 0.0, 1.0) * kChartWidth;
  };
  const int height = (static_cast<int>(timeline.bars.size()) + 2) * kRowHeight;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<text x=\"4\" y=\"13\">{}, {}</text>\n",
      kNameWidth + kChartWidth + 20, height, escaped_xml(timeline.job_set),
      human_duration(timeline.end - timeline.begin));
  int y = kRowHeight;
  for (const Bar& bar : timeline.bars) {
    const std::string title = escaped_xml(fmt::format("{}: {}", bar.name, bar.state));
    const Time started = bar.started.value_or(bar.end);
    out += fmt::format("<text x=\"4\" y=\"{}\">{}</text>\n", y + 13,
                       escaped_xml(cut_to(bar.name, kMaxName)));
    out += rectangle(at(bar.created), y, at(started) - at(bar.created), "#cccccc", title);
    if (bar.started) {
      out += rectangle(at(started), y, at(bar.end) - at(started),
                       bar.state == "failed" ? "#c0392b" : "#2e86c1", title);
    }
    y += kRowHeight;
  }
  return out + "</svg>\n";
}

// The replicated job of a pod by the pod's name; empty if it is of another set.
std::string stage_by_name(const api::JobSet& set, std::string_view pod) {
  for (const auto& entry : set.replicated_jobs) {
    const std::string prefix = fmt::format("{}-{}-", set.meta.name, entry.name);
    if (pod.starts_with(prefix) && pod.size() > prefix.size() && pod[prefix.size()] >= '0' &&
        pod[prefix.size()] <= '9') {
      return entry.name;
    }
  }
  return "";
}

// From the first event of a pod to its last; it ran from the last start of a container on.
std::vector<Bar> bars_of_events(const api::JobSet& set, const std::vector<EventRow>& events) {
  std::map<std::string, Bar> bars;
  constexpr std::string_view kPod = "pod/";
  for (const EventRow& event : events) {
    if (!event.object.starts_with(kPod) || event.at < set.meta.creation_time.value_or(event.at))
      continue;
    const std::string name = event.object.substr(kPod.size());
    const std::string stage = stage_by_name(set, name);
    if (stage.empty()) continue;
    const auto [bar, is_new] = bars.try_emplace(name);
    if (is_new)
      bar->second = {.name = name,
                     .stage = stage,
                     .attempt = {},
                     .state = "stopped",
                     .created = event.at,
                     .started = {},
                     .end = event.at};
    if (event.reason == "Started") bar->second.started = event.at;
    bar->second.end = std::max(bar->second.end, event.at);
  }
  std::vector<Bar> out;
  for (auto& [name, bar] : bars) out.push_back(std::move(bar));
  return out;
}

}  // namespace

Timeline timeline_of(const api::JobSet& set, const std::vector<PodFacts>& pods,
                     const std::vector<EventRow>& events, Time now) {
  const Time created = set.meta.creation_time.value_or(now);
  Timeline out{.job_set = set.meta.name, .begin = created, .end = created, .bars = {}};
  for (const PodFacts& pod : pods) {
    Bar bar{.name = pod.name,
            .stage = pod.stage,
            .attempt = pod.attempt,
            .state = state_of(pod),
            .created = pod.created.value_or(created),
            .started = pod.started,
            .end = pod.has_ended() ? pod.finished.value_or(now) : now};
    bar.end = std::max(bar.end, bar.started.value_or(bar.created));
    out.bars.push_back(std::move(bar));
  }
  for (Bar& bar : bars_of_events(set, events)) {
    if (std::ranges::find(out.bars, bar.name, &Bar::name) == out.bars.end())
      out.bars.push_back(std::move(bar));
  }
  for (const Bar& bar : out.bars) out.end = std::max(out.end, bar.end);
  if (out.bars.empty()) out.end = now;
  std::ranges::stable_sort(out.bars, {}, [](const Bar& bar) {
    return std::tuple(bar.created, std::string_view(bar.stage), std::string_view(bar.name));
  });
  return out;
}

std::string print_timeline(const Timeline& timeline, std::string_view form, std::size_t width) {
  if (form == "json") return as_json(timeline);
  if (form == "svg") return as_svg(timeline);
  if (form == "perfetto") return as_perfetto(timeline);
  return as_text(timeline, width);
}

}  // namespace muster::story
