#include "engine/certificate_renewal.h"

#include <utility>

#include "base/log.h"

namespace muster::engine {

CertificateRenewal::CertificateRenewal(Loop& loop, const Credentials& current, Actions actions)
    : loop_(loop),
      actions_(std::move(actions)),
      // What cannot be read is made anew at the first look.
      span_(current_span(current).value_or(net::Validity{Time::max(), Time::min()})) {
  wait();
}

void CertificateRenewal::wait() {
  timer_ = loop_.after(kLookEvery, [this] {
    look();
    wait();
  });
}

void CertificateRenewal::look() {
  const Time now = loop_.clock().now();
  if (span_.not_before <= now && now < span_.not_after) return;
  if (const Status renewed = renew(); !renewed)
    log::warn("the certificates are not renewed; clients may be refused",
              {{"reason", renewed.error().message}});
}

Status CertificateRenewal::renew() {
  MUSTER_TRY(const Credentials credentials, actions_.open());
  MUSTER_CHECK(actions_.put_to_use(credentials));
  MUSTER_TRY(span_, current_span(credentials));
  log::info("the certificates are renewed", {{"now", format_time(loop_.clock().now())},
                                             {"good_until", format_time(span_.not_after)}});
  return {};
}

}  // namespace muster::engine
