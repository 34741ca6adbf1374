// Events as rows, oldest first. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/text_table.h"
#include "json/value.h"

namespace muster::cli {

struct EventRow {
  Time at{};  // when it was seen last
  std::string type;
  std::string reason;
  std::string object;  // pod/x
  std::string message;
  std::int64_t count = 1;
};

EventRow event_row(json::Value event);
std::vector<EventRow> event_rows(json::Value list);  // sorted
// LAST SEEN, TYPE, REASON, OBJECT, MESSAGE; without the object if it is always the same.
TextTable events_table(const std::vector<EventRow>& rows, Time now, bool with_object);

}  // namespace muster::cli
