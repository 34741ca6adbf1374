#include "server/api_server.h"

#include <algorithm>

#include "server/authentication.h"
#include "server/authorization.h"
#include "server/call.h"
#include "server/core.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/router.h"

namespace muster::server {

struct ApiServer::Impl {
  std::shared_ptr<Core> core;

  CallPtr accept(std::shared_ptr<http::Exchange> exchange) const;
  void admit(const CallPtr& call, Result<User> user) const;
};

// Null if the request was refused already.
CallPtr ApiServer::Impl::accept(std::shared_ptr<http::Exchange> exchange) const {
  const CallPtr call = std::make_shared<Call>(core, std::move(exchange));
  Result<RequestInfo> info = parse_request(call->request().method, call->request().target);
  if (!info) {
    call->answer_error(info.error());
    return nullptr;
  }
  call->info = *std::move(info);
  if (core->in_flight > core->options.max_requests_in_flight) {
    Error error{.code = Code::kTooManyRequests,
                .message = "Too many requests, please try again later."};
    error.retry_after_seconds = 1;
    call->answer_error(error);
    return nullptr;
  }
  return call;
}

void ApiServer::Impl::admit(const CallPtr& call, Result<User> user) const {
  if (!user) return call->answer_error(user.error());
  call->user = *std::move(user);
  const Attributes wanted = Attributes::of(call->info);
  const Verdict verdict = authorize(*core, call->user, wanted);
  if (!verdict.allowed) return call->answer_error(forbidden(call->user, wanted, verdict.reason));
  route(call);
}

ApiServer::ApiServer(store::Store& store, const api::Registry& registry, const Clock& clock,
                     Metrics& metrics, Options options)
    : impl_(std::make_shared<Impl>()) {
  impl_->core = std::make_shared<Core>(store, registry, clock, metrics, std::move(options));
}

ApiServer::~ApiServer() = default;

void ApiServer::handle(std::shared_ptr<http::Exchange> exchange) {
  const CallPtr call = impl_->accept(std::move(exchange));
  if (call == nullptr) return;
  Result<User> user = authenticate(*impl_->core, call->request());
  if (user) user = impersonate(*impl_->core, call->request(), *std::move(user));
  impl_->admit(call, std::move(user));
}

void ApiServer::handle_as(std::shared_ptr<http::Exchange> exchange, User user) {
  const CallPtr call = impl_->accept(std::move(exchange));
  if (call != nullptr) impl_->admit(call, std::move(user));
}

void ApiServer::set_not_ready(std::string why) { impl_->core->set_not_ready(std::move(why)); }

void ApiServer::set_server_address(std::string address) {
  impl_->core->set_server_address(std::move(address));
}

}  // namespace muster::server
