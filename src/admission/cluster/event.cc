// Event: what a component saw happen to an object. There are two forms of the same record: that of
// v1, which counts repetitions in the record itself, and that of events.k8s.io/v1, which has an
// eventTime, says who acted how, and never changes but for its series.
#include <fmt/format.h>

#include <array>

#include "admission/kinds.h"
#include "admission/rules/checks.h"
#include "api/values/names.h"

namespace muster::admission {
namespace {

constexpr std::size_t kMaxReportingInstance = 128;
constexpr std::size_t kMaxAction = 128;
constexpr std::size_t kMaxReason = 128;
constexpr std::size_t kMaxNote = 1'024;
constexpr int kMinSeriesCount = 2;  // one occurrence is no series

// A field under the name that v1 gives it. Faults are reported under that name in both versions, as
// upstream does.
struct Field {
  std::string_view v1;
  std::string_view events;  // of events.k8s.io/v1
};
constexpr Field kInvolvedObject{"involvedObject", "regarding"};
constexpr Field kMessage{"message", "note"};
constexpr Field kSource{"source", "deprecatedSource"};
constexpr Field kFirstTimestamp{"firstTimestamp", "deprecatedFirstTimestamp"};
constexpr Field kLastTimestamp{"lastTimestamp", "deprecatedLastTimestamp"};
constexpr Field kCount{"count", "deprecatedCount"};

bool is_core(const Context& context) { return context.resource->gvk.group.empty(); }

Value field_of(const Context& context, Value event, const Field& field) {
  return event.get(is_core(context) ? field.v1 : field.events);
}

void require_text(std::string_view text, std::size_t limit, std::string_view name,
                  FieldErrors& errors) {
  if (text.empty()) errors.required(Path(name));
  if (text.size() > limit)
    errors.invalid(Path(name), "", fmt::format("can have at most {} characters", limit));
}

// Who did what, of events that have an eventTime.
void validate_report(const Context& context, Value event, FieldErrors& errors) {
  const std::string_view reporter = is_core(context) ? "reportingComponent" : "reportingController";
  const std::string_view controller = text_of(event, reporter);
  if (controller.empty()) errors.required(Path(reporter));
  add_faults(errors, Path(reporter), controller, api::check_qualified_name(controller));
  require_text(text_of(event, "reportingInstance"), kMaxReportingInstance, "reportingInstance",
               errors);
  require_text(text_of(event, "action"), kMaxAction, "action", errors);
  require_text(text_of(event, "reason"), kMaxReason, "reason", errors);
  if (field_of(context, event, kMessage).as_string().size() > kMaxNote) {
    errors.invalid(Path(kMessage.v1), "", fmt::format("can have at most {} characters", kMaxNote));
  }
}

void validate_series(Value event, FieldErrors& errors) {
  const Value series = event.get("series");
  if (!series.is_object()) return;
  if (series.get("count").as_int() < kMinSeriesCount)
    errors.invalid(Path("series.count"), "", "should be at least 2");
  if (text_of(series, "lastObservedTime").empty()) errors.required(Path("series.lastObservedTime"));
}

void validate_new_form(const Context& context, Value event, FieldErrors& errors) {
  validate_series(event, errors);
  if (text_of(event, "eventTime").empty()) errors.required(Path("eventTime"));
  const std::string_view type = text_of(event, "type");
  if (type != "Normal" && type != "Warning")
    errors.invalid(Path("type"), "", fmt::format("has invalid value: {}", type));
  for (const Field& time : {kFirstTimestamp, kLastTimestamp}) {
    if (!field_of(context, event, time).as_string().empty())
      errors.invalid(Path(time.v1), "", "needs to be unset");
  }
  if (field_of(context, event, kCount).as_int() != 0)
    errors.invalid(Path(kCount.v1), "", "needs to be unset");
  const Value source = field_of(context, event, kSource);
  if (!text_of(source, "component").empty() || !text_of(source, "host").empty())
    errors.invalid(Path(kSource.v1), "", "needs to be unset");
}

void validate_event(const Context& context, Value event, FieldErrors& errors) {
  const std::string_view ns = text_of(event.get("metadata"), "namespace");
  const std::string_view about = text_of(field_of(context, event, kInvolvedObject), "namespace");
  const bool has_time = !text_of(event, "eventTime").empty();
  const bool fits = about.empty() ? ns == "default" || (has_time && ns == "kube-system")
                                  : has_time || about == ns;
  if (!fits) {
    errors.invalid(Path(kInvolvedObject.v1).child("namespace"), about,
                   "does not match event.namespace");
  }
  if (has_time) validate_report(context, event, errors);
  if (!is_core(context) && context.operation == Operation::kCreate)
    validate_new_form(context, event, errors);
}

// A client may leave out what is written as empty.
bool is_same(Value a, Value b) {
  const auto is_nothing = [](Value value) {
    return value.is_null() || (value.is_object() && value.empty()) ||
           (value.is_string() && value.as_string().empty());
  };
  return (is_nothing(a) && is_nothing(b)) || json::equal(a, b);
}

// Of the form of events.k8s.io only the series changes.
void validate_event_update(const Context& context, Value event, Value old, FieldErrors& errors) {
  if (!json::equal(event.get("series"), old.get("series"))) validate_series(event, errors);
  constexpr Field kReason{"reason", "reason"};
  // Upstream looks at the reason twice, and so lists that cause twice.
  constexpr std::array<Field, 14> kFixed{{kInvolvedObject,
                                          kReason,
                                          kMessage,
                                          kSource,
                                          kFirstTimestamp,
                                          kLastTimestamp,
                                          kCount,
                                          kReason,
                                          {"type", "type"},
                                          {"eventTime", "eventTime"},
                                          {"action", "action"},
                                          {"related", "related"},
                                          {"reportingController", "reportingController"},
                                          {"reportingInstance", "reportingInstance"}}};
  for (const Field& field : kFixed) {
    const Value now = field_of(context, event, field);
    if (!is_same(now, field_of(context, old, field)))
      errors.invalid(Path(field.v1), now, "field is immutable");
  }
}

}  // namespace

constinit const Kind kEvent = {.group = "", .name = "Event", .validate = validate_event};
constinit const Kind kEventsEvent = {
    .group = "events.k8s.io",
    .name = "Event",
    .trusts_metadata_on_update = true,
    .validate = validate_event,
    .validate_update = validate_event_update,
};

}  // namespace muster::admission
