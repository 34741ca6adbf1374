#include "fields/managers.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "api/values/field_error.h"
#include "fields/fields_v1.h"
#include "json/write.h"

namespace muster::fields {
namespace {

using json::Value;

constexpr std::string_view kAncientChanges = "ancient-changes";
constexpr std::string_view kFieldsType = "FieldsV1";

std::string_view text_of(Operation operation) {
  return operation == Operation::kApply ? "Apply" : "Update";
}

std::int64_t seconds_of(const ManagedEntry& entry) {
  if (entry.time.empty()) return 0;
  const std::optional<Time> time = parse_time(entry.time);
  return time ? std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count() : 0;
}

Result<ManagedEntry> read_entry(json::Arena& arena, Value from, std::size_t number) {
  ManagedEntry entry;
  const std::string_view operation = from.get("operation").as_string();
  if (operation != "Apply" && operation != "Update") {
    return fail(Code::kBadRequest, "operation must be `Apply` or `Update`");
  }
  entry.operation = operation == "Apply" ? Operation::kApply : Operation::kUpdate;
  entry.api_version = from.get("apiVersion").as_string();
  if (entry.api_version.empty()) return fail(Code::kBadRequest, "apiVersion must not be empty");
  const std::string_view type = from.get("fieldsType").as_string();
  if (type.empty()) {
    return fail(Code::kBadRequest,
                fmt::format("missing fieldsType in managed fields entry {}", number));
  }
  if (type != kFieldsType) {
    return fail(Code::kBadRequest, fmt::format("invalid fieldsType {} in managed fields entry {}",
                                               api::quote(type), number));
  }
  entry.manager = from.get("manager").as_string();
  entry.subresource = from.get("subresource").as_string();
  entry.time = from.get("time").as_string();
  MUSTER_TRY(entry.fields, parse_fields(arena, from.get("fieldsV1")));
  return entry;
}

Value write_entry(json::Arena& arena, const ManagedEntry& entry, bool custom) {
  const Value object = Value::object(arena, 7);
  const auto add = [&](std::string_view key, std::string_view text) {
    if (!text.empty()) object.append(key, Value::view(text));
  };
  add("manager", entry.manager);
  add("operation", text_of(entry.operation));
  add("apiVersion", entry.api_version);
  add("time", entry.time);
  add("fieldsType", kFieldsType);
  object.append("fieldsV1",
                write_fields(arena, entry.fields, custom ? KeyOrder::kText : KeyOrder::kElements));
  add("subresource", entry.subresource);
  if (custom) object.sort_keys();
  return object;
}

}  // namespace

std::string identity_of(const ManagedEntry& entry) {
  std::string text = "{";
  const auto add = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    if (text.size() > 1) text += ',';
    json::write_string(text, key);
    text += ':';
    json::write_string(text, value);
  };
  add("manager", entry.manager);
  add("operation", text_of(entry.operation));
  if (entry.operation == Operation::kUpdate) add("apiVersion", entry.api_version);
  add("subresource", entry.subresource);
  return text + "}";
}

std::string describe(const ManagedEntry& entry) {
  std::string text = api::quote(entry.manager);
  if (!entry.subresource.empty()) text += " with subresource " + api::quote(entry.subresource);
  if (entry.operation == Operation::kUpdate) text += fmt::format(" using {}", entry.api_version);
  return text;
}

Result<Managers> read_managers(json::Arena& arena, Value managed_fields) {
  Managers managers;
  std::size_t number = 0;
  for (const Value item : managed_fields.items()) {
    MUSTER_TRY(ManagedEntry entry, read_entry(arena, item, number++));
    std::string identity = identity_of(entry);
    managers.insert_or_assign(std::move(identity), std::move(entry));
  }
  return managers;
}

Value write_managers(json::Arena& arena, const Managers& managers, bool custom) {
  if (managers.empty()) return {};
  std::vector<const ManagedEntry*> entries;
  for (const auto& [identity, entry] : managers) entries.push_back(&entry);
  std::ranges::sort(entries, {}, [](const ManagedEntry* entry) {
    return std::tuple(entry->operation, seconds_of(*entry), entry->manager, entry->api_version,
                      entry->subresource);
  });
  const Value list = Value::array(arena, entries.size());
  for (const ManagedEntry* const entry : entries)
    list.push_back(write_entry(arena, *entry, custom));
  return list;
}

void drop_empty(Managers& managers) {
  std::erase_if(managers, [](const auto& item) { return item.second.fields.empty(); });
}

void cap_update_entries(Managers& managers) {
  std::vector<std::pair<std::int64_t, std::string>> updates;  // the oldest first
  for (const auto& [identity, entry] : managers) {
    if (entry.operation == Operation::kUpdate) updates.emplace_back(seconds_of(entry), identity);
  }
  std::ranges::sort(updates);
  std::map<std::string_view, std::string, std::less<>> oldest_of_version;
  std::size_t count = updates.size();
  for (const auto& [seconds, identity] : updates) {
    if (count <= kMaxUpdateEntries) return;
    const ManagedEntry& entry = managers.at(identity);
    const auto [oldest, is_first] = oldest_of_version.emplace(entry.api_version, identity);
    ManagedEntry joined{.manager = kAncientChanges,
                        .operation = Operation::kUpdate,
                        .api_version = entry.api_version};
    const std::string bucket = identity_of(joined);
    if (is_first || identity == bucket) continue;
    // The bucket begins as the oldest entry of its version.
    const auto base = managers.find(managers.contains(bucket) ? bucket : oldest->second);
    joined.time = entry.time;
    joined.fields = unite(base->second.fields, entry.fields);
    managers.erase(base);
    managers.erase(identity);
    managers.insert_or_assign(bucket, std::move(joined));
    --count;
  }
}

}  // namespace muster::fields
