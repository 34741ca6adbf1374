#include "server/options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "api/values/field_error.h"
#include "base/ascii.h"
#include "fields/managed_fields.h"
#include "json/go_kind.h"
#include "server/errors.h"

namespace muster::server {
namespace {

constexpr std::string_view kMetaGroup = "meta.k8s.io";

template <class Number>
Result<Number> parse_number(std::string_view text, std::string_view function) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return fail(Code::kBadRequest, fmt::format("strconv.{}: parsing {}: value out of range",
                                               function, api::quote(text)));
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(Code::kBadRequest,
                fmt::format("strconv.{}: parsing {}: invalid syntax", function, api::quote(text)));
  }
  return value;
}

// As upstream reads booleans of a query: everything but "", "false" and "0" is true.
bool parse_bool(std::string_view text) {
  return !equal_ignoring_case(text, "false") && text != "0";
}

std::optional<bool> optional_bool(const Query& query, std::string_view name) {
  if (!query.has(name)) return std::nullopt;
  return parse_bool(query.get(name));
}

std::string quoted_list(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const std::string& value : values) quoted.push_back(api::quote(value));
  return fmt::format("[{}]", fmt::join(quoted, ","));
}

void check_dry_run(const std::vector<std::string>& values, api::FieldErrors& errors) {
  if (std::ranges::all_of(values, [](const std::string& v) { return v == "All"; })) return;
  errors.add("FieldValueNotSupported", api::Path("dryRun"),
             fmt::format("Unsupported value: {}: supported values: \"All\"", quoted_list(values)));
}

FieldValidation parse_validation(std::string_view text, api::FieldErrors& errors) {
  if (text.empty() || text == "Warn") return FieldValidation::kWarn;
  if (text == "Strict") return FieldValidation::kStrict;
  if (text == "Ignore") return FieldValidation::kIgnore;
  static constexpr std::array<std::string_view, 4> kSupported{"", "Ignore", "Strict", "Warn"};
  errors.not_supported(api::Path("fieldValidation"), text, kSupported);
  return FieldValidation::kWarn;
}

Error invalid_options(const api::FieldErrors& errors, std::string_view kind) {
  return errors.to_error(fmt::format("{}.{}", kind, kMetaGroup), kMetaGroup, kind, "");
}

void check_propagation(DeleteOptions& options, std::string_view policy,
                       std::optional<bool> orphan_dependents, api::FieldErrors& errors) {
  const api::Path path("propagationPolicy");
  if (!policy.empty() && orphan_dependents) {
    return errors.invalid(path, policy,
                          "orphanDependents and deletionPropagation cannot be both set");
  }
  if (orphan_dependents)
    options.propagation = *orphan_dependents ? Propagation::kOrphan : Propagation::kBackground;
  options.orphan_dependents_false = orphan_dependents.has_value() && !*orphan_dependents;
  if (policy.empty()) return;
  if (policy == "Orphan") {
    options.propagation = Propagation::kOrphan;
  } else if (policy == "Background") {
    options.propagation = Propagation::kBackground;
  } else if (policy == "Foreground") {
    options.propagation = Propagation::kForeground;
  } else {
    static constexpr std::array<std::string_view, 4> kSupported{"Foreground", "Background",
                                                                "Orphan", "nil"};
    errors.not_supported(path, policy, kSupported);
  }
}

Result<DeleteOptions> finish(DeleteOptions options, const std::vector<std::string>& dry_run,
                             std::string_view policy, std::optional<bool> orphan_dependents) {
  api::FieldErrors errors;
  check_propagation(options, policy, orphan_dependents, errors);
  check_dry_run(dry_run, errors);
  if (!errors.empty()) return std::unexpected(invalid_options(errors, "DeleteOptions"));
  options.dry_run = !dry_run.empty();
  return options;
}

// Whoever sends something else has not meant to delete with the defaults. null says nothing.
Status check_delete_body(json::Value sent) {
  if (sent.is_null()) return {};
  if (!sent.is_object()) {
    return std::unexpected(bad_request(fmt::format(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of "
        "type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
        "\"json:\\\"kind,omitempty\\\"\" }}",
        json::go_kind(sent.kind()))));
  }
  const std::string_view kind = sent.get("kind").as_string();
  if (kind.empty() || kind == "DeleteOptions") return {};
  return std::unexpected(bad_request(fmt::format(
      "no kind \"{}\" is registered for version \"{}\" in scheme \"pkg/runtime/scheme.go:111\"",
      kind, sent.get("apiVersion").as_string())));
}

