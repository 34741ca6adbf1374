#include "agent/status_writer.h"

#include <algorithm>

#include "base/log.h"
#include "base/retry_delay.h"

namespace muster::agent {
namespace {

constexpr Duration kFirstRetry = std::chrono::milliseconds(200);
constexpr Duration kLongestRetry = std::chrono::seconds(10);

}  // namespace

StatusWriter::~StatusWriter() { client_.loop().cancel(timer_); }

void StatusWriter::want(Duration within) {
  const Time when = client_.loop().clock().now() + within;
  if (due_ && *due_ <= when) return;
  due_ = when;
  if (sending_) return;  // looked at when the answer is there
  client_.loop().cancel(timer_);
  timer_ = client_.loop().after(within, [this] { send(); });
}

void StatusWriter::send() {
  due_.reset();
  json::Arena arena;
  const json::Value patch = callbacks_.patch(arena);
  if (patch.is_null()) return;
  sending_ = true;
  client_.write(
      {.verb = client::Verb::kPatch,
       .resource = &pods_,
       .ns = ns_,
       .name = name_,
       .subresource = "status",
       .body = patch,
       .patch_type = client::PatchType::kStrategic},
      lifetime_.guard([this](Result<client::Written> answer) { answered(std::move(answer)); }));
}

void StatusWriter::answered(Result<client::Written> answer) {
  sending_ = false;
  if (const auto due = std::exchange(due_, std::nullopt))
    want(std::max(Duration::zero(), *due - client_.loop().clock().now()));
  if (answer) {
    failures_ = 0;
    return callbacks_.written(*std::move(answer));
  }
  // The pod went, or another has its name (and another uid): the watch will say so.
  const Code code = answer.error().code;
  const bool gone = code == Code::kNotFound || code == Code::kConflict;
  if (failures_ == 0 && !gone)
    log::warn("cannot report a pod's status", {{"pod", name_}, {"error", answer.error().message}});
  want(retry_delay(kFirstRetry, kLongestRetry, failures_++));
}

}  // namespace muster::agent
