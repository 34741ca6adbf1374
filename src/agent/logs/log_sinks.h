// Where logs go: to the client of `logs`, and to one that is attached to a container.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "agent/logs/log_reader.h"
#include "agent/logs/log_view.h"
#include "base/http.h"
#include "server/program_source.h"

namespace muster::agent {

class ExchangeSink final : public LogSink {
 public:
  ExchangeSink(std::shared_ptr<http::Exchange> exchange, const LogView::Options& view)
      : exchange_(std::move(exchange)), view_(view) {}

  bool has_room(Task ready) override;
  bool take(std::string_view lines) override;
  void end() override { exchange_->finish(); }

 private:
  const std::shared_ptr<http::Exchange> exchange_;
  LogView view_;
};

// Whether an attached client wants its output now; between its thread and the loop.
class AttachFlow {
 public:
  explicit AttachFlow(std::function<void()> resume) : resume_(std::move(resume)) {}
  void hold(bool hold) {
    held_ = hold;
    if (!hold) resume_();
  }
  bool held() const { return held_; }

 private:
  std::atomic<bool> held_ = false;
  const std::function<void()> resume_;  // from any thread
};

class AttachSink final : public LogSink {
 public:
  AttachSink(std::shared_ptr<server::ProgramClient> client, std::shared_ptr<AttachFlow> flow)
      : client_(std::move(client)), flow_(std::move(flow)) {}

  bool has_room(Task) override { return !flow_->held(); }
  bool take(std::string_view lines) override;
  void end() override { client_->end(0); }

 private:
  const std::shared_ptr<server::ProgramClient> client_;
  const std::shared_ptr<AttachFlow> flow_;
};

// A container that runs as the client sees it: it takes no input.
class AttachedProgram final : public server::Program {
 public:
  AttachedProgram(std::shared_ptr<AttachFlow> flow, std::function<void()> gone)
      : flow_(std::move(flow)), gone_(std::move(gone)) {}
  ~AttachedProgram() override { gone_(); }

  void input(std::string) override {}
  void end_input() override {}
  void resize(int, int) override {}
  void hold_output(bool hold) override { flow_->hold(hold); }

 private:
  const std::shared_ptr<AttachFlow> flow_;
  const std::function<void()> gone_;  // from any thread
};

}  // namespace muster::agent
