// For tests only: a small world of stored objects, and requests that walk through admission as the
// server walks them through.
//
//   World world;
//   const Outcome pod = world.create("v1", "Pod", R"({"metadata": {"name": "a"}, "spec": {…}})");
//   EXPECT_EQ(pod.message(), "");
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "admission/admission.h"
#include "admission/feature_gates.h"
#include "api/decode/decode.h"
#include "api/schema/registry.h"
#include "json/patch.h"
#include "json/testing.h"

namespace muster::admission {

inline std::string read_testdata(std::string_view name) {
  const std::ifstream file(std::filesystem::path(ADMISSION_TESTDATA) / name);
  MUSTER_ASSERT(file.good(), "a file of testdata is missing");
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

struct Outcome {
  std::shared_ptr<json::Arena> arena = std::make_shared<json::Arena>();
  json::Value object;
  std::optional<Error> error;
  std::vector<std::string> warnings;

  std::string message() const { return error ? error->message : ""; }
  std::string text() const { return json::write(object); }
  json::Value at(std::initializer_list<std::string_view> path) const { return object.get(path); }
};

// How a request differs from a plain one.
struct Options {
  std::string_view subresource;
  bool dry_run = false;
  std::string_view ns;   // of the request, if the object does not say it
  std::string_view uid;  // that a new object gets
};

class World final : public View {
 public:
  static constexpr std::string_view kNamespace = "ns";
  static constexpr std::string_view kUid = "11111111-2222-3333-4444-555555555555";

  World() { add("v1", "Namespace", R"({"metadata": {"name": "ns"}})"); }

  FeatureGates gates;
  Time now = *parse_time("2026-11-15T09:45:40Z");

  // Stores an object as it is.
  void add(std::string_view api_version, std::string_view kind, std::string_view text) {
    const json::Tree tree(text);
    const api::Resource& resource = resource_of(api_version, kind);
    const json::Value metadata = tree.root.get("metadata");
    const std::string_view ns = metadata.get("namespace").as_string();
    objects_[Key(resource.gvk.group, resource.plural,
                 resource.namespaced ? (ns.empty() ? kNamespace : ns) : "",
                 metadata.get("name").as_string())] = text;
  }

  std::string_view find(std::string_view group, std::string_view plural, std::string_view ns,
                        std::string_view name) const override {
    const auto found = objects_.find(Key(group, plural, ns, name));
    return found == objects_.end() ? std::string_view() : std::string_view(found->second);
  }
  std::vector<std::string_view> list(std::string_view group, std::string_view plural,
                                     std::string_view ns) const override {
    std::vector<std::string_view> found;
    for (const auto& [key, text] : objects_)
      if (std::get<0>(key) == group && std::get<1>(key) == plural &&
          (ns.empty() || std::get<2>(key) == ns))
        found.push_back(text);
    return found;
  }

  Outcome create(std::string_view api_version, std::string_view kind, std::string_view text,
                 const Options& options = {}) const {
    Outcome outcome;
    const api::Resource& resource = resource_of(api_version, kind);
    if (!decode(outcome, resource, text)) return outcome;
    Context context = make_context(outcome, resource, options);
    context.operation = Operation::kCreate;
    const json::Value metadata = outcome.object.object_at("metadata");
    if (resource.namespaced) metadata.set("namespace", context.ns);
    default_object(context, outcome.object);
    if (!keep(outcome, mutate(context, outcome.object, {}))) return outcome;
    metadata.set("uid", options.uid.empty() ? kUid : options.uid);
    metadata.set("creationTimestamp", format_time(now));
    if (metadata.get("name").is_null() && metadata.has("generateName"))
      metadata.set("name", std::string(metadata.get("generateName").as_string()) + "abcde");
    prepare_create(context, outcome.object);
    judge(outcome, resource, validate_create(context, outcome.object));
    return outcome;
  }

  // `old` as create() returned it; `text` is the whole new object.
  Outcome update(std::string_view api_version, std::string_view kind, const Outcome& old,
                 std::string_view text, const Options& options = {}) const {
    Outcome outcome;
    const api::Resource& resource = resource_of(api_version, kind);
    if (!decode(outcome, resource, text)) return outcome;
    Context context = make_context(outcome, resource, options);
    context.operation = Operation::kUpdate;
    const json::Value before = json::clone(*outcome.arena, old.object);
    if (resource.namespaced) outcome.object.object_at("metadata").set("namespace", context.ns);
    default_object(context, outcome.object);
    if (!keep(outcome, mutate(context, outcome.object, before))) return outcome;
    prepare_update(context, outcome.object, before);
    judge(outcome, resource, validate_update(context, outcome.object, before));
    return outcome;
  }

  // The same with one JSON merge patch on the old object.
  Outcome patch(std::string_view api_version, std::string_view kind, const Outcome& old,
                std::string_view merge_patch, const Options& options = {}) const {
    json::Arena arena;
    const json::Value changed = json::apply_merge_patch(arena, json::clone(arena, old.object),
                                                        json::parse(arena, merge_patch).value());
    return update(api_version, kind, old, json::write(changed), options);
  }

  static const api::Resource& resource_of(std::string_view api_version, std::string_view kind) {
    const api::Resource* const found = api::Registry::builtin().find_kind(api_version, kind);
    MUSTER_ASSERT(found != nullptr, "no such kind");
    return *found;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;

  static bool decode(Outcome& outcome, const api::Resource& resource, std::string_view text) {
    const auto tree = json::parse(*outcome.arena, text);
    MUSTER_ASSERT(tree.has_value(), "a test sends text that is not JSON");
    tree->set("apiVersion", resource.gvk.api_version());
    tree->set("kind", resource.gvk.kind);
    api::DecodeReport report;
    auto object = api::decode(*outcome.arena, *tree, resource, report);
    if (object) outcome.object = *object;
    return keep(outcome, object ? Status() : Status(std::unexpected(object.error())));
  }

  Context make_context(Outcome& outcome, const api::Resource& resource,
                       const Options& options) const {
    const json::Value metadata = outcome.object.get("metadata");
    const std::string_view ns = metadata.get("namespace").as_string();
    const std::string_view asked = ns.empty() ? options.ns : ns;
    return {.resource = &resource,
            .subresource = options.subresource,
            .ns = !resource.namespaced ? ""
                  : asked.empty()      ? kNamespace
                                       : asked,
            .name = metadata.get("name").as_string(),
            .now = now,
            .dry_run = options.dry_run,
            .view = this,
            .gates = &gates,
            .warnings = &outcome.warnings};
  }

  static bool keep(Outcome& outcome, Status status) {
    if (!status) outcome.error = std::move(status).error();
    return !outcome.error;
  }

  static void judge(Outcome& outcome, const api::Resource& resource,
                    const api::FieldErrors& errors) {
    if (!errors.empty())
      outcome.error =
          errors.to_error(resource, outcome.object.get({"metadata", "name"}).as_string());
  }

  std::map<Key, std::string> objects_;
};

}  // namespace muster::admission
