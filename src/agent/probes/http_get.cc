#include "agent/probes/http_get.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/probes/conversation.h"
#include "base/ascii.h"
#include "base/number.h"
#include "net/url.h"

namespace muster::agent {
namespace {

constexpr int kMaxRedirects = 10;

Result<std::int64_t> named_port(std::string_view name, json::Value container) {
  for (const json::Value& port : container.get("ports").items()) {
    if (port.get("name").as_string() == name) return port.get("containerPort").as_int();
  }
  if (const auto number = parse_number<std::int64_t>(name)) return *number;  // written as text
  return fail(Code::kInvalid, fmt::format("strconv.Atoi: parsing \"{}\": invalid syntax", name));
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string with_slash(std::string_view path) {
  return path.starts_with('/') ? std::string(path) : fmt::format("/{}", path);
}

// The scheme and authority of a URL that has been parsed before.
std::string origin_of(const net::Url& url) {
  return fmt::format("{}://{}", url.tls ? "https" : "http", url.authority());
}

struct Redirect {
  std::string url;
  bool relative = false;
};

Redirect redirect_from(const net::Url& at, std::string_view location) {
  if (location.contains("://")) return {std::string(location), false};
  if (location.starts_with("//")) {
    return {fmt::format("{}:{}", at.tls ? "https" : "http", location), false};
  }
  if (location.starts_with('/')) return {origin_of(at) + std::string(location), true};
  const std::string path = at.target.substr(0, at.target.find('?'));
  if (location.starts_with('?')) return {origin_of(at) + path + std::string(location), true};
  return {origin_of(at) + path.substr(0, path.rfind('/') + 1) + std::string(location), true};
}

class HttpGetAttempt final : public Attempt {
 public:
  HttpGetAttempt(Loop& loop, net::HttpClient& client, HttpGet get, Duration timeout,
                 HttpGetDone done)
      : loop_(loop), client_(client), get_(std::move(get)), done_(std::move(done)) {
    if (timeout > Duration::zero()) timer_ = loop_.after(timeout, [this] { end_in_time(); });
    send();
  }
  ~HttpGetAttempt() override {
    client_.cancel(request_);
    loop_.cancel(timer_);
  }

 private:
  void send() {
    answer_ = {};
    location_.clear();
    net::ClientRequest request{.url = get_.url,
                               .headers = get_.headers,
                               .host = get_.host,
                               .own_connection = true,
                               .timeout = Duration::zero()};
    request_ = client_.send(std::move(request),
                            {.on_head = [this](net::ResponseHead head) { take_head(head); },
                             .on_data = [this](std::string_view data) { take_data(data); },
                             .on_end = [this](Status status) { take_end(std::move(status)); }});
  }

  void take_head(const net::ResponseHead& head) {
    answer_.status = head.status;
    if (is_redirect(head.status)) location_ = http::find_header(head.headers, "Location");
  }

  void take_data(std::string_view data) {
    answer_.body += data.substr(0, kMaxProbeOutput - answer_.body.size());
    if (answer_.body.size() == kMaxProbeOutput) conclude();
  }

  void take_end(Status status) {
    if (status) return conclude();
    if (answer_.status != 0) return fail_with(HttpFault::kBrokenBody, status.error().message);
    fail_with(HttpFault::kNoAnswer, transport_failure(status.error().message));
  }

  std::string transport_failure(const std::string& message) const {
    const Result<net::Url> url = net::parse_url(get_.url);
    if (!url || !message.contains("cannot connect")) return message;
    return fmt::format("dial tcp {}: {}", host_and_port(url->host, url->port),
                       connect_failure(message));
  }

  void conclude() {
    if (location_.empty()) return end(std::move(answer_));
    const Result<net::Url> here = net::parse_url(get_.url);
    const Redirect redirect = redirect_from(*here, location_);
    const Result<net::Url> there = net::parse_url(redirect.url.substr(0, redirect.url.find('#')));
    if (!there) {
      return fail_with(HttpFault::kNoAnswer,
                       fmt::format("failed to parse Location header \"{}\": {}", location_,
                                   there.error().message));
    }
    if (!equal_ignoring_case(there->host, here->host)) return end(std::move(answer_));
    if (++requests_ > kMaxRedirects) {
      return fail_with(HttpFault::kNoAnswer,
                       fmt::format("stopped after {} redirects", kMaxRedirects));
    }
    client_.cancel(request_);
    get_.url = origin_of(*there) + there->target;
    if (!redirect.relative) get_.host.clear();
    send();
  }

  void end_in_time() {
    if (answer_.status == 0) {
      return fail_with(
          HttpFault::kNoAnswer,
          "context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
    }
    fail_with(
        HttpFault::kBrokenBody,
        "context deadline exceeded (Client.Timeout or context cancellation while reading body)");
  }

  void fail_with(HttpFault fault, std::string_view text) {
    const bool with_url = fault == HttpFault::kNoAnswer;
    end(std::unexpected(HttpFailure{
        fault, with_url ? fmt::format("Get \"{}\": {}", get_.url, text) : std::string(text)}));
  }

  void end(std::expected<HttpAnswer, HttpFailure> result) {
    client_.cancel(request_);
    loop_.cancel(timer_);
    HttpGetDone done = std::move(done_);
    done(std::move(result));
  }

  Loop& loop_;
  net::HttpClient& client_;
  HttpGet get_;
  HttpGetDone done_;
  TimerId timer_ = TimerId::kNone;
  net::RequestId request_ = net::RequestId::kNone;
  int requests_ = 0;
  HttpAnswer answer_;
  std::string location_;
};

// What the user said, then what everybody sends unless the user said otherwise. An empty Accept or
// User-Agent means that none is wanted.
void add_headers(HttpGet& get, json::Value given, std::string_view user_agent) {
  bool accept = true;
  bool agent = true;
  for (const json::Value& header : given.items()) {
    const std::string_view name = header.get("name").as_string();
    const std::string_view value = header.get("value").as_string();
    if (equal_ignoring_case(name, "Host")) {
      get.host = value;
      continue;
    }
    const bool is_accept = equal_ignoring_case(name, "Accept");
    const bool is_agent = equal_ignoring_case(name, "User-Agent");
    accept = accept && !is_accept;
    agent = agent && !is_agent;
    if ((is_accept || is_agent) && value.empty()) continue;
    get.headers.emplace_back(name, value);
  }
  if (agent) get.headers.emplace_back("User-Agent", user_agent);
  if (accept) get.headers.emplace_back("Accept", "*/*");
}

}  // namespace

Result<std::uint16_t> probe_port(json::Value port, json::Value container) {
  MUSTER_TRY(const std::int64_t number,
             port.is_string() ? named_port(port.as_string(), container) : port.as_int());
  if (number <= 0 || number > 65535) {
    return fail(Code::kInvalid, fmt::format("invalid port number: {}", number));
  }
  return static_cast<std::uint16_t>(number);
}

std::string host_and_port(std::string_view host, std::uint16_t port) {
  const bool v6 = host.contains(':');
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

Result<HttpGet> http_get_of(json::Value action, json::Value container, std::string_view pod_ip,
                            std::string_view user_agent) {
  MUSTER_TRY(const std::uint16_t port, probe_port(action.get("port"), container));
  const std::string_view scheme = action.get("scheme").as_string();
  const std::string_view host = action.get("host").as_string();
  HttpGet get;
  get.url = fmt::format("{}://{}{}", scheme.empty() ? "http" : lower_case(scheme),
                        host_and_port(host.empty() ? pod_ip : host, port),
                        with_slash(action.get("path").as_string()));
  add_headers(get, action.get("httpHeaders"), user_agent);
  return get;
}

std::unique_ptr<Attempt> start_http_get(Loop& loop, net::HttpClient& client, HttpGet get,
                                        Duration timeout, HttpGetDone done) {
  return std::make_unique<HttpGetAttempt>(loop, client, std::move(get), timeout, std::move(done));
}

}  // namespace muster::agent
