#include "client/list_watch.h"

#include <algorithm>
#include <array>
#include <optional>

#include "api/views/owner_reference.h"
#include "api/views/views.h"
#include "base/log.h"
#include "base/number.h"
#include "client/served.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::client {
namespace {

constexpr Duration kFirstRetry = std::chrono::milliseconds(50);
constexpr Duration kLastRetry = std::chrono::seconds(30);
// Somebody may be installing the definition just now; one that comes much later is worth no more
// than a small request now and then.
constexpr Duration kFirstLook = std::chrono::seconds(1);
// A server that sends a longer line than any object can be is not one: drop the stream.
constexpr std::size_t kMaxLine = 16u << 20;

std::string path_of(const api::Meta& meta) { return meta.ns + "/" + meta.name; }

struct WatchLine {
  std::string_view type;
  std::string_view object;
};

// The two members of a watch event, as kube-apiserver and muster write it, without looking into the
// object. Nothing if it is written in another way.
std::optional<WatchLine> split(std::string_view line) {
  constexpr std::string_view kType = R"({"type":")", kObject = R"(","object":)";
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.starts_with(kType) || !line.ends_with('}')) return std::nullopt;
  line.remove_prefix(kType.size());
  line.remove_suffix(1);
  const std::size_t end = line.find('"');
  if (end == std::string_view::npos || !line.substr(end).starts_with(kObject)) return std::nullopt;
  return WatchLine{line.substr(0, end), line.substr(end + kObject.size())};
}

// Annotations and managedFields are most of what is left without spec and status.
std::string slim_metadata(json::Value object) {
  json::Value slim = json::Value::object(object.arena());
  const json::Value metadata = object.get("metadata");
  metadata.erase("managedFields");
  metadata.erase("annotations");
  slim.set("metadata", metadata);
  return json::write(slim);
}

// As far as it has any: bookmarks have no name.
bool has_identity(json::Value object) {
  const json::Value metadata = object.get("metadata");
  return metadata.is_object() &&
         std::ranges::all_of(std::array{"name", "namespace", "uid", "resourceVersion"},
                             [&](const char* field) {
                               const json::Value value = metadata.get(field);
                               return value.is_null() || value.is_string();
                             });
}

// Nobody asks a cache who wrote which field, and that may be half of an object.
std::string without_managers(std::string_view text, json::Value object) {
  if (!object.get("metadata").erase("managedFields")) return std::string(text);
  std::string bytes = json::write(object);
  bytes.shrink_to_fit();
  return bytes;
}

enum class Keep { kMetadata, kContent, kText };

Keep what_to_keep(bool metadata_only, bool forgets_content) {
  if (metadata_only) return Keep::kMetadata;
  return forgets_content ? Keep::kText : Keep::kContent;  // what goes soon need not be small
}

std::string kept_text(Keep keep, std::string_view text, json::Value content) {
  switch (keep) {
    case Keep::kMetadata:
      return slim_metadata(content);
    case Keep::kContent:
      return without_managers(text, content);
    case Keep::kText:
      break;
  }
  return std::string(text);
}

Result<ObjectPtr> read_object(std::string_view text, json::Value content, Keep keep) {
  if (!has_identity(content)) return fail(Code::kBadRequest, "what the server sent is no object");
  std::string bytes = kept_text(keep, text, content);
  api::Meta meta = api::read_meta(content);
  const store::Revision revision = to_revision(meta.resource_version);
  return std::make_shared<const store::Object>(std::move(bytes), revision,
                                               std::make_unique<const api::Meta>(std::move(meta)));
}

// Keeps only name, namespace, uid, revision, deletion and owners.
ObjectPtr without_content(const store::Object& object) {
  const api::Meta& meta = object.meta();
  json::Arena arena;
  const json::Value slim = json::Value::object(arena, 1);
  const json::Value metadata = slim.object_at("metadata");
  metadata.set("name", meta.name);
  if (!meta.ns.empty()) metadata.set("namespace", meta.ns);
  metadata.set("uid", meta.uid);
  metadata.set("resourceVersion", meta.resource_version);
  if (meta.deletion_time) metadata.set("deletionTimestamp", format_time(*meta.deletion_time));
  for (const auto& owner : meta.owners)
    metadata.array_at("ownerReferences").push_back(api::write_owner_reference(arena, owner));
  std::string bytes = json::write(slim);
  bytes.shrink_to_fit();
  return std::make_shared<const store::Object>(std::move(bytes), object.revision());
}

}  // namespace

