#include "server/decode_body.h"

#include <algorithm>

#include "api/decode/decode.h"
#include "api/values/field_error.h"
#include "json/document.h"
#include "json/go_kind.h"
#include "json/parse.h"
#include "json/write.h"
#include "json/yaml.h"
#include "server/errors.h"
#include "server/media_type.h"

namespace muster::server {
namespace {

constexpr std::size_t kShownBytes = 30;

// The first bytes of a body that could not be understood.
std::string summary(std::string_view body) {
  if (body.empty()) return "<empty>";
  const std::string_view shown = body.substr(0, kShownBytes);
  const std::string_view more = body.size() > kShownBytes ? " ..." : "";
  if (body.front() == '{') return fmt::format("{}{}", shown, more);
  std::string hex;
  for (const char c : shown) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return fmt::format("{}{}", hex, more);
}

Error unrecognized(const BodyKind& kind, std::string_view why, std::string_view body) {
  return bad_request(
      fmt::format("the object provided is unrecognized (must be of type {}): {} ({})",
                  kind.gvk.kind, why, summary(body)));
}

Error cannot_be_handled(std::string_view sent_kind, std::string_view sent_version,
                        const BodyKind& kind, std::string_view why) {
  return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", sent_kind,
                                 sent_version, kind.gvk.kind, why));
}

std::string_view version_part(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
}

// Fills apiVersion and kind of a built-in kind from the URL, as upstream does; refuses what belongs
// elsewhere.
Status settle_kind(json::Value tree, const BodyKind& kind, const api::Registry& registry,
                   const http::Request& request) {
  if (kind.custom) {
    if (tree.get("kind").as_string().empty())
      return std::unexpected(unrecognized(kind, kind_is_missing(tree), json::body_text(request)));
    if (tree.get("apiVersion").as_string() != kind.gvk.api_version()) {
      return std::unexpected(bad_request(fmt::format(
          "the API version in the data ({}) does not match the expected API version ({})",
          tree.get("apiVersion").as_string(), kind.gvk.api_version())));
    }
    return check_custom_kind(tree, kind);
  }
  if (const std::string why = settle_builtin_kind(tree, kind, registry); !why.empty()) {
    return std::unexpected(cannot_be_handled(
        tree.get("kind").as_string(), version_part(tree.get("apiVersion").as_string()), kind, why));
  }
  return {};
}

Result<json::Value> parse_yaml_body(json::Arena& arena, std::string_view body, Looseness& loose) {
  MUSTER_TRY(const std::vector<json::YamlDocument> documents, json::parse_yaml(arena, body));
  if (documents.empty()) return json::Value();
  loose.duplicates = documents.front().duplicates;
  return documents.front().root;
}

Result<json::Value> parse_json_body(json::Arena& arena, std::string_view body, Looseness& loose) {
  json::ParseReport report;
  MUSTER_TRY(const json::Value tree, json::parse(arena, body, &report));
  for (const std::string& path : report.duplicates)
    loose.duplicates.push_back(fmt::format("duplicate field \"{}\"", path));
  return tree;
}

Status judge(const Looseness& loose, const BodyKind& kind, json::Value tree,
             const BodyRules& rules) {
  if (loose.empty() || rules.validation == FieldValidation::kIgnore) return {};
  if (rules.validation == FieldValidation::kStrict) {
    return std::unexpected(cannot_be_handled(tree.get("kind").as_string(),
                                             version_part(tree.get("apiVersion").as_string()), kind,
                                             loose.joined(kind.custom)));
  }
  if (rules.warnings != nullptr)
    std::ranges::move(loose.texts(kind.custom), std::back_inserter(*rules.warnings));
  return {};
}

}  // namespace

std::string unreadable_kind(json::Value tree) {
  for (const std::string_view member : {"kind", "apiVersion"}) {
    const json::Value value = tree.get(member);
    if (value.is_string() || value.is_null()) continue;
    return fmt::format(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go struct "
        "field .{} of type string",
        json::go_kind(value.kind()), member);
  }
  return {};
}

std::string kind_is_missing(json::Value tree) {
  return fmt::format("Object 'Kind' is missing in '{}'", json::write(tree));
}

Status check_custom_kind(json::Value tree, const BodyKind& kind) {
  const std::string_view sent_kind = tree.get("kind").as_string();
  const std::string_view sent_version = tree.get("apiVersion").as_string();
  api::FieldErrors errors;
  if (sent_kind != kind.gvk.kind)
    errors.invalid(api::Path("kind"), sent_kind, fmt::format("must be {}", kind.gvk.kind));
  if (sent_version != kind.gvk.api_version()) {
    errors.invalid(api::Path("apiVersion"), sent_version,
                   fmt::format("must be {}", kind.gvk.api_version()));
  }
  if (errors.empty()) return {};
  const std::string_view group = sent_version.substr(0, sent_version.rfind('/'));
  const bool grouped = sent_version.contains('/');
  return std::unexpected(
      errors.to_error(grouped ? fmt::format("{}.{}", sent_kind, group) : std::string(sent_kind),
                      grouped ? group : "", sent_kind, tree.get({"metadata", "name"}).as_string()));
}

