#include "api/tables/table_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/values/selector.h"
#include "json/write.h"

namespace muster::api {

std::string Row::since(json::Value time) const {
  const auto since = time_of(time);
  return since ? human_duration(now_ - *since) : std::string(kUnknownCell);
}

void Row::text(std::string_view text, std::string_view if_empty) {
  cells_.push_back(json::Value::string(cells_.arena(), text.empty() ? if_empty : text));
}

void Row::created_at() {
  const auto created = time_of(get({"metadata", "creationTimestamp"}));
  text(created ? format_time(*created) : "0001-01-01T00:00:00Z");  // Go's zero time
}

void Row::containers(json::Value pod_spec) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> images;
  for (const json::Value container : pod_spec.get("containers").items()) {
    names.push_back(container.get("name").as_string());
    images.push_back(container.get("image").as_string());
  }
  text(fmt::format("{}", fmt::join(names, ",")));
  text(fmt::format("{}", fmt::join(images, ",")));
}

std::optional<Time> time_of(json::Value value) { return parse_time(value.as_string()); }

std::string scalar_text(json::Value value) {
  return value.is_string() ? std::string(value.as_string()) : json::write(value);
}

std::string selector_text(json::Value selector) {
  const auto parsed = LabelSelector::from_object(selector);
  if (!parsed) return "<error>";
  const std::string text = parsed->text();
  return text.empty() ? std::string(kNone) : text;
}

std::string labels_text(json::Value labels) {
  std::vector<std::string> pairs;
  for (const json::Member& label : labels.members()) {
    pairs.push_back(fmt::format("{}={}", label.key, label.value.as_string()));
  }
  std::ranges::sort(pairs);
  return pairs.empty() ? std::string(kNone) : fmt::format("{}", fmt::join(pairs, ","));
}

std::string shortened_list(const std::vector<std::string>& all, std::size_t shown,
                           std::string_view if_empty) {
  if (all.empty()) return std::string(if_empty);
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(shown, all.size()));
  const auto text = fmt::format("{}", fmt::join(all.begin(), end, ","));
  return all.size() <= shown ? text : fmt::format("{} + {} more...", text, all.size() - shown);
}

}  // namespace muster::api
