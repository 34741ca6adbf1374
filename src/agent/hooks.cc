#include "agent/hooks.h"

#include <fmt/format.h>

#include "base/duration.h"

namespace muster::agent {
namespace {

using json::Value;

class ExecHook final : public HookRun {
 public:
  ExecHook(runtime::Runtime& runtime, Value handler, const runtime::RunId& run, HookDone done)
      : done_(std::move(done)) {
    runtime::ExecSpec spec{.run = run};
    for (const Value part : handler.get("command").items())
      spec.argv.emplace_back(part.as_string());
    exec_ = runtime.exec(spec,
                         {.output = {}, .end = [this](const Result<int>& code) { finish(code); }});
  }

 private:
  void finish(const Result<int>& code) {
    if (!code) return done_(std::unexpected(code.error()), "");
    if (*code == 0) return done_({}, "");
    done_(fail(Code::kInternal, fmt::format("command exited with {}", *code)), "");
  }

  HookDone done_;
  std::unique_ptr<runtime::Exec> exec_;
};

class HttpHook final : public HookRun {
 public:
  HttpHook(Prober& prober, Value handler, const ProbeTarget& target, HookDone done)
      : attempt_(prober.http_hook(handler, target, Duration::zero(),
                                  [done = std::move(done)](Prober::HookOutcome outcome) mutable {
                                    done(std::move(outcome.status), std::move(outcome.fallback));
                                  })) {}

 private:
  std::unique_ptr<Attempt> attempt_;
};

class TimedHook final : public HookRun {
 public:
  TimedHook(Loop& loop, Duration delay, Status outcome, HookDone done) : loop_(loop) {
    timer_ = loop.after(delay, [done = std::move(done), outcome = std::move(outcome)]() mutable {
      done(std::move(outcome), "");
    });
  }
  ~TimedHook() override { loop_.cancel(timer_); }

 private:
  Loop& loop_;
  TimerId timer_;
};

}  // namespace

std::unique_ptr<HookRun> run_hook(Loop& loop, runtime::Runtime& runtime, Prober& prober,
                                  Value handler, const ProbeTarget& target, HookDone done) {
  if (const Value exec = handler.get("exec"); exec.is_object())
    return std::make_unique<ExecHook>(runtime, exec, target.run, std::move(done));
  if (const Value http = handler.get("httpGet"); http.is_object())
    return std::make_unique<HttpHook>(prober, http, target, std::move(done));
  if (const Value sleep = handler.get("sleep"); sleep.is_object())
    return std::make_unique<TimedHook>(
        loop, std::chrono::seconds(bounded_seconds(sleep.get("seconds").as_int())), Status(),
        std::move(done));
  // tcpSocket passes validation and is nothing that a node could run.
  return std::make_unique<TimedHook>(loop, Duration::zero(),
                                     fail(Code::kInvalid, "cannot run handler: unknown type"),
                                     std::move(done));
}

}  // namespace muster::agent
