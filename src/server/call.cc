#include "server/call.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "json/parse.h"
#include "json/sort_keys.h"
#include "json/write.h"
#include "json/yaml.h"
#include "server/errors.h"

namespace muster::server {
namespace {

// Upstream's bounds on what warnings may add to an answer.
constexpr std::size_t kMaxWarningBytes = 4'096;
constexpr std::size_t kCutWarningBytes = 256;

std::string quoted_warning(std::string_view text) {
  std::string out = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;  // a header holds no line breaks
  }
  return out + '"';
}

// A cut does not split a UTF-8 sequence.
std::string_view cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

void add_warnings(http::Headers& headers, const std::vector<std::string>& warnings) {
  std::vector<std::string_view> distinct;
  std::set<std::string_view> seen;
  std::size_t bytes = 0;
  for (const std::string& warning : warnings) {
    if (!seen.insert(warning).second) continue;
    distinct.push_back(warning);
    bytes += warning.size();
  }
  std::size_t left = kMaxWarningBytes;
  for (std::string_view warning : distinct) {
    if (bytes > kMaxWarningBytes) warning = cut(warning, kCutWarningBytes);
    if (warning.size() > left) return;
    left -= warning.size();
    headers.emplace_back("Warning", quoted_warning(warning));
  }
}

std::string joined(const std::vector<http::Chunk>& chunks) {
  std::string text;
  for (const http::Chunk& chunk : chunks) text += chunk.text;
  return text;
}

}  // namespace

Call::Call(std::shared_ptr<Core> the_core, std::shared_ptr<http::Exchange> the_exchange)
    : core(std::move(the_core)),
      exchange(std::move(the_exchange)),
      started(core->clock.now()),
      audit_id(core->new_audit_id()) {
  ++core->in_flight;
}

Call::~Call() {
  if (counted_) --core->in_flight;
  // Whoever dropped the last reference forgot the client: better an error than a hanging
  // connection.
  if (!answered_)
    answer_error(
        {.code = Code::kInternal, .message = "Internal error occurred: the request was dropped"});
}

void Call::long_running() {
  if (std::exchange(counted_, false)) --core->in_flight;
}

void Call::hand_over() {
  long_running();
  answered_ = true;
}

std::vector<http::Chunk> Call::chunks(std::string text) {
  std::vector<http::Chunk> out;
  out.push_back(http::Chunk::own(std::move(text)));
  return out;
}

http::Headers Call::headers(std::string_view content_type) const {
  http::Headers out;
  out.emplace_back("Audit-Id", audit_id);
  out.emplace_back("Cache-Control", "no-cache, private");
  if (!content_type.empty()) out.emplace_back("Content-Type", content_type);
  add_warnings(out, warnings);
  return out;
}

void Call::answer(int status, std::string_view content_type, std::vector<http::Chunk> body,
                  http::Headers more) {
  if (std::exchange(answered_, true)) return;
  http::Headers out = headers(content_type);
  for (http::Header& header : more) {
    std::erase_if(out, [&](const http::Header& old) {
      return old.first == header.first && header.first != "Warning";
    });
    out.push_back(std::move(header));
  }
  note(status);
  exchange->respond({.status = status, .headers = std::move(out), .body = std::move(body)});
}

void Call::answer_json(int status, std::vector<http::Chunk> body, http::Headers more) {
  const std::string_view pretty = info.query.get("pretty");
  const bool indent = !pretty.empty() && pretty != "false" && pretty != "0";
  if (accepted.encoding != Encoding::kYaml && !indent) {
    return answer(status, "application/json", std::move(body), std::move(more));
  }
  json::Arena arena;
  const Result<json::Value> tree = json::parse(arena, joined(body));
  if (!tree) return answer(status, "application/json", std::move(body), std::move(more));
  if (accepted.encoding == Encoding::kYaml) {
    json::sort_all_keys(*tree);  // upstream's maps have lost the order of the fields
    return answer(status, "application/yaml", chunks(json::write_yaml(*tree)), std::move(more));
  }
  answer(status, "application/json", chunks(json::write_pretty(*tree) + "\n"), std::move(more));
}

void Call::answer_text(int status, std::string text) {
  answer(status, "text/plain; charset=utf-8", chunks(std::move(text)),
         {{"X-Content-Type-Options", "nosniff"}});
}

void Call::answer_error(const Error& error, std::string_view continue_token) {
  http::Headers more;
  if (error.retry_after_seconds > 0)
    more.emplace_back("Retry-After", std::to_string(error.retry_after_seconds));
  answer_json(http_status(error.code), chunks(status_body(error, continue_token)), std::move(more));
}

void Call::start_stream(std::string_view content_type) {
  if (std::exchange(answered_, true)) return;
  note(200);
  exchange->start_stream({.status = 200, .headers = headers(content_type), .body = {}});
}

void Call::note(int status) {
  core->requests.note(info.verb, resource, status, core->clock.now() - started);
  const bool reading = info.verb == "get" || info.verb == "list" || info.verb == "watch";
  if (reading || !log::enabled(log::Level::kDebug)) return;
  log::debug("audit", {{"id", audit_id},
                       {"user", user.name},
                       {"verb", info.verb},
                       {"path", info.path},
                       {"code", status}});
}

}  // namespace muster::server
