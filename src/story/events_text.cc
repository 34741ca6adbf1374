#include "story/events_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/tables/table_row.h"
#include "base/ascii.h"

namespace muster::story {

EventRow event_row(json::Value event) {
  EventRow row;
  for (const json::Value time :
       {event.get({"series", "lastObservedTime"}), event.get("lastTimestamp"),
        event.get("eventTime"), event.get("firstTimestamp"),
        event.get({"metadata", "creationTimestamp"})}) {
    if (const auto parsed = api::time_of(time)) {
      row.at = *parsed;
      break;
    }
  }
  row.type = event.get("type").as_string();
  row.reason = event.get("reason").as_string();
  row.message = event.get("message").as_string();
  row.ns = event.get({"metadata", "namespace"}).as_string();
  const json::Value object = event.get("involvedObject");
  row.object = fmt::format("{}/{}", lower_case(object.get("kind").as_string()),
                           object.get("name").as_string());
  row.count = std::max(
      {std::int64_t{1}, event.get("count").as_int(), event.get({"series", "count"}).as_int()});
  return row;
}

std::vector<EventRow> event_rows(json::Value list) {
  std::vector<EventRow> rows;
  for (const json::Value event : list.get("items").items()) rows.push_back(event_row(event));
  std::ranges::stable_sort(rows, {}, &EventRow::at);
  return rows;
}

TextTable events_table(const std::vector<EventRow>& rows, Time now, EventsOf whose) {
  std::vector<std::string> header = {"LAST SEEN", "TYPE", "REASON"};
  if (whose == EventsOf::kAllNamespaces) header.insert(header.begin(), "NAMESPACE");
  if (whose != EventsOf::kObject) header.emplace_back("OBJECT");
  header.emplace_back("MESSAGE");
  TextTable table(std::move(header));
  for (const EventRow& row : rows) add_event(table, row, now, whose);
  return table;
}

void add_event(TextTable& table, const EventRow& row, Time now, EventsOf whose) {
  std::string age = human_duration(std::max(Duration{}, now - row.at));
  if (row.count > 1) age += fmt::format(" (x{})", row.count);
  std::vector<std::string> cells = {std::move(age), row.type, row.reason};
  if (whose == EventsOf::kAllNamespaces) cells.insert(cells.begin(), row.ns);
  if (whose != EventsOf::kObject) cells.push_back(row.object);
  cells.push_back(row.message);
  table.add(std::move(cells));
}

}  // namespace muster::story
