#include "net/http_parser.h"

// Beast asserts that at least five bytes follow a last chunk that came in pieces, which a peer need
// not grant; the code behind the assertion does not rely on it (http_fuzz.cc).
#define BOOST_DISABLE_ASSERTS
#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>

#include "base/ascii.h"

namespace muster::net {
namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

// More fields than any client sends; each costs two strings.
constexpr std::size_t kMaxFields = 1000;
// A declared length is only believed this far before the bytes are there.
constexpr std::size_t kMaxReserve = 256 * 1024;
// A chunk's size line with its extensions, or the trailers behind the last chunk.
constexpr std::size_t kMaxChunkLine = 8 * 1024;
// Interim answers (100 Continue) that a server may send before the real one.
constexpr int kMaxInterim = 10;

std::string text(string_view view) { return {view.data(), view.size()}; }

// Beast's grammar, reporting into plain types. Each header goes where it is wanted at once.
template <bool kIsRequest>
class Parser : public beast::basic_parser<kIsRequest> {
 public:
  http::Request request;  // of a response only the headers and the body sink are used
  ResponseParser::Sink const* sink = nullptr;
  int status = 0;
  bool is_http_1_0 = false;
  bool header_done = false;
  bool unknown_coding = false;

 private:
  void on_request_impl(beast::verb, string_view method, string_view target, int version,
                       error_code&) override {
    request.method = text(method);
    request.target = text(target);
    is_http_1_0 = version == 10;
  }

  void on_response_impl(int code, string_view, int version, error_code&) override {
    status = code;
    is_http_1_0 = version == 10;
  }

  void on_field_impl(beast::field field, string_view name, string_view value,
                     error_code& error) override {
    if (header_done) return;  // a trailer: nobody asks for any
    if (field == beast::field::transfer_encoding && !equal_ignoring_case(text(value), "chunked")) {
      unknown_coding = true;
      error = beast::error::bad_transfer_encoding;
      return;
    }
    if (request.headers.size() == kMaxFields) {
      error = beast::error::header_limit;
      return;
    }
    request.headers.emplace_back(text(name), text(value));
  }

  void on_header_impl(error_code&) override { header_done = true; }

  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
    if (kIsRequest && length) {
      request.body.reserve(std::min<std::size_t>(*length, kMaxReserve) + kBodyPadding);
    }
  }

  std::size_t on_body_impl(string_view body, error_code&) override {
    if (sink) {
      (*sink)({body.data(), body.size()});
    } else {
      request.body.append(body.data(), body.size());
    }
    return body.size();
  }

  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}

  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& error) override {
    return on_body_impl(body, error);
  }

  void on_finish_impl(error_code&) override {
    if (kIsRequest && !request.body.empty()) {
      request.body.reserve(request.body.size() + kBodyPadding);
    }
  }
};

// Beast's own header limit starts anew with each call and knows neither trailers nor chunk
// extensions, so what must be held until more comes is bounded here.
template <bool kIsRequest>
class BoundedParser : public Parser<kIsRequest> {
 public:
  explicit BoundedParser(std::size_t header_bytes) : header_left_(header_bytes) {
    this->header_limit(static_cast<std::uint32_t>(header_bytes));
  }

  // Uses up a prefix of the bytes. That more is needed is no error.
  std::size_t put_all(std::string_view bytes, error_code& error) {
    std::size_t used = 0;
    while (!error && !this->is_done() && used < bytes.size()) {
      const bool in_header = !this->header_done;
      const std::string_view rest = bytes.substr(used);
      const std::size_t step = this->put(boost::asio::buffer(rest.data(), rest.size()), error);
      used += step;
      if (in_header && step > header_left_) error = beast::error::header_limit;
      if (in_header) header_left_ -= std::min(step, header_left_);
      if (error != beast::error::need_more) continue;
      error = {};
      const std::size_t may_be_held = in_header ? header_left_ : kMaxChunkLine;
      if (rest.size() - step > may_be_held) error = beast::error::header_limit;
      break;
    }
    return used;
  }

 private:
  std::size_t header_left_;
};

