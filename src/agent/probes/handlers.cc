#include "agent/probes/handlers.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/inputs/environment.h"
#include "agent/probes/exec_probe.h"
#include "agent/probes/grpc_probe.h"
#include "agent/probes/http_get.h"
#include "agent/probes/rules.h"
#include "agent/probes/tcp_probe.h"
#include "base/ascii.h"

namespace muster::agent {
namespace {

constexpr std::string_view kProbeAgent = "kube-probe/1.36";
constexpr std::string_view kHookAgent = "kube-lifecycle/1.36";

// Something that is known at once and told as late as everything else.
class Foregone final : public Attempt {
 public:
  Foregone(Loop& loop, Task tell) : loop_(loop), timer_(loop.after({}, std::move(tell))) {}
  ~Foregone() override { loop_.cancel(timer_); }

 private:
  Loop& loop_;
  const TimerId timer_;
};

ProbeOutcome outcome_of(std::expected<HttpAnswer, HttpFailure> answer) {
  if (!answer) {
    return {ProbeResult::kFailure, std::move(answer.error().text),
            answer.error().fault == HttpFault::kBrokenBody};
  }
  if (answer->status < 200 || answer->status >= 400) {
    return {ProbeResult::kFailure,
            fmt::format("HTTP probe failed with statuscode: {}", answer->status)};
  }
  if (answer->status >= 300) {
    return {ProbeResult::kWarning, "Probe terminated redirects, Response body: " + answer->body};
  }
  return {ProbeResult::kSuccess, std::move(answer->body)};
}

// What OpenSSL says when the first bytes are those of a plain answer.
bool answered_without_tls(const HttpFailure& failure) {
  return failure.text.contains("wrong version number") || failure.text.contains("http request");
}

// Asks over TLS and, if it has to, again without.
class HookAttempt final : public Attempt {
 public:
  HookAttempt(Loop& loop, net::HttpClient& client, HttpGet get, Duration timeout,
              Prober::HookDone done)
      : loop_(loop),
        client_(client),
        get_(std::move(get)),
        timeout_(timeout),
        done_(std::move(done)) {
    request_ = start_http_get(loop_, client_, get_, timeout_,
                              [this](auto answer) { take(std::move(answer)); });
  }

 private:
  using Answer = std::expected<HttpAnswer, HttpFailure>;
  static constexpr std::string_view kTls = "https://";

  void take(Answer answer) {
    if (answer || !get_.url.starts_with(kTls) || !answered_without_tls(answer.error())) {
      return end(std::move(answer), "");
    }
    std::string rest = get_.url.substr(kTls.size());
    std::string authority = rest.substr(0, rest.find('/'));
    get_.url = "http://" + std::move(rest);
    std::erase_if(get_.headers, [](const http::Header& header) {
      return equal_ignoring_case(header.first, "Authorization");
    });
    request_ = start_http_get(loop_, client_, get_, timeout_,
                              [this, authority = std::move(authority)](Answer second) {
                                end(std::move(second), authority);
                              });
  }

  void end(Answer answer, std::string_view fallen_back) {
    Prober::HookOutcome outcome;
    if (!answer && answer.error().fault == HttpFault::kNoAnswer) {
      outcome.status = fail(Code::kUnavailable, std::move(answer.error().text));
    } else if (!fallen_back.empty()) {
      outcome.fallback = fmt::format(
          "request to HTTPS lifecycle hook {} got HTTP response, retry with HTTP succeeded",
          fallen_back);
    }
    Prober::HookDone done = std::move(done_);
    done(std::move(outcome));
  }

  Loop& loop_;
  net::HttpClient& client_;
  HttpGet get_;
  const Duration timeout_;
  Prober::HookDone done_;
  std::unique_ptr<Attempt> request_;
};

class RealHandlers final : public Handlers {
 public:
  RealHandlers(Loop& loop, runtime::Runtime& runtime) : loop_(loop), runtime_(runtime) {}

  std::unique_ptr<Attempt> start(const ProbeTarget& target, json::Value probe,
                                 ProbeDone done) override {
    const auto timeout = probe_settings(probe).timeout;
    if (const json::Value exec = probe.get("exec"); exec.is_object()) {
      auto argv = probe_command(target.container, exec.get("command"));
      if (!argv) return cannot(std::move(argv).error().message, std::move(done));
      return start_exec_probe(loop_, runtime_, {.run = target.run, .argv = *std::move(argv)},
                              timeout, std::move(done));
    }
    if (const json::Value get = probe.get("httpGet"); get.is_object()) {
      return start_http(target, get, timeout, std::move(done));
    }
    if (const json::Value tcp = probe.get("tcpSocket"); tcp.is_object()) {
      return start_tcp(target, tcp, timeout, std::move(done));
    }
    if (const json::Value grpc = probe.get("grpc"); grpc.is_object()) {
      return start_grpc(target, grpc, timeout, std::move(done));
    }
    return cannot(fmt::format("missing probe handler for {}", target.run.container),
                  std::move(done));
  }