ListWatch::ListWatch(Client& client, const api::Resource& resource, Options options,
                     Listener listener)
    : client_(client),
      resource_(resource),
      options_(std::move(options)),
      listener_(std::move(listener)) {}

ListWatch::~ListWatch() { *alive_ = false; }

store::Revision ListWatch::position() const { return listing_ ? 0 : to_revision(revision_); }

void ListWatch::begin_state() {
  listing_ = true;
  listener_.state_begins();
}

void ListWatch::end_state() {
  if (std::exchange(listing_, false)) failures_ = 0;
  listener_.state_ends();
}

void ListWatch::open() {
  if (!revision_.empty()) return open_stream("&resourceVersion=" + revision_);
  if (!streaming_list_) return open_with_list();
  begin_state();
  open_stream("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
}

void ListWatch::open_with_list() {
  status_ = 0;
  client_.list(resource_, options_.list, [this, alive = alive_](Result<std::string> body) {
    if (!*alive) return;
    json::Arena arena;
    const auto list =
        body ? json::parse(arena, *body) : Result<json::Value>(std::unexpected(body.error()));
    if (!list) {
      complain(list.error());
      return ended(std::unexpected(list.error()));
    }
    begin_state();
    for (const json::Value item : list->get("items").items()) {
      auto object = read_object(json::write(item), item,
                                what_to_keep(options_.list.metadata_only, options_.forget_content));
      if (!object) return broken(std::move(object).error());
      put(*std::move(object), item);
    }
    revision_ = list->get({"metadata", "resourceVersion"}).as_string();
    end_state();
    open_stream("&resourceVersion=" + revision_);
  });
}

void ListWatch::open_stream(std::string parameters) {
  std::string target =
      url_path(resource_, options_.list.ns) + "?watch=true&allowWatchBookmarks=true" + parameters;
  if (!options_.list.label_selector.empty())
    target += "&labelSelector=" + url_escape(options_.list.label_selector);
  if (!options_.list.field_selector.empty())
    target += "&fieldSelector=" + url_escape(options_.list.field_selector);
  buffer_.clear();
  refusal_.clear();
  status_ = 0;
  // A stream that was given up may have more to tell before it goes, also when there is another.
  const auto is_current = [this, alive = alive_, number = ++stream_number_] {
    return *alive && number == stream_number_;
  };
  stream_ = client_.stream(std::move(target),
                           {.head =
                                [this, is_current](int status) {
                                  if (is_current()) status_ = status;
                                },
                            .data =
                                [this, is_current](std::string_view data) {
                                  if (is_current()) took_data(data);
                                },
                            .end =
                                [this, is_current](Status why) {
                                  if (is_current()) ended(std::move(why));
                                }},
                           options_.list.metadata_only);
}

void ListWatch::took_data(std::string_view data) {
  if (status_ != 200) {
    refusal_ += data.substr(0, 4096);
    return;
  }
  buffer_ += data;
  std::size_t start = 0;
  for (std::size_t end; stream_ && (end = buffer_.find('\n', start)) != std::string::npos;
       start = end + 1) {
    took_line(std::string_view(buffer_).substr(start, end - start));
  }
  buffer_.erase(0, std::min(start, buffer_.size()));
  if (buffer_.size() > kMaxLine)
    ended(fail(Code::kUnavailable, "a watch event is larger than any object may be"));
}

void ListWatch::took_line(std::string_view line) {
  if (const auto event = split(line)) return took_event(event->type, event->object);
  json::Arena arena;
  const auto event = json::parse(arena, line);
  if (!event) return broken(event.error());
  took_event(event->get("type").as_string(), json::write(event->get("object")));
}

// What the server sends cannot be understood: begin again, later.
void ListWatch::broken(Error why) {
  revision_.clear();
  ended(std::unexpected(std::move(why)));
}

void ListWatch::took_event(std::string_view type, std::string_view object) {
  // 410, or anything else that this stream cannot get over: list again.
  if (type == "ERROR") return broken(error_of_status(500, object));
  json::Arena arena;
  const auto content = json::parse(arena, object);
  if (!content) return broken(content.error());
  took_object(type, object, *content);
}

void ListWatch::took_object(std::string_view type, std::string_view text, json::Value content) {
  const bool bookmark = type == "BOOKMARK";  // all that it has are its metadata
  auto object = read_object(
      text, content,
      bookmark ? Keep::kText : what_to_keep(options_.list.metadata_only, options_.forget_content));
  if (!object) return broken(std::move(object).error());
  if (!listing_) failures_ = 0;
  complained_ = false;
  const api::Meta& meta = (*object)->meta();
  // A stream that was opened again may repeat what is known; the cache never goes back in time.
  const bool repeated = !listing_ && (*object)->revision() <= position();
  if (!repeated) revision_ = meta.resource_version;
  if (bookmark) {
    if (meta.annotation("k8s.io/initial-events-end") == "true") end_state();
  } else if (repeated) {
    return;
  } else if (type == "DELETED") {
    listener_.remove(path_of(meta));
  } else {
    put(*std::move(object), content);
  }
}

void ListWatch::put(ObjectPtr object, json::Value content) {
  ObjectPtr kept = options_.forget_content ? without_content(*object) : object;
  listener_.put({std::move(object), content, std::move(kept)});
}

void ListWatch::ended(Status why) {
  ++stream_number_;
  // Runs inside the stream's own callback: it must outlive this frame.
  client_.loop().post([stream = std::shared_ptr<Transport::Stream>(std::move(stream_))] {});
  if (status_ / 100 == 4) {
    complain(error_of_status(status_, refusal_));
    if (listing_ && (status_ == 400 || status_ == 422)) streaming_list_ = false;
    revision_.clear();
  }
  if (listing_) revision_.clear();  // cut in the middle of the initial state: begin again
  if (!why)
    log::debug("watch ended", {{"resource", resource_.qualified()}, {"why", why.error().message}});
  const bool unknown = status_ == 404 || (!why && why.error().code == Code::kNotFound);
  if (unknown) return check_if_served();
  retry(why.has_value() && status_ == 200);
}

// What will not change by itself should be looked at; told once, until it works again.
void ListWatch::complain(const Error& error) {
  const bool lasts = error.code == Code::kUnauthorized || error.code == Code::kForbidden;
  if (!lasts || std::exchange(complained_, true)) return;
  log::warn("the API server does not let this be watched",
            {{"resource", resource_.qualified()}, {"error", error.message}});
}

void ListWatch::check_if_served() {
  ask_if_served(client_, resource_, [this, alive = alive_](const Result<bool>& served) {
    if (!*alive) return;
    if (served && !*served) return be_absent();
    retry(false);
  });
}

void ListWatch::be_absent() {
  log::warn("the API server does not know this resource: is its definition installed?",
            {{"resource", resource_.qualified()}});
  begin_state();
  end_state();
  looks_ = 0;
  await_kind();
}

void ListWatch::await_kind() {
  const auto look = [this, alive = alive_] {
    if (!*alive) return;
    ask_if_served(client_, resource_, [this, alive](const Result<bool>& served) {
      if (!*alive) return;
      if (!served || !*served) return await_kind();
      log::info("the API server serves this resource now", {{"resource", resource_.qualified()}});
      open();
    });
  };
  client_.loop().after(delay_after(looks_++, kFirstLook), look);
}

// Twice as long each time, to some bound, less up to half of it by chance.
Duration ListWatch::delay_after(int failures, Duration first) {
  const Duration span = std::min(kLastRetry, first * (1 << std::min(failures, 12)));
  const Duration jitter(
      static_cast<Duration::rep>(client_.rng().below(static_cast<std::uint64_t>(span.count()))));
  return span / 2 + jitter / 2;
}

// A stream that ended well after it worked (time-out of the watch) is opened again at once.
void ListWatch::retry(bool ended_well) {
  const Duration spread = delay_after(failures_, kFirstRetry);
  const Duration delay = failures_ == 0 && ended_well ? Duration::zero() : spread;
  ++failures_;
  client_.loop().after(delay, [this, alive = alive_] {
    if (*alive) open();
  });
}

}  // namespace muster::client
