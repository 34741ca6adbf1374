#include "sim/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "api/views/job_names.h"
#include "api/views/job_set_names.h"
#include "json/parse.h"
#include "json/write.h"
#include "sim/kinds.h"

namespace muster::sim {
namespace {

using json::Value;

constexpr std::array<std::string_view, 16> kDropped{"uid",
                                                    "resourceVersion",
                                                    "managedFields",
                                                    "selfLink",
                                                    "nodeName",
                                                    "podIP",
                                                    "podIPs",
                                                    "hostIP",
                                                    "hostIPs",
                                                    "generation",
                                                    "clusterIP",
                                                    "clusterIPs",
                                                    "serviceAccount",
                                                    "imageID",
                                                    "containerID",
                                                    "observedGeneration"};
bool is_dropped(std::string_view key) { return std::ranges::find(kDropped, key) != kDropped.end(); }

// Labels, annotations and selectors that hold a uid.
constexpr std::array kUidKeys{api::label::kOldControllerUid, api::label::kControllerUid,
                              api::label::kJobSetUid};
bool is_uid(std::string_view key) { return std::ranges::find(kUidKeys, key) != kUidKeys.end(); }

bool is_time(std::string_view key) {
  return key.ends_with("Time") || key.ends_with("Timestamp") || key.ends_with("timestamp");
}

bool is_token_volume(Value value) {
  return value.get("name").as_string().starts_with("kube-api-access-");
}

// A copy without what is dropped, keys sorted.
Value stripped(json::Arena& arena, Value value) {
  if (value.is_array()) {
    Value out = Value::array(arena);
    for (const Value item : value.items()) {
      if (!is_token_volume(item)) out.push_back(stripped(arena, item));
    }
    return out;
  }
  if (!value.is_object()) return value;
  Value out = Value::object(arena);
  for (const auto& [key, member] : value.members()) {
    if (is_dropped(key) || is_time(key)) continue;
    out.set(key, is_uid(key) ? Value::view("(uid)") : stripped(arena, member));
  }
  out.sort_keys();
  return out;
}

void simplify_pod(json::Arena& arena, Value pod) {
  Value status = Value::object(arena);
  status.set("phase", pod.get({"status", "phase"}));
  pod.set("status", status);
  // Exclusive placement puts the name of a node there.
  constexpr std::string_view kHostname = "kubernetes.io/hostname";
  const Value selector = pod.get({"spec", "nodeSelector"});
  if (selector.has(kHostname)) selector.set(kHostname, "(node)");
}

// Whether and to what a claim is bound is the cluster's affair.
void simplify_claim(Value claim) {
  claim.erase("status");
  claim.get("spec").erase("volumeName");
  const Value annotations = claim.get({"metadata", "annotations"});
  if (annotations.is_object()) {
    annotations.erase_if(
        [](const json::Member& member) { return member.key.starts_with("pv.kubernetes.io/"); });
    if (annotations.empty()) claim.get("metadata").erase("annotations");
  }
}

// With its group where there are several kinds of the name.
std::string kind_name(Value object) {
  const std::string_view kind = object.get("kind").as_string();
  const std::string_view api_version = object.get("apiVersion").as_string();
  if (!is_ambiguous(kind)) return std::string(kind);
  return fmt::format("{}.{}", kind, api_version.substr(0, api_version.find('/')));
}

// Names that were generated, and what stands for them.
using GeneratedNames = std::map<std::string, std::string>;

GeneratedNames generated_names(std::span<const Value> objects) {
  GeneratedNames names;
  for (const Value object : objects) {
    const Value metadata = object.get("metadata");
    const std::string prefix(metadata.get("generateName").as_string());
    if (!prefix.empty())
      names[std::string(metadata.get("name").as_string())] = prefix + "(generated)";
  }
  return names;
}

// Also where a message speaks of them.
std::string without_generated_names(std::string text, const GeneratedNames& names) {
  for (const auto& [name, substitute] : names) {
    for (auto at = text.find(name); at != std::string::npos;
         at = text.find(name, at + substitute.size())) {
      text.replace(at, name.size(), substitute);
    }
  }
  return text;
}

// Lines by what stands before the JSON; pods of one generated name are told apart by a number.
std::map<std::string, std::string_view> by_name(std::string_view state) {
  std::map<std::string, std::string_view> lines;
  while (!state.empty()) {
    const std::string_view line = state.substr(0, state.find('\n'));
    state.remove_prefix(line.size() + 1);
    const std::size_t json = line.find(" {");
    const std::string name(line.substr(0, json));
    std::string key = name;
    for (int i = 2; lines.contains(key); ++i) key = fmt::format("{} #{}", name, i);
    lines[key] = line.substr(json + 1);
  }
  return lines;
}

void compare(const std::string& path, Value before, Value after, std::string& out) {
  if (json::equal(before, after)) return;
  if (before.is_object() && after.is_object()) {
    std::set<std::string, std::less<>> keys;
    for (const Value side : {before, after}) {
      for (const auto& [key, value] : side.members()) keys.emplace(key);
    }
    for (const auto& key : keys) compare(path + "." + key, before.get(key), after.get(key), out);
    return;
  }
  if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      compare(fmt::format("{}[{}]", path, i), before.item(i), after.item(i), out);
    }
    return;
  }
  out += fmt::format("{}: {} became {}\n", path, json::write(before), json::write(after));
}

}  // namespace

std::string difference(std::string_view before, std::string_view after) {
  json::Arena arena;
  std::string out;
  const auto old = by_name(before), now = by_name(after);
  for (const auto& [name, line] : old) {
    if (const auto at = now.find(name); at == now.end()) {
      out += name + " is missing\n";
    } else {
      compare(name + " ", *json::parse(arena, line), *json::parse(arena, at->second), out);
    }
  }
  for (const auto& [name, line] : now) {
    if (!old.contains(name)) out += name + " is new\n";
  }
  return out;
}

std::string canonical_state(std::span<const Value> objects) {
  json::Arena arena;
  const GeneratedNames names = generated_names(objects);
  std::vector<std::string> lines;
  lines.reserve(objects.size());
  for (const Value object : objects) {
    Value out = stripped(arena, object);
    if (!object.get({"metadata", "deletionTimestamp"}).is_null()) {
      out.get("metadata").set("deletionTimestamp", "(set)");
    }
    out.get("metadata").erase("generateName");
    const std::string_view kind = out.get("kind").as_string();
    if (kind == "Pod") simplify_pod(arena, out);
    if (kind == "PersistentVolumeClaim") simplify_claim(out);
    const auto part = [&](std::string_view key) {
      return std::string(out.get({"metadata", key}).as_string());
    };
    lines.push_back(
        without_generated_names(fmt::format("{} {}/{} {}", kind_name(out), part("namespace"),
                                            part("name"), json::write(out)),
                                names));
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace muster::sim
