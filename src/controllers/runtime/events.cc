#include "controllers/runtime/events.h"

#include <deque>

#include "base/lifetime.h"
#include "base/log.h"
#include "base/utf8.h"
#include "client/client.h"
#include "controllers/runtime/event_correlator.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers {
namespace {

using json::Value;

// Enough to keep up, few enough to leave the server to those who do the work.
constexpr int kWritesUnderWay = 8;
// Event objects that wait for their turn; what comes on top is lost.
constexpr std::size_t kMaxWaiting = 4'096;
// So often a create that meets a name of another recorder's tries the next one.
constexpr int kMaxRenames = 3;
constexpr std::size_t kMaxNote = 1'024;  // bytes, events.k8s.io/v1

Value reference(json::Arena& arena, const ObjectRef& object) {
  Value out = Value::object(arena);
  const auto set = [&](std::string_view key, std::string_view text) {
    if (!text.empty()) out.set(key, text);
  };
  set("kind", object.kind);
  set("namespace", object.ns);
  set("name", object.name);
  set("uid", object.uid);
  set("apiVersion", object.api_version);
  set("resourceVersion", object.resource_version);
  set("fieldPath", object.field_path);
  return out;
}

class Recorder final : public EventRecorder {
 public:
  Recorder(client::Client& client, const api::Registry& registry, std::string reporter, Form form,
           std::string host)
      : client_(client), reporter_(std::move(reporter)), host_(std::move(host)), form_(form) {
    resource_ = form == Form::kCore ? registry.find("", "v1", "events")
                                    : registry.find("events.k8s.io", "v1", "events");
    MUSTER_ASSERT(resource_ != nullptr, "both forms of Events are known");
  }

  void record(const Event& event) override {
    const RecordPtr record = correlator_.observe(event, now());
    if (!record) return;
    record->changed = true;
    enqueue(record);
  }

 private:
  using RecordPtr = std::shared_ptr<EventRecord>;

  void enqueue(const RecordPtr& record) {
    if (record->queued || waiting_.size() == kMaxWaiting) return;
    record->queued = true;
    waiting_.push_back(record);
    pump();
  }

  void pump() {
    while (under_way_ < kWritesUnderWay && !waiting_.empty()) {
      const RecordPtr record = std::move(waiting_.front());
      waiting_.pop_front();
      send(record);
    }
  }

  // One Event object has at most one write under way: counts never go backwards.
  void send(const RecordPtr& record) {
    ++under_way_;
    record->changed = false;
    const bool fresh = record->written == 0;
    client_.write(fresh ? creation(*record) : growth(*record),
                  lifetime_.guard([this, record, fresh,
                                   count = record->count](const Result<std::string>& answer) {
                    --under_way_;
                    record->queued = false;
                    if (answer) {
                      record->written = count;
                    } else {
                      refused(*record, fresh, answer.error());
                    }
                    if (record->changed) enqueue(record);
                    pump();
                  }));
  }

  // Marks the record as changed if another attempt may help.
  void refused(EventRecord& record, bool fresh, const Error& error) {
    if (!fresh && error.code == Code::kNotFound) {  // expired, or deleted by somebody
      record.written = 0;
      record.changed = true;
    } else if (fresh && error.code == Code::kAlreadyExists && record.renames < kMaxRenames) {
      ++record.renames;
      record.name = correlator_.new_name(record.event.regarding.name, now());
      record.changed = true;
    } else {
      log::debug(
          "event refused",
          {{"reporter", reporter_}, {"reason", record.event.reason}, {"error", error.message}});
    }
  }

  client::Operation creation(const EventRecord& record) const {
    json::Arena arena;
    Value body = Value::object(arena);
    body.set("apiVersion", resource_->gvk.api_version());
    body.set("kind", "Event");
    const Value metadata = body.object_at("metadata");
    metadata.set("name", record.name);
    metadata.set("namespace", namespace_of(record));
    body.set("reason", record.event.reason);
    body.set("type", record.event.warning ? "Warning" : "Normal");
    form_ == Form::kCore ? fill_core(body, record) : fill_series(body, record);
    return create(*resource_, body);
  }

  void fill_core(Value body, const EventRecord& record) const {
    body.set("involvedObject", reference(body.arena(), record.event.regarding));
    body.set("message", record.event.message);
    body.object_at("source").set("component", reporter_);
    if (!host_.empty()) body.object_at("source").set("host", host_);
    body.set("reportingComponent", reporter_);
    body.set("reportingInstance", host_);
    body.set("firstTimestamp", format_time(record.first));
    body.set("lastTimestamp", format_time(record.last));
    body.set("count", Value::of(record.count));
  }

  void fill_series(Value body, const EventRecord& record) const {
    body.set("regarding", reference(body.arena(), record.event.regarding));
    body.set("note", cut_utf8(record.event.message, kMaxNote));
    body.set("action", record.event.action);
    body.set("reportingController", reporter_);
    body.set("reportingInstance", reporter_ + "-muster");
    body.set("eventTime", format_micro_time(record.first));
    if (record.count > 1) body.set("series", series(body.arena(), record));
  }

  static Value series(json::Arena& arena, const EventRecord& record) {
    Value out = Value::object(arena);
    out.set("count", Value::of(record.count));
    out.set("lastObservedTime", format_micro_time(record.last));
    return out;
  }

  client::Operation growth(const EventRecord& record) const {
    json::Arena arena;
    Value change = Value::object(arena);
    if (form_ == Form::kCore) {
      change.set("count", Value::of(record.count));
      change.set("lastTimestamp", format_time(record.last));
      change.set("message", record.event.message);
    } else {  // nothing else may change
      change.set("series", series(arena, record));
    }
    return patch(*resource_, {.ns = namespace_of(record), .name = record.name}, change);
  }

  static std::string namespace_of(const EventRecord& record) {
    const std::string& ns = record.event.regarding.ns;
    return ns.empty() ? "default" : ns;
  }

  Time now() { return client_.loop().clock().now(); }

  client::Client& client_;
  const api::Resource* resource_ = nullptr;
  std::string reporter_;
  std::string host_;
  Form form_;
  EventCorrelator correlator_;
  std::deque<RecordPtr> waiting_;
  int under_way_ = 0;
  Lifetime lifetime_;
};

}  // namespace

std::unique_ptr<EventRecorder> make_event_recorder(client::Client& client,
                                                   const api::Registry& registry,
                                                   std::string reporter, EventRecorder::Form form,
                                                   std::string host) {
  return std::make_unique<Recorder>(client, registry, std::move(reporter), form, std::move(host));
}

}  // namespace muster::controllers
