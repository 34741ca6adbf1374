#include "server/canonical.h"

#include "api/decode/decode.h"
#include "json/write.h"

namespace muster::server {
namespace {

void write_key(std::string& out, bool& first, std::string_view key) {
  if (!first) out += ',';
  first = false;
  json::write_string(out, key);
  out += ':';
}

}  // namespace

std::string Gapped::with(std::string_view revision) const {
  std::string text;
  text.reserve(head.size() + revision.size() + tail.size());
  text += head;
  text += revision;
  text += tail;
  return text;
}

Gapped with_gap(json::Value object) {
  const json::Value metadata = object.get("metadata");
  MUSTER_ASSERT(metadata.is_object(), "an object to store has metadata");
  constexpr std::size_t kUsualBytes = 8 * 1024;
  Gapped out;
  out.tail.reserve(kUsualBytes);
  std::string* at = &out.head;
  bool first = true;
  *at += '{';
  for (const json::Member& member : object.members()) {
    write_key(*at, first, member.key);
    if (member.key != "metadata") {
      json::write(*at, member.value);
      continue;
    }
    bool first_inside = true;
    *at += '{';
    for (const json::Member& inside : metadata.members()) {
      write_key(*at, first_inside, inside.key);
      if (inside.key != "resourceVersion") {
        json::write(*at, inside.value);
        continue;
      }
      *at += '"';
      at = &out.tail;
      *at += '"';
    }
    *at += '}';
  }
  *at += '}';
  MUSTER_ASSERT(at == &out.tail, "an object to store has a resourceVersion");
  return out;
}

std::string without_revision(json::Value object) {
  json::Arena arena;
  const json::Value copy = json::clone(arena, object);
  copy.get("metadata").erase("resourceVersion");
  return json::write(copy);
}

Result<json::Value> canonical(json::Arena& arena, json::Value object,
                              const api::Resource& resource) {
  api::DecodeReport report;  // what is unknown was reported when the request was decoded
  object.object_at("metadata").set("resourceVersion", "0");
  return api::decode(arena, object, resource, report);
}

}  // namespace muster::server
