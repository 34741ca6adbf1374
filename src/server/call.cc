#include "server/call.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "json/parse.h"
#include "json/sort_keys.h"
#include "json/write.h"
#include "json/yaml.h"
#include "server/errors.h"
#include "server/render.h"

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

// An answer up to this size is not counted among those that clients have not taken: the socket
// takes it at once.
constexpr std::size_t kSmallAnswer = 64u << 10;
// The least that a larger one counts, for what it costs beside its text (buffers of its socket). It
// also bounds how many of them one user can leave standing.
constexpr std::size_t kAnswerCost = 256u << 10;

std::size_t size_of(const std::vector<http::Chunk>& body) {
  std::size_t size = 0;
  for (const http::Chunk& chunk : body) size += chunk.text.size();
  return size;
}

// The memory that an answer takes for itself: text that lies in a stored object is there anyway.
std::size_t cost_of(const std::vector<http::Chunk>& body) {
  std::size_t cost = kAnswerCost + body.size() * sizeof(http::Chunk);
  for (const http::Chunk& chunk : body) {
    if (chunk.keep.use_count() == 1) cost += chunk.text.size();
  }
  return cost;
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

void Call::uncount() {
  if (std::exchange(counted_, false)) --core->in_flight;
}

void Call::hand_over() {
  uncount();
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
                  http::Headers more, store::ObjectPtr as_stored) {
  if (answered_) return;
  const bool large = size_of(body) > kSmallAnswer;
  const BytePool::Id held = large ? hold(body) : 0;
  // What a write has done is told in any case.
  if (large && held == 0 && request().method == "GET") return answer_error(too_many_requests());
  answered_ = true;
  http::Headers out = headers(content_type);
  for (http::Header& header : more) {
    std::erase_if(out, [&](const http::Header& old) {
      return old.first == header.first && header.first != "Warning";
    });
    out.push_back(std::move(header));
  }
  note(status);
  exchange->respond({.status = status,
                     .headers = std::move(out),
                     .body = std::move(body),
                     .object = std::move(as_stored)});
  if (held != 0) release_when_taken(held);
}

// Counts an answer among those that are not taken yet. 0 if there is no room for it.
BytePool::Id Call::hold(const std::vector<http::Chunk>& body) const {
  const Time now = core->clock.now();
  const BytePool::Id id = core->unsent.enter({.address = {}, .identity = user.name}, now,
                                             [to = exchange](BytePool::Id) { to->abort(); });
  if (core->unsent.resize(id, cost_of(body), now)) return id;
  core->unsent.leave(id);
  return 0;
}

// Until then the request is in flight, although there is nothing more to do for it.
void Call::release_when_taken(BytePool::Id held) {
  if (exchange->unsent_bytes() == 0) return core->unsent.leave(held);
  exchange->on_close([core = core, held, counted = std::exchange(counted_, false)] {
    core->unsent.leave(held);
    if (counted) --core->in_flight;
  });
}

void Call::answer_object(int status, const store::ObjectPtr& object, const Renderer& renderer) {
  std::vector<http::Chunk> body;
  body.push_back(renderer.object(object));
  const bool as_stored = body.front().keep == object;
  body.push_back(http::Chunk::literal("\n"));
  answer_json(status, std::move(body), {}, as_stored ? object : nullptr);
}

void Call::answer_json(int status, std::vector<http::Chunk> body, http::Headers more,
                       store::ObjectPtr as_stored) {
  const std::string_view pretty = info.query.get("pretty");
  const bool indent = !pretty.empty() && pretty != "false" && pretty != "0";
  if (accepted.encoding != Encoding::kYaml && !indent) {
    return answer(status, "application/json", std::move(body), std::move(more),
                  std::move(as_stored));
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
