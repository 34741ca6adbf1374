// Brings a pod's status to the API: one write at a time, what changes meanwhile goes with the next,
// small changes are gathered for a moment. A write that fails is repeated until the pod is gone;
// processes never wait for it, and no answer here says that it is gone: that is the watch's word.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/lifetime.h"
#include "client/client.h"
#include "json/value.h"

namespace muster::agent {

class StatusWriter {
 public:
  struct Callbacks {
    // The patch that is due now; null if there is nothing to tell.
    std::function<json::Value(json::Arena&)> patch;
    // The object as it is after the write.
    std::function<void(client::Written&& object)> written;
  };
  StatusWriter(client::Client& client, const api::Resource& pods, std::string ns, std::string name,
               Callbacks callbacks)
      : client_(client),
        pods_(pods),
        ns_(std::move(ns)),
        name_(std::move(name)),
        callbacks_(std::move(callbacks)) {}
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;

  void want(Duration within);  // the earliest wish counts
  bool sending() const { return sending_; }

 private:
  void send();
  void answered(Result<client::Written> answer);

  client::Client& client_;
  const api::Resource& pods_;
  const std::string ns_, name_;
  const Callbacks callbacks_;
  std::optional<Time> due_;
  TimerId timer_ = TimerId::kNone;
  bool sending_ = false;
  int failures_ = 0;
  Lifetime lifetime_;
};

}  // namespace muster::agent
