#include "api/values/field_selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/values/field_error.h"

namespace muster::api {
namespace {

// Terms between commas; a backslash takes the next character's meaning away.
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  std::ranges::sort(terms);
  return terms;
}

Result<std::string> unescape(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' || text[i] == '=') {
      return fail(
          Code::kBadRequest,
          fmt::format("invalid field selector: unescaped character in value: {}", int{text[i]}));
    }
    if (text[i] == '\\') {
      const auto sequence = text.substr(i, 2);
      if (sequence != "\\\\" && sequence != "\\," && sequence != "\\=") {
        return fail(Code::kBadRequest,
                    fmt::format("invalid field selector: invalid escape sequence: {}", sequence));
      }
      ++i;
    }
    value += text[i];
  }
  return value;
}

constexpr std::string_view kName = "metadata.name";
constexpr std::string_view kNamespace = "metadata.namespace";

// Fields of built-in kinds that are stored under another name.
struct Renamed {
  std::string_view field;
  std::string_view stored;
};

constexpr auto kRenamed = std::to_array<Renamed>({
    {"regarding.apiVersion", "involvedObject.apiVersion"},
    {"regarding.fieldPath", "involvedObject.fieldPath"},
    {"regarding.kind", "involvedObject.kind"},
    {"regarding.name", "involvedObject.name"},
    {"regarding.namespace", "involvedObject.namespace"},
    {"regarding.resourceVersion", "involvedObject.resourceVersion"},
    {"regarding.uid", "involvedObject.uid"},
    {"reportingController", "reportingComponent"},
    {"spec.host", "spec.nodeName"},
    {"status.successful", "status.succeeded"},
});

std::string_view stored_name(const Resource& resource, std::string_view field) {
  const auto found = std::ranges::find(kRenamed, field, &Renamed::field);
  return resource.custom || found == kRenamed.end() ? field : found->stored;
}

// Built-in kinds without a list of their own share one rule.
bool is_generic(const Resource& resource) {
  return !resource.custom && resource.selectable_fields.empty();
}

std::unexpected<Error> unsupported(const Resource& resource, std::string_view field) {
  if (resource.qualified_kind() == "Job.batch") {
    return fail(Code::kBadRequest,
                fmt::format("field label {} not supported for Job", quote(field)));
  }
  if (!is_generic(resource)) {
    return fail(Code::kBadRequest, fmt::format("field label not supported: {}", field));
  }
  return fail(
      Code::kBadRequest,
      fmt::format(R"({} is not a known field selector: only "metadata.name", "metadata.namespace")",
                  quote(field)));
}

Result<std::string> resolve_field(const Resource& resource, std::string_view field) {
  // The shared rule takes metadata.namespace even where there is none.
  if (field == kName || (field == kNamespace && (resource.namespaced || is_generic(resource)))) {
    return std::string(field);
  }
  const auto& selectable = resource.selectable_fields;
  if (std::ranges::find(selectable, field) == selectable.end()) return unsupported(resource, field);
  return std::string(stored_name(resource, field));
}

std::string scalar_text(json::Value value) {
  if (value.is_string()) return std::string(value.as_string());
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_int()) return fmt::format("{}", value.as_int());
  return {};
}

json::Value value_at(json::Value object, std::string_view path) {
  for (;;) {
    const auto dot = path.find('.');
    object = object.get(path.substr(0, dot));
    if (dot == std::string_view::npos) return object;
    path.remove_prefix(dot + 1);
  }
}

// Fields of Go structs have a value even when they are not written.
std::string_view text_of_zero(std::string_view field) {
  if (field == "spec.hostNetwork" || field == "spec.unschedulable") return "false";
  if (field == "status.succeeded") return "0";
  return "";
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector selector;
  for (const std::string_view term : split_terms(text)) {
    if (term.empty()) continue;
    const auto equals = term.find('=');
    if (equals == std::string_view::npos) {
      return fail(Code::kBadRequest,
                  fmt::format("invalid selector: '{}'; can't understand '{}'", text, term));
    }
    const bool negated = equals > 0 && term[equals - 1] == '!';
    const bool doubled = !negated && term.substr(equals).starts_with("==");
    MUSTER_TRY(std::string value, unescape(term.substr(equals + (doubled ? 2 : 1))));
    selector.add({.field = std::string(term.substr(0, negated ? equals - 1 : equals)),
                  .equal = !negated,
                  .value = std::move(value)});
  }
  return selector;
}

bool FieldSelector::matches(const std::function<std::string(std::string_view)>& value_of) const {
  return std::ranges::all_of(requirements_, [&](const FieldRequirement& wanted) {
    return (value_of(wanted.field) == wanted.value) == wanted.equal;
  });
}

Result<FieldSelector> resolve_field_selector(const Resource& resource,
                                             const FieldSelector& selector) {
  FieldSelector resolved;
  for (FieldRequirement requirement : selector.requirements()) {
    MUSTER_TRY(requirement.field, resolve_field(resource, requirement.field));
    resolved.add(std::move(requirement));
  }
  return resolved;
}

std::string field_value(const Resource& resource, std::string_view field, json::Value object) {
  if (resource.gvk.kind == "Event" && field == "source") {
    const auto component = object.get({"source", "component"}).as_string();
    return std::string(component.empty() ? object.get("reportingComponent").as_string()
                                         : component);
  }
  const json::Value value = value_at(object, field);
  if (value.is_null() && !resource.custom) return std::string(text_of_zero(field));
  return scalar_text(value);
}

}  // namespace muster::api
