#include "cli/follow/job_set_run.h"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/terminal_text.h"
#include "cli/input/connection.h"
#include "cli/input/kinds.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::cli {
namespace {

// After a signal, who reads the last lines is given up when he has taken none for so long; after a
// second one nobody is waited for, but the lines get as far as they get by themselves.
constexpr Duration kSlowReader = std::chrono::seconds(5);
constexpr Duration kLastLines = std::chrono::milliseconds(100);
// One Ctrl-C may come twice: programs that start others pass it on to the process and to its group.
constexpr Duration kOneKeystroke = std::chrono::milliseconds(100);

}  // namespace

JobSetRun::JobSetRun(client::Transport& transport, RunPlan plan)
    : loop_(transport.loop()),
      client_(transport, "muster-run"),
      plan_(std::move(plan)),
      screen_(loop_, {.progress = plan_.progress}),
      exit_code_(kRefused) {
  screen_.on_failure([this](int error_number) { output_failed(error_number); });
}

JobSetRun::~JobSetRun() { loop_.cancel(flush_limit_); }

int JobSetRun::exit_code() const {
  return output_lost_ && exit_code_ == kSucceeded ? int{kOutputLost} : exit_code_;
}

void JobSetRun::signalled(int number) {
  if (stopping_ && monotonic_now() - stopping_since_ < kOneKeystroke) return;
  ++signals_;
  if (ending_) {  // nobody reads the last lines
    if (!stopping_) exit_code_ = kSignal + number;
    return loop_.stop();
  }
  if (!std::exchange(stopping_, true)) {
    stopping_since_ = monotonic_now();
    exit_code_ = kSignal + number;
    screen_.clear_block();
    screen_.note(fmt::format("stopping {}; once more kills it", plan_.follow.job_set));
    return stop();
  }
  screen_.note("killed");
  kill();
}

void JobSetRun::detach() {
  if (stopping_ || !plan_.can_detach || !follow_) return;
  screen_.clear_block();
  screen_.note(fmt::format("{0} goes on; muster attach {0}{1} comes back to it",
                           plan_.follow.job_set, plan_.server));
  end(kSucceeded);
}

void JobSetRun::lost_server(const Error& why) {
  screen_.clear_block();
  screen_.note("error: " + plain_text(why.message));
  end(kUnreachable);
}

void JobSetRun::create_next() {
  if (created_ == plan_.manifest.objects().size()) return follow();
  const ManifestObject& object = plan_.manifest.objects()[created_];
  const bool is_for_a_namespace = plan_.is_private && !object.ns.empty();
  if (is_for_a_namespace && namespaces_.insert(object.ns).second) return make_namespace(object.ns);
  client_.write({.verb = client::Verb::kCreate,
                 .resource = object.resource,
                 .ns = object.ns,
                 .name = object.name,
                 .body = object.body,
                 .strict = true},
                [this](Result<std::string> answer) {
                  if (!answer) return refused(answer.error());
                  took(*answer);
                });
}

// Nobody else makes one on a server of our own.
void JobSetRun::make_namespace(const std::string& name) {
  json::Arena arena;
  const json::Value object = json::Value::object(arena);
  object.set("apiVersion", "v1");
  object.set("kind", "Namespace");
  object.object_at("metadata").set("name", name);
  client_.write({.verb = client::Verb::kCreate,
                 .resource = &namespaces(),
                 .ns = {},
                 .name = name,
                 .body = json::write(object)},
                [this](const Result<std::string>& answer) {
                  if (answer || answer.error().code == Code::kAlreadyExists) return create_next();
                  end(complain(answer.error()));
                });
}

void JobSetRun::took(std::string_view answer) {
  const ManifestObject& object = plan_.manifest.objects()[created_];
  if (object.resource == &job_sets()) {
    json::Arena arena;
    const auto tree = json::parse(arena, answer);
    // Of the created object: the file may have given a prefix only.
    if (tree) {
      plan_.follow.job_set = tree->get({"metadata", "name"}).as_string();
      plan_.follow.uid = tree->get({"metadata", "uid"}).as_string();
    }
    plan_.follow.ns = object.ns;
  }
  ++created_;
  create_next();
}

// What the JobSet needs may be there already; it itself may not.
void JobSetRun::refused(const Error& error) {
  const ManifestObject& object = plan_.manifest.objects()[created_];
  if (error.code == Code::kAlreadyExists && object.resource != &job_sets()) return apply(object);
  if (error.code != Code::kAlreadyExists) {
    return end(explain(object, error));
  }
  const std::string help =
      !plan_.make_room.empty()
          ? plan_.make_room
          : fmt::format(
                "muster attach {0}{1} follows the one that is there, muster delete jobset {0}{1} "
                "makes room",
                plain_text(object.name), plan_.server);
  fmt::print(stderr, "error: {}\n  help: {}\n", plain_text(error.message), help);
  end(kRefused);
}

