#include "base/loop_thread.h"

#include "base/thread.h"

namespace muster {

LoopThread::LoopThread() : loop_(make_real_loop()) {}

LoopThread::~LoopThread() { stop(); }

Status LoopThread::start() {
  MUSTER_TRY(thread_, start_thread([this] { loop_->run(); }));
  return {};
}

void LoopThread::stop() {
  if (!thread_.joinable()) return;
  loop_->stop();
  thread_.join();
}

}  // namespace muster
