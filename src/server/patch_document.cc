#include "server/patch_document.h"

#include <algorithm>

#include "api/values/field_error.h"
#include "json/document.h"
#include "json/parse.h"
#include "json/patch.h"
#include "json/strategic.h"
#include "json/write.h"
#include "json/yaml.h"
#include "server/errors.h"
#include "server/media_type.h"

namespace muster::server {
namespace {

// Upstream decodes a strategic merge patch elsewhere and says less when that fails.
Result<json::Value> parse_patch(json::Arena& arena, PatchType type, const http::Request& request,
                                Looseness& loose) {
  if (request.document != nullptr) return json::changeable(arena, request.document);
  json::ParseReport report;
  Result<json::Value> tree = json::parse(arena, request.body, &report);
  if (!tree) {
    const std::string_view prefix = type == PatchType::kStrategic ? "" : "error decoding patch: ";
    return std::unexpected(bad_request(fmt::format("{}{}", prefix, tree.error().message)));
  }
  for (const std::string& path : report.duplicates)
    loose.duplicates.push_back(fmt::format("duplicate field \"{}\"", path));
  return tree;
}

Result<std::vector<json::YamlDocument>> parse_apply(json::Arena& arena,
                                                    const http::Request& request) {
  if (request.document == nullptr) return json::parse_yaml(arena, request.body);
  json::YamlDocument document;
  document.root = json::changeable(arena, request.document);
  return std::vector{std::move(document)};
}

}  // namespace

Result<PatchType> patch_type(std::string_view content_type, bool custom) {
  const std::string type = media_type(content_type);
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/apply-patch+yaml") return PatchType::kApply;
  if (type == "application/strategic-merge-patch+json" && !custom) return PatchType::kStrategic;
  if (!custom) return fail(Code::kUnsupportedMediaType, "415: Unsupported Media Type");
  return fail(
      Code::kUnsupportedMediaType,
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
}

Result<json::Value> patched(json::Arena& arena, PatchType type, const http::Request& request,
                            json::Value object, const api::Schema& schema, Looseness& loose) {
  MUSTER_TRY(const json::Value patch, parse_patch(arena, type, request, loose));
  json::Value target = json::clone(arena, object);
  if (type == PatchType::kStrategic)
    return json::apply_strategic_merge(arena, target, patch, schema);
  if (type == PatchType::kMerge) {
    MUSTER_CHECK(json::check_merge_patch(patch));
    return json::apply_merge_patch(arena, target, patch);
  }
  for (const std::string& member : json::unknown_patch_members(patch))
    loose.unknown.push_back(fmt::format("json patch unknown field \"{}\"", member));
  MUSTER_CHECK(json::apply_json_patch(target, patch));
  return target;
}

Result<json::Value> decode_patched(json::Arena& arena, json::Value tree, const BodyKind& kind,
                                   const api::Registry& registry, Looseness loose,
                                   const BodyRules& rules) {
  const auto invalid = [&](std::string_view why) {
    api::FieldErrors errors;
    errors.invalid(api::Path("patch"), json::write(tree), why);
    return std::unexpected(errors.to_error("", "", "", ""));
  };
  if (!tree.is_object())
    return invalid("json: cannot unmarshal the patched document into an object");
  if (const std::string why = unreadable_kind(tree); !why.empty()) return invalid(why);
  if (kind.custom) {
    if (tree.get("kind").as_string().empty()) return invalid(kind_is_missing(tree));
    MUSTER_CHECK(check_custom_kind(tree, kind));
  } else if (const std::string why = settle_builtin_kind(tree, kind, registry); !why.empty()) {
    return invalid(why);
  }
  const Result<json::Value> object = decode_tree(arena, tree, kind, loose);
  if (!object) return invalid(object.error().message);
  if (loose.empty() || rules.validation == FieldValidation::kIgnore) return object;
  std::vector<std::string> texts = loose.duplicates;  // those of the patch itself come first
  std::ranges::copy(loose.unknown, std::back_inserter(texts));
  if (rules.validation == FieldValidation::kStrict) {
    return invalid(fmt::format("strict decoding error: {}", fmt::join(texts, ", ")));
  }
  std::ranges::move(texts, std::back_inserter(*rules.warnings));
  return object;
}

Result<json::Value> apply_document(json::Arena& arena, const http::Request& request,
                                   const api::GroupVersionKind& gvk, const BodyRules& rules) {
  const Result<std::vector<json::YamlDocument>> documents = parse_apply(arena, request);
  if (!documents)
    return std::unexpected(bad_request("error decoding YAML: " + documents.error().message));
  const json::Value document = documents->empty() ? json::Value() : documents->front().root;
  if (!document.is_object()) {
    return std::unexpected(bad_request("error decoding YAML: the document is not an object"));
  }
  if (const std::vector<std::string>& twice = documents->front().duplicates; !twice.empty()) {
    if (rules.validation == FieldValidation::kStrict) {
      return std::unexpected(
          bad_request(fmt::format("error strict decoding YAML: {}", fmt::join(twice, ", "))));
    }
    if (rules.validation == FieldValidation::kWarn)
      std::ranges::copy(twice, std::back_inserter(*rules.warnings));
  }
  const std::string_view api_version = document.get("apiVersion").as_string();
  const std::string_view kind = document.get("kind").as_string();
  if (api_version != gvk.api_version() || kind != gvk.kind) {
    // "/v1, Kind=Secret": group/version of core and of nothing at all begin with the slash.
    const std::string_view slash = api_version.find('/') == std::string_view::npos ? "/" : "";
    return std::unexpected(
        bad_request(fmt::format("invalid object type: {}{}, Kind={}", slash, api_version, kind)));
  }
  if (!document.get({"metadata", "managedFields"}).is_null()) {
    return std::unexpected(bad_request("metadata.managedFields must be nil"));
  }
  return document;
}

}  // namespace muster::server