std::string settle_builtin_kind(json::Value tree, const BodyKind& kind,
                                const api::Registry& registry) {
  const std::string expected_version = kind.gvk.api_version();
  if (tree.get("kind").as_string().empty()) tree.set("kind", kind.gvk.kind);
  if (tree.get("apiVersion").as_string().empty()) tree.set("apiVersion", expected_version);
  const std::string_view sent_kind = tree.get("kind").as_string();
  const std::string_view sent_version = tree.get("apiVersion").as_string();
  if (sent_kind == kind.gvk.kind && sent_version == expected_version) return {};
  if (registry.find_kind(sent_version, sent_kind) == nullptr) {
    return fmt::format(
        "no kind \"{}\" is registered for version \"{}\" in scheme \"pkg/runtime/scheme.go:111\"",
        sent_kind, sent_version);
  }
  return fmt::format("converting ({}.{}) to ({}.{}): unknown conversion",
                     version_part(sent_version), sent_kind,
                     kind.gvk.group.empty() ? "core" : kind.gvk.group, kind.gvk.kind);
}

BodyKind BodyKind::of(const api::Resource& resource) {
  return {resource.gvk, resource.schema, resource.custom};
}

// Built-in kinds: upstream reports unknown fields as it meets them; custom resources: duplicates
// first, then the unknown fields sorted.
std::vector<std::string> Looseness::texts(bool custom) const {
  std::vector<std::string> out;
  if (custom) {
    std::vector<std::string> sorted = unknown;
    std::ranges::sort(sorted);
    out = duplicates;
    out.insert(out.end(), sorted.begin(), sorted.end());
    return out;
  }
  out = unknown;
  out.insert(out.end(), duplicates.begin(), duplicates.end());
  return out;
}

std::string Looseness::joined(bool custom) const {
  return fmt::format("strict decoding error: {}", fmt::join(texts(custom), ", "));
}

Result<json::Value> parse_body(json::Arena& arena, const http::Request& request, bool custom,
                               const api::Registry& registry, Looseness& loose) {
  MUSTER_TRY(const Encoding encoding,
             body_encoding(http::find_header(request.headers, "Content-Type"), custom));
  if (request.document != nullptr) return json::changeable(arena, request.document);
  switch (encoding) {
    case Encoding::kYaml:
      return parse_yaml_body(arena, request.body, loose);
    case Encoding::kProtobuf:
      return api::decode_protobuf(arena, request.body, registry);
    case Encoding::kJson:
      break;
  }
  return parse_json_body(arena, request.body, loose);
}

Result<json::Value> decode_tree(json::Arena& arena, json::Value tree, const BodyKind& kind,
                                Looseness& loose) {
  api::DecodeReport report;
  MUSTER_TRY(const json::Value object,
             api::decode_type(arena, tree, *kind.schema, kind.custom, report));
  for (const std::string& path : report.unknown)
    loose.unknown.push_back(fmt::format("unknown field \"{}\"", path));
  return object;
}

Result<json::Value> decode_body(json::Arena& arena, const http::Request& request,
                                const BodyKind& kind, const api::Registry& registry,
                                const BodyRules& rules) {
  Looseness loose;
  Result<json::Value> tree = parse_body(arena, request, kind.custom, registry, loose);
  if (!tree && tree.error().code == Code::kBadRequest) {
    return std::unexpected(
        unrecognized(kind, "couldn't get version/kind; json parse error: " + tree.error().message,
                     request.body));
  }
  if (!tree) return tree;
  if (!tree->is_object()) {
    return std::unexpected(unrecognized(
        kind,
        "couldn't get version/kind; json parse error: json: cannot unmarshal value into "
        "Go value of type struct { APIVersion string; Kind string }",
        json::body_text(request)));
  }
  if (const std::string why = unreadable_kind(*tree); !why.empty())
    return std::unexpected(unrecognized(kind, why, json::body_text(request)));
  MUSTER_CHECK(settle_kind(*tree, kind, registry, request));
  Result<json::Value> object = decode_tree(arena, *tree, kind, loose);
  if (!object) {
    return std::unexpected(cannot_be_handled(tree->get("kind").as_string(),
                                             version_part(tree->get("apiVersion").as_string()),
                                             kind, object.error().message));
  }
  MUSTER_CHECK(judge(loose, kind, *tree, rules));
  return object;
}

}  // namespace muster::server
