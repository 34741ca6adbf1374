#include "agent/probes/exec_probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/values/field_error.h"
#include "base/duration.h"

namespace muster::agent {
namespace {

class ExecAttempt final : public Attempt {
 public:
  ExecAttempt(Loop& loop, runtime::Runtime& runtime, const runtime::ExecSpec& command,
              std::chrono::seconds timeout, ProbeDone done)
      : loop_(loop), done_(std::move(done)) {
    timer_ = loop_.after(timeout, [this, argv = command.argv, timeout] {
      stop();
      end({ProbeResult::kFailure, fmt::format("command timed out: {} timed out after {}",
                                              api::quote(fmt::format("{}", fmt::join(argv, " "))),
                                              duration_text(timeout))});
    });
    exec_ = runtime.exec(command, {.output = [this](bool, std::string_view bytes) { take(bytes); },
                                   .end = [this](Result<int> code) { conclude(std::move(code)); }});
  }
  ~ExecAttempt() override {
    loop_.cancel(timer_);
    stop();
  }

 private:
  // For good: a command that does not care about a hang-up would be one more with every period.
  void stop() {
    if (exec_) exec_->kill();
    exec_.reset();
  }

  void take(std::string_view bytes) {
    output_ += bytes.substr(0, kMaxProbeOutput - output_.size());
  }

  void conclude(Result<int> code) {
    exec_.reset();
    if (!code) return end({ProbeResult::kUnknown, std::move(code).error().message, true});
    end({*code == 0 ? ProbeResult::kSuccess : ProbeResult::kFailure, std::move(output_)});
  }

  void end(ProbeOutcome outcome) {
    loop_.cancel(timer_);
    ProbeDone done = std::move(done_);
    done(std::move(outcome));
  }

  Loop& loop_;
  ProbeDone done_;
  TimerId timer_ = TimerId::kNone;
  std::string output_;
  std::unique_ptr<runtime::Exec> exec_;
};

}  // namespace

std::unique_ptr<Attempt> start_exec_probe(Loop& loop, runtime::Runtime& runtime,
                                          const runtime::ExecSpec& command,
                                          std::chrono::seconds timeout, ProbeDone done) {
  return std::make_unique<ExecAttempt>(loop, runtime, command, timeout, std::move(done));
}

}  // namespace muster::agent
