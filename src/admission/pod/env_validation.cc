// Variables of a container and where their values come from.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "admission/pod/container_validation.h"
#include "base/ascii.h"

namespace muster::admission {
namespace {

constexpr auto kVariableFields =
    std::to_array<std::string_view>({"metadata.name", "metadata.namespace", "metadata.uid",
                                     "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
                                     "status.hostIPs", "status.podIP", "status.podIPs"});
constexpr auto kVolumeFields =
    std::to_array<std::string_view>({"metadata.annotations", "metadata.labels", "metadata.name",
                                     "metadata.namespace", "metadata.uid"});
// Fields that exist, but that neither use can have.
constexpr auto kOtherFields =
    std::to_array<std::string_view>({"spec.restartPolicy", "spec.schedulerName", "status.phase",
                                     "spec.host", "status.nominatedNodeName", "spec.hostNetwork"});
constexpr auto kResourceFields = std::to_array<std::string_view>(
    {"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
     "requests.ephemeral-storage", "requests.memory"});

bool is_one_of(std::span<const std::string_view> set, std::string_view text) {
  return std::ranges::find(set, text) != set.end();
}

// metadata.labels['key']: the key, or nothing if the path has no subscript.
std::optional<std::string_view> subscript_of(std::string_view field_path) {
  const auto open = field_path.find("['");
  if (open == std::string_view::npos || !field_path.ends_with("']")) return {};
  return field_path.substr(open + 2, field_path.size() - open - 4);
}

void validate_subscript(std::string_view field_path, std::string_view key, const Path& path,
                        FieldErrors& errors) {
  const std::string_view map = field_path.substr(0, field_path.find('['));
  if (map == "metadata.labels") {
    add_faults(errors, path, key, api::check_qualified_name(key));
  } else if (map == "metadata.annotations") {
    add_faults(errors, path, key, api::check_qualified_name(lower_case(key)));
  } else {
    errors.invalid(path.child("fieldPath"), field_path,
                   fmt::format("error converting fieldPath: field label does not support "
                               "subscript: {}",
                               field_path));
  }
}

// Amounts can be shown in whole units only.
void validate_divisor(Value ref, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kBytes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
  const std::string_view resource = text_of(ref, "resource");
  const std::string_view divisor = text_of(ref, "divisor");
  if (divisor.empty() || divisor == "0") return;
  const std::string_view kind = resource.substr(resource.find('.') + 1);
  const std::string_view units = kind == "cpu" ? "1m and 1" : kBytes;
  const std::string_view name = kind == "ephemeral-storage"      ? "local ephemeral storage"
                                : kind.starts_with("hugepages-") ? "hugepages"
                                                                 : kind;
  const bool known = kind == "cpu"
                         ? divisor == "1m" || divisor == "1"
                         : (", " + std::string(kBytes) + ",").find(fmt::format(" {},", divisor)) !=
                               std::string::npos;
  if (!known)
    errors.invalid(
        path.child("divisor"), resource,
        fmt::format("only divisor's values {} are supported with the {} resource", units, name));
}

struct SourceRule {
  std::string_view key;
  void (*validate)(Value source, const Path& path, FieldErrors& errors);
};

void validate_key_ref(Value ref, const Path& path, FieldErrors& errors) {
  add_faults(errors, path.child("name"), text_of(ref, "name"),
             api::check_dns1123_subdomain(text_of(ref, "name")));
  if (require_text(ref, "key", path, errors))
    add_faults(errors, path.child("key"), text_of(ref, "key"),
               api::check_config_key(text_of(ref, "key")));
}

void validate_file_key_ref(Value ref, const Path& path, FieldErrors& errors) {
  require_text(ref, "key", path, errors);
  if (require_text(ref, "volumeName", path, errors))
    add_faults(errors, path.child("volumeName"), text_of(ref, "volumeName"),
               api::check_dns1123_label(text_of(ref, "volumeName")));
  if (require_text(ref, "path", path, errors))
    validate_descending_path(text_of(ref, "path"), path.child("path"), errors);
}

constexpr SourceRule kSources[] = {
    {"fieldRef",
     [](Value ref, const Path& path, FieldErrors& errors) {
       validate_field_ref(ref, FieldRefUse::kVariable, path, errors);
     }},
    {"resourceFieldRef",
     [](Value ref, const Path& path, FieldErrors& errors) {
       validate_resource_field_ref(ref, FieldRefUse::kVariable, path, errors);
     }},
    {"configMapKeyRef", validate_key_ref},
    {"secretKeyRef", validate_key_ref},
    {"fileKeyRef", validate_file_key_ref},
};

void validate_value_from(Value variable, const Path& path, FieldErrors& errors) {
  const Value from = variable.get("valueFrom");
  if (!from.is_object()) return;
  int sources = 0;
  for (const SourceRule& rule : kSources) {
    const Value source = from.get(rule.key);
    if (!source.is_object()) continue;
    ++sources;
    rule.validate(source, path.child(rule.key), errors);
  }
  if (sources == 0)
    errors.invalid(path, "",
                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                   "`secretKeyRef` or `fileKeyRef`");
  else if (!text_of(variable, "value").empty())
    errors.invalid(path, "", "may not be specified when `value` is not empty");
  else if (sources > 1)
    errors.invalid(path, "", "may not have more than one field specified at a time");
}

void validate_env_from(Value list, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value source = list.item(i);
    const Path entry = path.index(i);
    if (const std::string_view prefix = text_of(source, "prefix"); !prefix.empty())
      add_faults(errors, entry.child("prefix"), prefix, api::check_env_name(prefix));
    int sources = 0;
    for (const std::string_view key : {"configMapRef", "secretRef"}) {
      const Value ref = source.get(key);
      if (!ref.is_object()) continue;
      ++sources;
      require_text(ref, "name", entry.child(key), errors);
    }
    if (sources == 0)
      errors.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`");
    else if (sources > 1)
      errors.invalid(path, "", "may not have more than one field specified at a time");
  }
}

}  // namespace

void validate_field_ref(Value ref, FieldRefUse use, const Path& path, FieldErrors& errors) {
  if (!require_text(ref, "apiVersion", path, errors)) return;
  if (!require_text(ref, "fieldPath", path, errors)) return;
  const std::string_view field_path = text_of(ref, "fieldPath");
  const Path at = path.child("fieldPath");
  if (text_of(ref, "apiVersion") != "v1")
    return errors.invalid(at, field_path,
                          fmt::format("error converting fieldPath: unsupported pod version: {}",
                                      text_of(ref, "apiVersion")));
  if (const auto key = subscript_of(field_path))
    return validate_subscript(field_path, *key, path, errors);
  const std::span<const std::string_view> allowed =
      use == FieldRefUse::kVariable ? std::span<const std::string_view>(kVariableFields)
                                    : std::span<const std::string_view>(kVolumeFields);
  if (is_one_of(allowed, field_path)) return;
  const bool known = is_one_of(kVariableFields, field_path) ||
                     is_one_of(kVolumeFields, field_path) || is_one_of(kOtherFields, field_path);
  if (known)
    errors.not_supported(at, field_path, allowed);
  else
    errors.invalid(
        at, field_path,
        fmt::format("error converting fieldPath: field label not supported: {}", field_path));
}

void validate_resource_field_ref(Value ref, FieldRefUse use, const Path& path,
                                 FieldErrors& errors) {
  if (use == FieldRefUse::kVolume && !require_text(ref, "containerName", path, errors)) return;
  if (!require_text(ref, "resource", path, errors)) return;
  const std::string_view resource = text_of(ref, "resource");
  const bool huge =
      resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
  if (!huge && !is_one_of(kResourceFields, resource))
    return errors.not_supported(path.child("resource"), resource, kResourceFields);
  validate_divisor(ref, path, errors);
}

void validate_env(Value container, const Names& volumes, const Path& path, FieldErrors& errors) {
  const Value env = container.get("env");
  for (std::size_t i = 0; i < env.size(); ++i) {
    const Path entry = path.child("env").index(i);
    const std::string_view name = text_of(env.item(i), "name");
    if (require_text(env.item(i), "name", entry, errors))
      add_faults(errors, entry.child("name"), name, api::check_env_name(name));
    validate_value_from(env.item(i), entry.child("valueFrom"), errors);
    const Value file = env.item(i).get({"valueFrom", "fileKeyRef"});
    if (file.is_object() && !volumes.contains(text_of(file, "volumeName")))
      errors.not_found(entry.child("valueFrom").child("fileKeyRef").child("volumeName"),
                       text_of(file, "volumeName"));
  }
  validate_env_from(container.get("envFrom"), path.child("envFrom"), errors);
}

}  // namespace muster::admission
