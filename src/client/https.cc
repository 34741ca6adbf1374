#include "client/https.h"

#include <fstream>
#include <iterator>

#include "json/document.h"
#include "net/http_client.h"

namespace muster::client {
namespace {

// A watch whose server went away without a word is noticed by silence: bookmarks come every minute.
constexpr Duration kStreamSilence = std::chrono::minutes(5);
constexpr Duration kTokenAge = std::chrono::minutes(1);

class HttpsTransport final : public Transport {
 public:
  HttpsTransport(Loop& loop, ServerConfig config) : loop_(loop), config_(std::move(config)) {}
  ~HttpsTransport() override {
    *alive_ = false;
    if (http_) http_->stop();
  }

  Status open(const HttpsOptions& wanted) {
    net::ClientOptions options;
    options.gather = wanted.gather;
    options.max_connections = wanted.max_connections;
    options.max_own_connections = wanted.max_streams;
    options.ca_pem = config_.ca_pem;
    options.certificate_pem = config_.certificate_pem;
    options.private_key_pem = config_.private_key_pem;
    options.tls_server_name = config_.tls_server_name;
    options.verify_server = config_.verify_server;
    options.post = [this](Task task) { loop_.post(std::move(task)); };
    MUSTER_TRY(http_, net::HttpClient::create(std::move(options)));
    return {};
  }

  void send(http::Request request, Done done) override {
    auto shared = std::make_shared<Done>(std::move(done));
    http_->fetch(prepared(std::move(request)), [shared, alive = alive_](Result<net::Reply> reply) {
      if (!*alive) return;
      if (!reply) return (*shared)(std::unexpected(std::move(reply).error()));
      (*shared)(Answer{reply->status, std::move(reply->headers), std::move(reply->body)});
    });
  }

  std::unique_ptr<Stream> stream(http::Request request, StreamEvents events) override {
    net::ClientRequest prepared_request = prepared(std::move(request));
    prepared_request.own_connection = true;  // a stream never holds up a write, or the lease
    prepared_request.timeout = {};
    prepared_request.silence = kStreamSilence;
    // Callbacks that are posted already when the Stream goes must find it gone.
    auto open = std::make_shared<bool>(true);
    auto shared = std::make_shared<StreamEvents>(std::move(events));
    const auto id = http_->send(std::move(prepared_request), {.on_head =
                                                                  [=](net::ResponseHead head) {
                                                                    if (*open && shared->head)
                                                                      shared->head(head.status);
                                                                  },
                                                              .on_data =
                                                                  [=](std::string_view data) {
                                                                    if (*open && shared->data)
                                                                      shared->data(data);
                                                                  },
                                                              .on_end =
                                                                  [=](Status why) {
                                                                    if (*open && shared->end)
                                                                      shared->end(std::move(why));
                                                                  }});
    return std::make_unique<HttpsStream>(*this, id, std::move(open));
  }

  Loop& loop() override { return loop_; }

 private:
  class HttpsStream final : public Stream {
   public:
    HttpsStream(HttpsTransport& transport, net::RequestId id, std::shared_ptr<bool> open)
        : transport_(transport),
          transport_alive_(transport.alive_),
          id_(id),
          open_(std::move(open)) {}
    ~HttpsStream() override {
      *open_ = false;
      if (*transport_alive_) transport_.http_->cancel(id_);
    }

   private:
    HttpsTransport& transport_;
    std::shared_ptr<bool> transport_alive_;
    net::RequestId id_;
    std::shared_ptr<bool> open_;
  };

  net::ClientRequest prepared(http::Request request) {
    if (request.document != nullptr) request.body = json::body_text(request);
    net::ClientRequest out{.method = std::move(request.method),
                           .url = config_.url + request.target,
                           .headers = std::move(request.headers),
                           .body = std::move(request.body)};
    if (request.not_after != Duration::max()) {
      out.still_wanted = [&loop = loop_, last = request.not_after] {
        return loop.monotonic() <= last;
      };
    }
    if (const std::string& secret = token(); !secret.empty())
      out.headers.emplace_back("Authorization", "Bearer " + secret);
    return out;
  }

  const std::string& token() {
    if (config_.token_file.empty()) return config_.token;
    const Duration now = loop_.monotonic();
    if (config_.token.empty() || now - token_read_ > kTokenAge) {
      std::ifstream file(config_.token_file);
      std::string text(std::istreambuf_iterator<char>(file), {});
      while (text.ends_with('\n')) text.pop_back();
      if (!text.empty()) config_.token = std::move(text);
      token_read_ = now;
    }
    return config_.token;
  }

  Loop& loop_;
  ServerConfig config_;
  Duration token_read_{};
  std::unique_ptr<net::HttpClient> http_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

Result<std::unique_ptr<Transport>> make_https_transport(Loop& loop, ServerConfig config,
                                                        HttpsOptions options) {
  auto transport = std::make_unique<HttpsTransport>(loop, std::move(config));
  MUSTER_CHECK(transport->open(options));
  return transport;
}

}  // namespace muster::client