int JobSetRun::explain(const ManifestObject& object, const Error& error) const {
  fmt::print(stderr, "{}", plan_.manifest.explain(object, error));
  return created_ == 0 ? say_nothing_stored(exit_code_of(error)) : exit_code_of(error);
}

void JobSetRun::apply(const ManifestObject& object) {
  client_.write({.verb = client::Verb::kPatch,
                 .resource = object.resource,
                 .ns = object.ns,
                 .name = object.name,
                 .body = object.body,
                 .patch_type = client::PatchType::kApply,
                 .force = true,
                 .strict = true},
                [this, &object](Result<std::string> answer) {
                  if (answer) return took(*answer);
                  end(explain(object, answer.error()));
                });
}

void JobSetRun::follow() {
  if (!plan_.watch.empty()) screen_.note("watch it: " + plan_.watch);
  plan_.follow.logs.colours = screen_.colours();
  follow_.emplace(client_, screen_, plan_.follow, [this](int code) { over(code); });
  follow_->on_change([this] { end_if_stopped(); });
  follow_->start();
}

// The JobSet has ended, or there is no use in waiting for it.
void JobSetRun::over(int code) {
  if (stopping_) return;
  exit_code_ = code;
  const bool gave_up = code == kTimedOut || code == kCannotPlace;
  const bool leave = !gave_up && (!plan_.is_private || !follow_->has_live_pods());
  if (leave || follow_->is_deleted()) return end(code);
  stopping_ = true;
  if (gave_up) screen_.note(fmt::format("stopping {}", plan_.follow.job_set));
  stop();
}

// Its pods get their grace period; it is over when they have gone.
void JobSetRun::stop() {
  if (!follow_) return end(exit_code_);
  follow_->expect_deletion();
  client_.write({.verb = client::Verb::kDelete,
                 .resource = &job_sets(),
                 .ns = plan_.follow.ns,
                 .name = plan_.follow.job_set,
                 .body = R"({"propagationPolicy":"Background"})"},
                [this](const Result<std::string>& answer) {
                  if (answer || answer.error().code == Code::kNotFound) return end_if_stopped();
                  complain(answer.error());
                  end(exit_code_);
                });
}

void JobSetRun::end_if_stopped() {
  if (stopping_ && follow_ && follow_->is_deleted() && !follow_->has_live_pods()) end(exit_code_);
}

void JobSetRun::kill() {
  const auto pods_left = follow_ ? follow_->live_pods() : std::vector<std::string>();
  if (pods_left.empty()) return end(exit_code_);
  const auto missing = std::make_shared<std::size_t>(pods_left.size());
  for (const std::string& pod : pods_left) {
    client_.write({.verb = client::Verb::kDelete,
                   .resource = &pods(),
                   .ns = plan_.follow.ns,
                   .name = pod,
                   .body = R"({"gracePeriodSeconds":0})"},
                  [this, missing](const Result<std::string>&) {
                    if (--*missing == 0) end(exit_code_);
                  });
  }
}

// Who has gone needs no run any more, as with any other program in a pipe. Elsewhere the lines are
// lost, but not the work.
void JobSetRun::output_failed(int error_number) {
  if (error_number != EPIPE) {
    output_lost_ = true;
    return screen_.note(fmt::format("error: standard output cannot be written, no log is shown: {}",
                                    std::strerror(error_number)));
  }
  if (ending_ || std::exchange(stopping_, true)) return;
  exit_code_ = kSignal + SIGPIPE;
  screen_.clear_block();
  screen_.note(fmt::format("nobody reads the output any more: stopping {}", plan_.follow.job_set));
  stop();
}

void JobSetRun::end(int code) {
  if (std::exchange(ending_, true)) return;
  exit_code_ = code;
  screen_.finish([this] { loop_.stop(); });
  limit_flush();
}

void JobSetRun::limit_flush() {
  if (signals_ == 0) return;
  const bool is_urgent = signals_ > 1;
  flush_limit_ = loop_.after(is_urgent ? kLastLines : kSlowReader,
                             [this, is_urgent, left = screen_.unwritten()] {
                               if (!is_urgent && screen_.unwritten() < left) return limit_flush();
                               loop_.stop();
                             });
}

}  // namespace muster::cli
