#include "net/http_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "net/refusal.h"

namespace muster::net {
namespace {

struct Phrase {
  int status;
  std::string_view text;
};

constexpr std::array kPhrases = std::to_array<Phrase>({
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Request Entity Too Large"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Entity"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
});

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

bool is_token_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

void append_value(std::string& out, std::string_view value) {
  for (const char c : value) out += is_control(c) ? ' ' : c;
}

}  // namespace

std::string_view status_phrase(int status) {
  const auto found = std::ranges::lower_bound(kPhrases, status, {}, &Phrase::status);
  return found != kPhrases.end() && found->status == status ? found->text : "";
}

std::string http_date(Time time) {
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[std::chrono::weekday(day).c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count());
}

std::string response_head(const http::Response& response, const HeadOptions& options) {
  std::string head;
  head.reserve(512);
  fmt::format_to(std::back_inserter(head), "HTTP/1.1 {} {}\r\n", response.status,
                 status_phrase(response.status));
  for (const auto& [name, value] : response.headers) {
    append_value(head, name);
    head += ": ";
    append_value(head, value);
    head += "\r\n";
  }
  if (!options.date.empty()) head.append("Date: ").append(options.date).append("\r\n");
  if (options.framing == Framing::kChunked) head += "Transfer-Encoding: chunked\r\n";
  if (options.framing == Framing::kLength) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", options.length);
  }
  if (options.close) head += "Connection: close\r\n";
  head += "\r\n";
  return head;
}

std::string chunk_head(std::size_t size) { return fmt::format("{:x}\r\n", size); }

bool is_sendable(const http::Header& header) {
  return !header.first.empty() && std::ranges::all_of(header.first, is_token_letter) &&
         std::ranges::none_of(header.second, is_control);
}

http::Response response_of(const Refusal& refusal) {
  const std::string reason =
      refusal.reason.empty() ? "" : fmt::format(R"("reason":"{}",)", refusal.reason);
  std::string body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"{}",{}"code":{}}})",
      refusal.message, reason, refusal.status);
  http::Response response;
  response.status = refusal.status;
  response.headers = {{"Content-Type", "application/json"}};
  response.body.push_back(http::Chunk::own(std::move(body)));
  return response;
}

}  // namespace muster::net
