// Certificates of a server that runs for longer than they are valid, or whose clock jumps.
#pragma once

#include <functional>

#include "base/loop.h"
#include "engine/data_dir.h"

namespace muster::engine {

// Looks at the clock once a minute. When it has left the time for which the certificates are good
// (30 days before their end, or before their beginning) they are made anew and put to use. A
// failure is logged and tried again a minute later. Lives on the loop's thread.
class CertificateRenewal {
 public:
  struct Actions {
    std::function<Result<Credentials>()> open;             // makes what is not current
    std::function<Status(const Credentials&)> put_to_use;  // for new connections and new clients
  };
  // A client that comes in the minute after a jump is refused and may try again.
  static constexpr Duration kLookEvery = std::chrono::minutes(1);

  CertificateRenewal(Loop& loop, const Credentials& current, Actions actions);
  ~CertificateRenewal() { loop_.cancel(timer_); }
  CertificateRenewal(const CertificateRenewal&) = delete;

 private:
  void wait();
  void look();
  Status renew();

  Loop& loop_;
  const Actions actions_;
  net::Validity span_;
  TimerId timer_ = TimerId::kNone;
};

}  // namespace muster::engine
