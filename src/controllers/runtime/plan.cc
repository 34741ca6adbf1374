#include "controllers/runtime/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::controllers {

ObjectRef ref_of(const api::Meta& meta, std::string_view api_version, std::string_view kind) {
  return {.api_version = std::string(api_version),
          .kind = std::string(kind),
          .ns = meta.ns,
          .name = meta.name,
          .uid = meta.uid,
          .resource_version = meta.resource_version};
}

ObjectRef ref_of(json::Value object, std::string_view api_version, std::string_view kind) {
  const json::Value metadata = object.get("metadata");
  const auto text = [&](std::string_view key) {
    return std::string(metadata.get(key).as_string());
  };
  return {.api_version = std::string(api_version),
          .kind = std::string(kind),
          .ns = text("namespace"),
          .name = text("name"),
          .uid = text("uid"),
          .resource_version = text("resourceVersion")};
}

void Plan::write(Write write) {
  if (steps.empty()) steps.emplace_back();
  steps.back().writes.push_back(std::move(write));
}

bool Plan::has_writes() const {
  return std::ranges::any_of(steps, [](const Step& step) { return !step.writes.empty(); });
}

std::vector<client::Operation> Plan::operations() const {
  std::vector<client::Operation> all;
  for (const Step& step : steps) {
    for (const Write& write : step.writes) all.push_back(write.operation);
  }
  return all;
}

std::string Plan::text() const {
  constexpr std::size_t kMostLines = 50;  // the log keeps thousands of these
  std::string out = reason;
  std::size_t lines = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const Write& write : steps[i].writes) {
      if (++lines <= kMostLines) out += fmt::format("\n  {}. {}", i + 1, write.operation.summary());
    }
  }
  if (lines > kMostLines) out += fmt::format("\n  … and {} more", lines - kMostLines);
  for (const Event& event : events) {
    out += fmt::format("\n  tell {}: {}", event.reason, event.message);
  }
  if (look_again) out += fmt::format("\n  look again in {} ms", look_again->count() / 1000);
  if (!error.empty()) out += "\n  cannot go on: " + error;
  return out;
}

}  // namespace muster::controllers
