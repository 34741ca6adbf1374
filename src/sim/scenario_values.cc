#include "sim/scenario_values.h"

#include <fmt/format.h>

#include "base/duration.h"
#include "json/write.h"

namespace muster::sim {

Result<Duration> read_duration(const Place& place, Duration fallback) {
  if (place.is_missing()) return fallback;
  if (const auto span = parse_duration(place.value().as_string())) return *span;
  return place.wrong(fmt::format("{} is not a duration like 3s", json::write(place.value())));
}

Result<std::string> read_text(const Place& place) {
  if (place.is_missing() || place.value().is_string())
    return std::string(place.value().as_string());
  return place.wrong(fmt::format("must be a text, not {}", json::write(place.value())));
}

Result<int> read_number(const Place& place, int least, int fallback) {
  const json::Value value = place.value();
  if (value.is_null()) return fallback;
  if (value.is_int() && value.as_int() >= least && value.as_int() <= kMostOfAScenario)
    return static_cast<int>(value.as_int());
  return place.wrong(fmt::format("must be a number from {} to {}, not {}", least, kMostOfAScenario,
                                 json::write(value)));
}

}  // namespace muster::sim
