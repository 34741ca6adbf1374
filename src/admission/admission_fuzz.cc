// Any JSON that decodes as some kind is defaulted, prepared and judged without a crash; what is
// accepted is accepted again as an update of itself.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "admission/admission.h"
#include "admission/feature_gates.h"
#include "api/decode/decode.h"
#include "json/parse.h"

namespace {

using muster::json::Value;
namespace admission = muster::admission;
namespace api = muster::api;
namespace json = muster::json;

// Every namespace exists, nothing else does.
class EmptyView final : public admission::View {
 public:
  std::string_view find(std::string_view, std::string_view plural, std::string_view,
                        std::string_view) const override {
    return plural == "namespaces" ? R"({"metadata":{"name":"ns"}})" : std::string_view();
  }
  std::vector<std::string_view> list(std::string_view, std::string_view,
                                     std::string_view) const override {
    return {};
  }
};

// The kind that the object names, or else the one that the first byte says.
const api::Resource& resource_for(Value tree, std::uint8_t choice) {
  const api::Registry& registry = api::Registry::builtin();
  const api::Resource* const named =
      registry.find_kind(tree.get("apiVersion").as_string(), tree.get("kind").as_string());
  return named != nullptr ? *named : *registry.resources()[choice % registry.resources().size()];
}

void walk_through(const api::Resource& resource, json::Arena& arena, Value object) {
  static const EmptyView view;
  static const admission::FeatureGates gates;
  std::vector<std::string> warnings;
  admission::Context context{.operation = admission::Operation::kCreate,
                             .resource = &resource,
                             .ns = resource.namespaced ? "ns" : "",
                             .name = "x",
                             .view = &view,
                             .gates = &gates,
                             .warnings = &warnings};
  if (resource.namespaced) object.object_at("metadata").set("namespace", "ns");
  admission::default_object(context, object);
  if (!admission::mutate(context, object, {})) return;
  object.object_at("metadata").set("uid", "u");
  admission::prepare_create(context, object);
  const bool sound = admission::validate_create(context, object).empty();

  const Value again = json::clone(arena, object);
  context.operation = admission::Operation::kUpdate;
  admission::default_object(context, again);
  if (!admission::mutate(context, again, object)) return;
  admission::prepare_update(context, again, object);
  const auto errors = admission::validate_update(context, again, object);
  MUSTER_ASSERT(!sound || errors.empty(), "an object is not an update of itself");
  context.subresource = "status";
  admission::prepare_update(context, again, object);
  (void)admission::validate_update(context, again, object);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  json::Arena arena;
  const auto tree = json::parse(arena, {reinterpret_cast<const char*>(data) + 1, size - 1});
  if (!tree || !tree->is_object()) return 0;
  const api::Resource& resource = resource_for(*tree, data[0]);
  tree->set("apiVersion", resource.gvk.api_version());
  tree->set("kind", resource.gvk.kind);
  api::DecodeReport report;
  const auto object = api::decode(arena, *tree, resource, report);
  if (object) walk_through(resource, arena, *object);
  return 0;
}
