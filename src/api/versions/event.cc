// An Event of events.k8s.io is a core Event under other names.
#include <array>

#include "api/versions/conversion.h"

namespace muster::api {
namespace {

using json::Value;

struct EventName {
  std::string_view served;
  std::string_view stored;
};

constexpr std::array<EventName, 7> kEventNames{{{"reportingController", "reportingComponent"},
                                                {"regarding", "involvedObject"},
                                                {"note", "message"},
                                                {"deprecatedSource", "source"},
                                                {"deprecatedFirstTimestamp", "firstTimestamp"},
                                                {"deprecatedLastTimestamp", "lastTimestamp"},
                                                {"deprecatedCount", "count"}}};

void event_to_storage(Value event) {
  for (const EventName& name : kEventNames) rename_member(event, name.served, name.stored);
}

void event_from_storage(Value event) {
  for (const EventName& name : kEventNames) rename_member(event, name.stored, name.served);
}

}  // namespace

constinit const Conversion kEventV1 = {.group = "events.k8s.io",
                                       .kind = "Event",
                                       .version = "v1",
                                       .to_storage = event_to_storage,
                                       .from_storage = event_from_storage};

}  // namespace muster::api
