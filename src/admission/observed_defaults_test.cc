// Every object of testdata/observed-defaults.json was sent to a real API server as a dry run; the
// file holds what was sent and every field that came back besides. Ours must come back the same,
// field for field.
#include <gtest/gtest.h>

#include <charconv>

#include "admission/testing.h"

namespace muster::admission {
namespace observed_defaults_test {

using json::Value;

// spec.volumes[0].emptyDir = value
void set_path(Value object, std::string_view path, Value value) {
  Value at = object;
  while (true) {
    const auto end = path.find_first_of(".[");
    const std::string_view key = path.substr(0, end);
    if (end == std::string_view::npos) return at.set(key, value);
    path.remove_prefix(end);
    if (path.front() == '.') {
      path.remove_prefix(1);
      at = at.object_at(key);
      continue;
    }
    std::size_t index = 0;
    std::from_chars(path.data() + 1, path.data() + path.size(), index);
    at = at.get(key).item(index);
    path.remove_prefix(path.find(']') + 2);
  }
}

// Placeholders stand for what differs from run to run.
bool stands_for(Value expected, Value found) {
  const std::string_view text = expected.as_string();
  if (text.starts_with("<uid-")) return found.as_string() == World::kUid;
  if (text == "<time>") return parse_time(found.as_string()).has_value();
  if (text == "<nodePort>") return found.as_int() >= 30000 && found.as_int() <= 32767;
  return false;
}

// Replaces each placeholder by what was found there, if that is allowed.
void fill_placeholders(Value expected, Value found) {
  for (json::Member& member : expected.members()) {
    if (stands_for(member.value, found.get(member.key))) member.value = found.get(member.key);
    fill_placeholders(member.value, found.get(member.key));
  }
  for (std::size_t i = 0; i < expected.size() && expected.is_array(); ++i)
    fill_placeholders(expected.item(i), found.item(i));
}

Value expected_object(json::Arena& arena, Value entry, const api::Resource& resource,
                      std::string_view name) {
  const Value object = json::clone(arena, entry.get("sent"));
  object.set("apiVersion", entry.get("apiVersion"));
  object.set("kind", entry.get("kind"));
  const Value metadata = object.object_at("metadata");
  metadata.set("name", name);
  if (resource.namespaced) metadata.set("namespace", "defaults");
  metadata.set("uid", World::kUid);
  metadata.set("creationTimestamp", "2026-11-15T09:45:40Z");
  for (const json::Member& added : entry.get("added").members()) {
    constexpr std::string_view kChanged = " (changed)";
    const std::string_view path = added.key.ends_with(kChanged)
                                      ? added.key.substr(0, added.key.size() - kChanged.size())
                                      : added.key;
    set_path(object, path, json::clone(arena, added.value));
  }
  return object;
}

TEST(ObservedDefaults, EveryObjectComesBackAsFromARealServer) {
  World world;
  world.add("v1", "Namespace", R"({"metadata": {"name": "defaults"}})");
  world.add("v1", "ServiceAccount",
            R"({"metadata": {"name": "default", "namespace": "defaults"},
                "automountServiceAccountToken": false})");
  const json::Tree entries(read_testdata("observed-defaults.json"));
  ASSERT_EQ(entries.root.size(), 35U);
  for (std::size_t i = 0; i < entries.root.size(); ++i) {
    const Value entry = entries.root.item(i);
    const std::string_view api_version = entry.get("apiVersion").as_string();
    const std::string_view kind = entry.get("kind").as_string();
    SCOPED_TRACE(fmt::format("entry {}: {} {}", i, api_version, kind));
    const Value own_name = entry.get({"sent", "metadata", "name"});
    const std::string name =
        own_name.is_string() ? std::string(own_name.as_string()) : fmt::format("d{}", i);
    json::Arena arena;
    const Value sent = json::clone(arena, entry.get("sent"));
    sent.object_at("metadata").set("name", name);
    const api::Resource& resource = World::resource_of(api_version, kind);
    if (resource.namespaced) sent.get("metadata").set("namespace", "defaults");

    const Outcome outcome = world.create(api_version, kind, json::write(sent), {.dry_run = true});

    EXPECT_EQ(outcome.message(), "");
    const Value expected = expected_object(arena, entry, resource, name);
    fill_placeholders(expected, outcome.object);
    expected.set("metadata", json::clone(arena, expected.get("metadata")));
    EXPECT_THAT(outcome.object, json::IsJson(json::write(expected)));
  }
}

}  // namespace observed_defaults_test
}  // namespace muster::admission
