// `muster top`: JobSets, their pods and logs, live, with a key per level.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "api/views/job_set_names.h"
#include "base/log.h"
#include "base/terminal_text.h"
#include "cli/follow/keys.h"
#include "cli/follow/log_streams.h"
#include "cli/follow/screen.h"
#include "cli/follow/signals.h"
#include "cli/follow/top_view.h"
#include "cli/input/connection.h"
#include "cli/input/kinds.h"
#include "cli/input/lookup.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "client/informer.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

struct TopOptions {
  ServerFlags server;
  bool all_namespaces = false;
  bool once = false;
};

constexpr Duration kRefresh = std::chrono::seconds(1);
constexpr Duration kAtOnce = std::chrono::milliseconds(50);  // many changes make one picture
constexpr std::int64_t kLogTail = 200;

struct Size {
  std::size_t width = 80, height = 24;
};

Size terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_col, size.ws_row};
}

class Top {
 public:
  Top(Connection& connection, const TopOptions& options)
      : connection_(connection),
        loop_(connection.loop()),
        interactive_(!options.once && ::isatty(STDOUT_FILENO) == 1),
        colours_(wants_colours(STDOUT_FILENO)),
        sets_(connection.client(), job_sets(),
              {.ns = options.all_namespaces ? "" : connection.ns()}),
        pods_(connection.client(), pods(),
              {.ns = options.all_namespaces ? "" : connection.ns(),
               .label_selector = std::string(api::label::kJobSetName)}) {
    sets_.on_change([this](const auto& before, const auto& after) { set_changed(before, after); });
    pods_.on_change([this](const auto& before, const auto& after) { pod_changed(before, after); });
  }

  int run(Signals& signals) {
    int code = kSucceeded;
    signals.on_signal(loop_, [&](int number) {
      code = kSignal + number;
      loop_.stop();
    });
    if (!interactive_) {
      wait_for_all();
      if (code == kSucceeded) print_table();
      return code;
    }
    const Keys keys(loop_, [this](Key key) { pressed(key); });
    fmt::print("\x1b[?1049h\x1b[?25l");  // another screen, no cursor
    sets_.start();
    pods_.start();
    tick();
    loop_.run();
    fmt::print("\x1b[?25h\x1b[?1049l");
    std::fflush(stdout);
    return code;
  }

 private:
  void wait_for_all() {
    sets_.on_synced([this] { pods_.on_synced([this] { loop_.stop(); }); });
    sets_.start();
    pods_.start();
    loop_.run();
  }

  void print_table() const {
    constexpr std::size_t kAny = 100'000;
    const auto lines = view_.lines(loop_.clock().now(), kAny, kAny, false);
    for (std::size_t i = 1; i + 1 < lines.size(); ++i) fmt::print("{}\n", lines[i]);
  }

  void set_changed(const client::ObjectPtr& before, const client::ObjectPtr& after) {
    if (!after) {
      view_.remove_job_set(before->meta().ns, before->meta().name);
    } else {
      view_.set_job_set(story::standing_of(api::read_job_set(sets_.content())), after->meta().ns);
    }
    draw_soon();
  }

  void pod_changed(const client::ObjectPtr& before, const client::ObjectPtr& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    const std::string key = meta.ns + "/" + meta.name;
    if (!after) {
      view_.remove_pod(key);
    } else {
      const json::Value pod = pods_.content();
      story::PodFacts facts = story::pod_facts(pod);
      if (key == log_of_) read_logs(facts);
      const std::string set(pod.get({"metadata", "labels", api::label::kJobSetName}).as_string());
      view_.set_pod(key, std::move(facts), meta.ns + "/" + set);
    }
    draw_soon();
  }

  void pressed(Key key) {
    if (!view_.press(key)) return loop_.stop();
    follow_log();
    draw();
  }

  // Of the pod that is looked at, and of no other.
  void follow_log() {
    const std::string wanted =
        view_.level() == TopView::Level::kLog ? view_.selected_pod() : std::string();
    if (wanted == log_of_) return;
    log_of_ = wanted;
    logs_.reset();
    view_.clear_log();
    const std::size_t slash = wanted.find('/');
    if (slash == std::string::npos) return;
    const client::ObjectPtr pod = pods_.find(wanted.substr(0, slash), wanted.substr(slash + 1));
    json::Arena arena;
    const auto tree = pod ? json::parse(arena, pod->bytes()) : json::parse(arena, "{}");
    book_.emplace("", LogOptions{.container = {}, .tail = kLogTail, .prefix = Prefix::kNone});
    logs_ = std::make_unique<LogStreams>(
        connection_.client(), wanted.substr(0, slash), book_->options(),
        LogStreams::Events{.line =
                               [this](const LogRun&, const LogPosition::Line& line) {
                                 view_.add_log_line(plain_text(log_text(line.text)));
                                 draw_soon();
                               },
                           .ended =
                               [this](const LogRun& log, const std::string&) {
                                 if (auto next = book_->ended(log)) logs_->read(*std::move(next));
                               }});
    if (tree) read_logs(story::pod_facts(*tree));
  }

  void read_logs(const story::PodFacts& pod) {
    if (!logs_) return;
    for (LogRun& log : book_->look(pod)) logs_->read(std::move(log));
  }

  void draw_soon() {
    if (!interactive_ || std::exchange(drawing_soon_, true)) return;
    loop_.after(kAtOnce, [this] {
      drawing_soon_ = false;
      draw();
    });
  }

  void draw() {
    const Size size = terminal_size();
    std::string out = "\x1b[H";
    const auto lines = view_.lines(loop_.clock().now(), size.width, size.height, colours_);
    for (std::size_t i = 0; i < lines.size(); ++i)
      out += lines[i] + "\x1b[K" + (i + 1 < lines.size() ? "\r\n" : "");
    out += "\x1b[J";
    std::fwrite(out.data(), 1, out.size(), stdout);
    std::fflush(stdout);
  }

  void tick() {
    draw();
    loop_.after(kRefresh, [this] { tick(); });
  }

  Connection& connection_;
  Loop& loop_;
  bool interactive_;
  bool colours_;
  TopView view_;
  client::Informer sets_, pods_;
  std::string log_of_;
  std::optional<LogBook> book_;  // of that pod, like logs_
  std::unique_ptr<LogStreams> logs_;
  bool drawing_soon_ = false;
};

int top(const TopOptions& options) {
  log::configure(log::Level::kError, log::Format::kText);
  Signals signals;
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  // The views wait for a server for ever: it has to be there, and to have JobSets, first.
  if (const auto ready =
          (*connection)->list(job_sets(), {.ns = (*connection)->ns(), .metadata_only = true});
      !ready)
    return complain(explain_unserved(job_sets(), ready.error()));
  return Top(**connection, options).run(signals);
}

}  // namespace

Verb top_verb() {
  const auto o = std::make_shared<TopOptions>();
  return {.name = "top",
          .group = "Understand",
          .help = "Watch JobSets, their pods and logs live; a table if there is no terminal",
          .flags = with_server_flags(
              o->server, {{"-A,--all-namespaces", &o->all_namespaces, "Of all namespaces"},
                          {"--once", &o->once, "Print the table and end"}}),
          .run = [o] { return top(*o); }};
}

}  // namespace muster::cli
