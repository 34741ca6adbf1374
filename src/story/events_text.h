// Events as rows, oldest first. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "story/text_table.h"

namespace muster::story {

struct EventRow {
  Time at{};  // when it was seen last
  std::string type;
  std::string reason;
  std::string ns;
  std::string object;  // pod/x
  std::string message;
  std::int64_t count = 1;
};

EventRow event_row(json::Value event);
std::vector<EventRow> event_rows(json::Value list);  // sorted

// Whose events a table shows: what is the same in every row is left out.
enum class EventsOf : std::uint8_t { kObject, kNamespace, kAllNamespaces };
// NAMESPACE, LAST SEEN, TYPE, REASON, OBJECT, MESSAGE.
TextTable events_table(const std::vector<EventRow>& rows, Time now, EventsOf whose);
void add_event(TextTable& table, const EventRow& row, Time now, EventsOf whose);

}  // namespace muster::story