void check_list(const ListOptions& options, api::FieldErrors& errors) {
  const api::Path match("resourceVersionMatch");
  if (!options.match.empty()) {
    if (options.resource_version.empty()) {
      errors.forbidden(match,
                       "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!options.continue_token.empty()) {
      errors.forbidden(match, "resourceVersionMatch is forbidden when continue is provided");
    }
    if (options.match != "Exact" && options.match != "NotOlderThan") {
      static constexpr std::array<std::string_view, 3> kSupported{"Exact", "NotOlderThan", ""};
      errors.not_supported(match, options.match, kSupported);
    }
    if (options.match == "Exact" && options.resource_version == "0") {
      errors.forbidden(match,
                       "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (options.send_initial_events) {
    errors.forbidden(api::Path("sendInitialEvents"), "sendInitialEvents is forbidden for list");
  }
}

void check_watch(const ListOptions& options, api::FieldErrors& errors) {
  const api::Path match("resourceVersionMatch");
  if (options.send_initial_events && options.match != "NotOlderThan") {
    errors.forbidden(match,
                     "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (options.match.empty()) return;
  if (!options.send_initial_events) {
    errors.forbidden(
        match, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (options.match != "NotOlderThan") {
    static constexpr std::array<std::string_view, 1> kSupported{"NotOlderThan"};
    errors.not_supported(match, options.match, kSupported);
  }
  if (!options.continue_token.empty()) {
    errors.forbidden(match, "resourceVersionMatch is forbidden when continue is provided");
  }
}

}  // namespace

Result<std::uint64_t> parse_version(std::string_view text) {
  return parse_number<std::uint64_t>(text, "ParseUint");
}
Result<std::int64_t> parse_int(std::string_view text) {
  return parse_number<std::int64_t>(text, "ParseInt");
}

Result<WriteOptions> parse_write_options(const Query& query, std::string_view kind, bool apply) {
  WriteOptions options;
  api::FieldErrors errors;
  options.field_manager = std::string(query.get("fieldManager"));
  if (kind == "PatchOptions") {
    options.force = optional_bool(query, "force");
    if (apply && options.field_manager.empty()) {
      errors.required(api::Path("fieldManager"), "is required for apply patch");
    }
    if (!apply && options.force)
      errors.forbidden(api::Path("force"), "may not be specified for non-apply patch");
  }
  fields::validate_manager(options.field_manager, errors);
  const std::vector<std::string> dry_run = query.all("dryRun");
  check_dry_run(dry_run, errors);
  options.dry_run = !dry_run.empty();
  options.validation = parse_validation(query.get("fieldValidation"), errors);
  if (!errors.empty()) return std::unexpected(invalid_options(errors, kind));
  return options;
}

Result<DeleteOptions> read_delete_options(json::Value tree) {
  DeleteOptions options;
  if (tree.get("gracePeriodSeconds").is_number())
    options.grace_seconds = tree.get("gracePeriodSeconds").as_int();
  options.uid = std::string(tree.get({"preconditions", "uid"}).as_string());
  options.resource_version =
      std::string(tree.get({"preconditions", "resourceVersion"}).as_string());
  std::optional<bool> orphan;
  if (tree.get("orphanDependents").is_bool()) orphan = tree.get("orphanDependents").as_bool();
  std::vector<std::string> dry_run;
  for (const json::Value value : tree.get("dryRun").items())
    dry_run.emplace_back(value.as_string());
  return finish(std::move(options), dry_run, tree.get("propagationPolicy").as_string(), orphan);
}

Result<DeleteOptions> parse_delete_options(json::Arena& arena, const http::Request& request,
                                           const Query& query, const api::Registry& registry) {
  if (!request.body.empty() || request.document != nullptr) {
    BodyKind kind{{"", "v1", "DeleteOptions"},
                  registry.type("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"),
                  false};
    Looseness loose;
    MUSTER_TRY(const json::Value sent, parse_body(arena, request, false, registry, loose));
    MUSTER_CHECK(check_delete_body(sent));
    if (kind.schema == nullptr || !sent.is_object()) return read_delete_options(sent);
    MUSTER_TRY(const json::Value tree, decode_tree(arena, sent, kind, loose));
    return read_delete_options(tree);
  }
  DeleteOptions options;
  if (query.has("gracePeriodSeconds")) {
    MUSTER_TRY(options.grace_seconds, parse_int(query.get("gracePeriodSeconds")));
  }
  return finish(std::move(options), query.all("dryRun"), query.get("propagationPolicy"),
                optional_bool(query, "orphanDependents"));
}

Result<ListOptions> parse_list_options(const Query& query, bool watch) {
  ListOptions options;
  options.watch = watch;
  options.label_selector = std::string(query.get("labelSelector"));
  options.field_selector = std::string(query.get("fieldSelector"));
  options.bookmarks =
      query.has("allowWatchBookmarks") && parse_bool(query.get("allowWatchBookmarks"));
  options.resource_version = std::string(query.get("resourceVersion"));
  options.match = std::string(query.get("resourceVersionMatch"));
  options.continue_token = std::string(query.get("continue"));
  options.send_initial_events = optional_bool(query, "sendInitialEvents");
  if (!query.get("timeoutSeconds").empty()) {
    MUSTER_TRY(options.timeout_seconds, parse_int(query.get("timeoutSeconds")));
  }
  if (!query.get("limit").empty()) {
    MUSTER_TRY(options.limit, parse_int(query.get("limit")));
  }
  api::FieldErrors errors;
  watch ? check_watch(options, errors) : check_list(options, errors);
  if (!errors.empty()) return std::unexpected(invalid_options(errors, "ListOptions"));
  return options;
}

}  // namespace muster::server
