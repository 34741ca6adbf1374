#include "server/api_server.h"

#include <algorithm>

#include "server/authentication.h"
#include "server/authorization.h"
#include "server/call.h"
#include "server/core.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/router.h"
#include "server/write_list.h"

namespace muster::server {

namespace {

// Keeps the answer instead of sending it.
class KeptAnswer final : public http::Exchange {
 public:
  explicit KeptAnswer(const http::Request& header) : request_(header) {}

  std::optional<http::Response> answer;

  const http::Request& request() const override { return request_; }
  void respond(http::Response response) override { answer = std::move(response); }
  void start_stream(http::Response) override {}
  void send(std::vector<http::Chunk>) override {}
  void finish() override {}
  std::size_t unsent_bytes() const override { return 0; }
  void abort() override {}
  void post(Task) override {}
  void set_timer(Duration, Task) override {}
  void on_close(Task task) override { task(); }

 private:
  const http::Request& request_;
};

}  // namespace

struct ApiServer::Impl {
  std::shared_ptr<Core> core;

  CallPtr accept(std::shared_ptr<http::Exchange> exchange) const;
  bool accept(Call& call) const;
  bool admit(const CallPtr& call, Result<User> user) const;
};

// Null if the request was refused already.
CallPtr ApiServer::Impl::accept(std::shared_ptr<http::Exchange> exchange) const {
  CallPtr call = std::make_shared<Call>(core, std::move(exchange));
  return accept(*call) ? call : nullptr;
}

// False if the request was refused.
bool ApiServer::Impl::accept(Call& call) const {
  Result<RequestInfo> info = parse_request(call.request().method, call.request().target);
  if (!info) {
    call.answer_error(info.error());
    return false;
  }
  call.info = *std::move(info);
  if (core->in_flight > core->options.max_requests_in_flight) {
    core->unsent.displace_oldest(call.started);
    call.answer_error(too_many_requests());
    return false;
  }
  return true;
}

// False if the request was refused.
bool ApiServer::Impl::admit(const CallPtr& call, Result<User> user) const {
  if (!user) {
    call->answer_error(user.error());
    return false;
  }
  call->user = *std::move(user);
  const Attributes wanted = Attributes::of(call->info);
  const Verdict verdict = authorize(*core, call->user, wanted);
  if (!verdict.allowed) call->answer_error(forbidden(call->user, wanted, verdict.reason));
  return verdict.allowed;
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
  if (impl_->admit(call, std::move(user))) route(call);
}

std::expected<std::string, http::Response> ApiServer::check_header(const http::Request& header) {
  const auto kept = std::make_shared<KeptAnswer>(header);
  const CallPtr call = impl_->accept(kept);
  if (call == nullptr) return std::unexpected(*std::move(kept->answer));
  Result<User> user = authenticate(*impl_->core, header);
  const std::string name = user ? user->name : std::string();
  if (user) user = impersonate(*impl_->core, header, *std::move(user));
  if (!impl_->admit(call, std::move(user))) return std::unexpected(*std::move(kept->answer));
  call->hand_over();
  return name;
}

void ApiServer::handle_as(std::shared_ptr<http::Exchange> exchange, User user) {
  const CallPtr call = impl_->accept(std::move(exchange));
  if (call != nullptr && impl_->admit(call, std::move(user))) route(call);
}

void ApiServer::handle_together(std::vector<std::shared_ptr<http::Exchange>> exchanges,
                                const User& user) {
  std::vector<CallPtr> calls;
  for (auto& exchange : exchanges) {
    calls.push_back(std::make_shared<Call>(impl_->core, std::move(exchange)));
    if (calls.size() > 1) calls.back()->uncount();
  }
  WriteList::carry_out(std::move(calls), [&](const CallPtr& call) {
    if (!impl_->accept(*call)) return;
    if (!WriteList::takes(call->info)) return call->answer_error(WriteList::cannot_take());
    if (impl_->admit(call, user)) route(call);
  });
}

void ApiServer::set_not_ready(std::string why) { impl_->core->set_not_ready(std::move(why)); }

void ApiServer::set_server_address(std::string address) {
  impl_->core->set_server_address(std::move(address));
}

}  // namespace muster::server