  std::unique_ptr<Attempt> start_hook(json::Value http_get, const ProbeTarget& target,
                                      Duration timeout, Prober::HookDone done) override {
    Result<HttpGet> get = http_get_of(http_get, target.container, target.pod_ip, kHookAgent);
    Status ready = get ? need_client() : std::unexpected(get.error());
    if (ready) {
      return std::make_unique<HookAttempt>(loop_, *client_, *std::move(get), timeout,
                                           std::move(done));
    }
    return std::make_unique<Foregone>(loop_,
                                      [ready = std::move(ready), done = std::move(done)]() mutable {
                                        done({std::move(ready), ""});
                                      });
  }

 private:
  std::unique_ptr<Attempt> cannot(std::string why, ProbeDone done) {
    return std::make_unique<Foregone>(loop_,
                                      [why = std::move(why), done = std::move(done)]() mutable {
                                        done({ProbeResult::kUnknown, std::move(why), true});
                                      });
  }

  std::unique_ptr<Attempt> start_http(const ProbeTarget& target, json::Value action,
                                      std::chrono::seconds timeout, ProbeDone done) {
    Result<HttpGet> get = http_get_of(action, target.container, target.pod_ip, kProbeAgent);
    if (!get) return cannot(get.error().message, std::move(done));
    if (const Status ready = need_client(); !ready) {
      return cannot(ready.error().message, std::move(done));
    }
    return start_http_get(
        loop_, *client_, *std::move(get), timeout,
        [done = std::move(done)](auto answer) mutable { done(outcome_of(std::move(answer))); });
  }

  std::unique_ptr<Attempt> start_tcp(const ProbeTarget& target, json::Value action,
                                     std::chrono::seconds timeout, ProbeDone done) {
    const Result<std::uint16_t> port = probe_port(action.get("port"), target.container);
    if (!port) return cannot(port.error().message, std::move(done));
    const std::string_view host = action.get("host").as_string();
    const Peer peer{host.empty() ? target.pod_ip : std::string(host), *port};
    return converse(peer, timeout, make_tcp_protocol(host_and_port(peer.host, peer.port)),
                    std::move(done));
  }

  std::unique_ptr<Attempt> start_grpc(const ProbeTarget& target, json::Value action,
                                      std::chrono::seconds timeout, ProbeDone done) {
    const Result<std::uint16_t> port = probe_port(action.get("port"), target.container);
    if (!port) return cannot(port.error().message, std::move(done));
    const Peer peer{target.pod_ip, *port};
    return converse(peer, timeout,
                    make_grpc_protocol({.address = host_and_port(peer.host, peer.port),
                                        .service = std::string(action.get("service").as_string()),
                                        .timeout = timeout,
                                        .user_agent = std::string(kProbeAgent)}),
                    std::move(done));
  }

  std::unique_ptr<Attempt> converse(const Peer& peer, std::chrono::seconds timeout,
                                    std::unique_ptr<Protocol> protocol, ProbeDone done) {
    if (!reactor_) {
      auto started = net::Reactor::start();
      if (!started) return cannot(started.error().message, std::move(done));
      reactor_ = *std::move(started);
    }
    return start_conversation(loop_, reactor_, peer, timeout, std::move(protocol), std::move(done));
  }

  Status need_client() {
    if (client_) return {};
    MUSTER_TRY(client_, net::HttpClient::create({.verify_server = false, .post = [this](Task task) {
                                                   loop_.post(std::move(task));
                                                 }}));
    return {};
  }

  Loop& loop_;
  runtime::Runtime& runtime_;
  // Each has a thread, and most pods need neither: made when first needed.
  std::unique_ptr<net::HttpClient> client_;
  std::shared_ptr<net::Reactor> reactor_;
};

}  // namespace

std::unique_ptr<Handlers> make_handlers(Loop& loop, runtime::Runtime& runtime) {
  return std::make_unique<RealHandlers>(loop, runtime);
}

}  // namespace muster::agent