Refusal refusal_for(const Parser<true>& parser, const error_code& error,
                    const ParseLimits& limits) {
  if (parser.unknown_coding) {
    return {501, "", "the only transfer coding understood is chunked"};
  }
  if (error == beast::error::header_limit) return {431, "", "Request header fields too large"};
  if (error == beast::error::body_limit) {
    return {413, "RequestEntityTooLarge",
            fmt::format("Request entity too large: limit is {}", limits.body_bytes)};
  }
  if (error == beast::error::bad_content_length || error == beast::error::multiple_content_length ||
      error == beast::error::bad_transfer_encoding) {
    return {400, "BadRequest", "the length of the request body is ambiguous"};
  }
  return {400, "BadRequest", "malformed HTTP request"};
}

}  // namespace

struct RequestParser::Impl {
  explicit Impl(const ParseLimits& l) : limits(l), parser(l.header_bytes) {
    parser.body_limit(l.body_bytes);
  }
  ParseLimits limits;
  BoundedParser<true> parser;
  bool started = false;
};

RequestParser::RequestParser(const ParseLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestParser::~RequestParser() = default;

std::expected<std::size_t, Refusal> RequestParser::feed(std::string_view bytes) {
  std::size_t skipped = 0;
  if (!impl_->started) {  // RFC 9112, 2.2: empty lines before a request are ignored
    while (bytes.substr(skipped).starts_with("\r\n")) skipped += 2;
    bytes.remove_prefix(skipped);
    if (bytes.empty() || bytes == "\r") return skipped;
    impl_->started = true;
  }
  error_code error;
  const std::size_t used = impl_->parser.put_all(bytes, error);
  if (error) return std::unexpected(refusal_for(impl_->parser, error, impl_->limits));
  return skipped + used;
}

bool RequestParser::header_done() const { return impl_->parser.header_done; }
bool RequestParser::done() const { return impl_->parser.is_done(); }
http::Request& RequestParser::request() { return impl_->parser.request; }
bool RequestParser::keep_alive() const { return impl_->parser.keep_alive(); }
bool RequestParser::is_http_1_0() const { return impl_->parser.is_http_1_0; }

bool RequestParser::expects_continue() const {
  const auto expect = http::find_header(impl_->parser.request.headers, "Expect");
  return !is_http_1_0() && equal_ignoring_case(expect, "100-continue");
}

struct ResponseParser::Impl {
  Impl(std::size_t limit, bool head) : header_bytes(limit), to_head(head) { restart(); }

  void restart() {
    parser.emplace(header_bytes);
    parser->body_limit(boost::none);  // the reader of the body has its own
    parser->skip(to_head);
  }
  bool is_interim() const { return parser->is_done() && parser->status / 100 == 1; }

  std::size_t header_bytes;
  bool to_head;
  std::optional<BoundedParser<false>> parser;
  int interim = 0;
};

ResponseParser::ResponseParser(std::size_t header_bytes, bool to_head)
    : impl_(std::make_unique<Impl>(header_bytes, to_head)) {}
ResponseParser::~ResponseParser() = default;

Result<std::size_t> ResponseParser::feed(std::string_view bytes, const Sink& sink) {
  std::size_t used = 0;
  for (;;) {
    auto& parser = *impl_->parser;
    parser.sink = &sink;
    error_code error;
    used += parser.put_all(bytes.substr(used), error);
    parser.sink = nullptr;
    if (error) return fail(Code::kInternal, "the server does not speak HTTP: " + error.message());
    if (!impl_->is_interim()) return used;
    if (++impl_->interim > kMaxInterim) {
      return fail(Code::kInternal, "the server sends interim answers without end");
    }
    impl_->restart();
  }
}

Status ResponseParser::feed_end() {
  error_code error = beast::error::partial_message;
  if (impl_->parser->got_some()) impl_->parser->put_eof(error);
  if (error)
    return fail(Code::kUnavailable, "the connection was closed in the middle of an answer");
  return {};
}

bool ResponseParser::header_done() const {
  return impl_->parser->header_done && !impl_->is_interim();
}
bool ResponseParser::done() const { return impl_->parser->is_done() && !impl_->is_interim(); }
int ResponseParser::status() const { return impl_->parser->status; }
http::Headers& ResponseParser::headers() { return impl_->parser->request.headers; }
bool ResponseParser::keep_alive() const { return impl_->parser->keep_alive(); }

}  // namespace muster::net
