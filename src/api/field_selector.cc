#include "api/field_selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "api/field_error.h"

namespace muster::api {
namespace {

// --- The text form ---

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

// --- What each kind supports ---

constexpr std::string_view kName = "metadata.name";
constexpr std::string_view kNamespace = "metadata.namespace";

struct Selectable {
  std::string_view field;
  std::string_view stored = field;
};

constexpr std::array<Selectable, 10> kPodFields{{{"spec.nodeName"},
                                                 {"spec.host", "spec.nodeName"},
                                                 {"spec.restartPolicy"},
                                                 {"spec.schedulerName"},
                                                 {"spec.serviceAccountName"},
                                                 {"spec.hostNetwork"},
                                                 {"status.phase"},
                                                 {"status.podIP"},
                                                 {"status.podIPs"},
                                                 {"status.nominatedNodeName"}}};
constexpr std::array<Selectable, 1> kNodeFields{{{"spec.unschedulable"}}};
constexpr std::array<Selectable, 1> kNamespaceFields{{{"status.phase"}}};
constexpr std::array<Selectable, 1> kJobFields{{{"status.successful", "status.succeeded"}}};
constexpr std::array<Selectable, 11> kEventFields{{{"involvedObject.kind"},
                                                   {"involvedObject.namespace"},
                                                   {"involvedObject.name"},
                                                   {"involvedObject.uid"},
                                                   {"involvedObject.apiVersion"},
                                                   {"involvedObject.resourceVersion"},
                                                   {"involvedObject.fieldPath"},
                                                   {"reason"},
                                                   {"reportingComponent"},
                                                   {"source"},
                                                   {"type"}}};
constexpr std::array<Selectable, 10> kNewEventFields{
    {{"regarding.kind", "involvedObject.kind"},
     {"regarding.namespace", "involvedObject.namespace"},
     {"regarding.name", "involvedObject.name"},
     {"regarding.uid", "involvedObject.uid"},
     {"regarding.apiVersion", "involvedObject.apiVersion"},
     {"regarding.resourceVersion", "involvedObject.resourceVersion"},
     {"regarding.fieldPath", "involvedObject.fieldPath"},
     {"reason"},
     {"reportingController", "reportingComponent"},
     {"type"}}};
constexpr std::array<Selectable, 1> kSecretFields{{{"type"}}};
constexpr std::array<Selectable, 2> kServiceFields{{{"spec.clusterIP"}, {"spec.type"}}};

struct KindFields {
  std::string_view qualified_kind;
  std::span<const Selectable> fields;
};

constexpr std::array<KindFields, 8> kKinds{{{"Pod", kPodFields},
                                            {"Node", kNodeFields},
                                            {"Namespace", kNamespaceFields},
                                            {"Job.batch", kJobFields},
                                            {"Event", kEventFields},
                                            {"Event.events.k8s.io", kNewEventFields},
                                            {"Secret", kSecretFields},
                                            {"Service", kServiceFields}}};

const KindFields* find_kind(const Resource& resource) {
  const auto* kind =
      std::ranges::find(kKinds, resource.qualified_kind(), &KindFields::qualified_kind);
  return kind == kKinds.end() ? nullptr : kind;
}

std::unexpected<Error> unsupported(const Resource& resource, std::string_view field) {
  if (resource.qualified_kind() == "Job.batch") {
    return fail(Code::kBadRequest,
                fmt::format("field label {} not supported for Job", quote(field)));
  }
  if (resource.custom || find_kind(resource) != nullptr) {
    return fail(Code::kBadRequest, fmt::format("field label not supported: {}", field));
  }
  return fail(
      Code::kBadRequest,
      fmt::format(R"({} is not a known field selector: only "metadata.name", "metadata.namespace")",
                  quote(field)));
}

Result<std::string> resolve_field(const Resource& resource, std::string_view field) {
  const KindFields* kind = find_kind(resource);
  // Kinds without a list of their own take metadata.namespace even where there is none.
  const bool generic = !resource.custom && kind == nullptr;
  if (field == kName || (field == kNamespace && (resource.namespaced || generic))) {
    return std::string(field);
  }
  if (kind != nullptr) {
    const auto found = std::ranges::find(kind->fields, field, &Selectable::field);
    if (found != kind->fields.end()) return std::string(found->stored);
  }
  const auto declared = [&](std::string_view path) {
    return path == field || (path.starts_with('.') && path.substr(1) == field);
  };
  if (std::ranges::any_of(resource.selectable_fields, declared)) return std::string(field);
  return unsupported(resource, field);
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
