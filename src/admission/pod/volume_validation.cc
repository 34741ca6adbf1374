#include "admission/pod/volume_validation.h"

#include <algorithm>
#include <set>

#include "admission/pod/container_validation.h"
#include "admission/pod/resource_validation.h"
#include "admission/rules/selector_validation.h"
#include "api/values/quantity.h"

namespace muster::admission {
namespace {

constexpr int kLargestMode = 0777;

void validate_mode(Value holder, std::string_view key, const Path& path, FieldErrors& errors) {
  const std::int64_t mode = int_of(holder, key);
  if (mode < 0 || mode > kLargestMode)
    errors.invalid(path.child(key), holder.get(key),
                   "must be a number between 0 and 0777 (octal), both inclusive");
}

void validate_items(Value items, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Path entry = path.index(i);
    require_text(items.item(i), "key", entry, errors);
    if (require_text(items.item(i), "path", entry, errors)) {
      const std::string_view file = text_of(items.item(i), "path");
      validate_descending_path(file, entry.child("path"), errors);
      if (file.starts_with("..") && !file.starts_with("../") && file != "..")
        errors.invalid(entry.child("path"), file, "must not start with '..'");
    }
    validate_mode(items.item(i), "mode", entry, errors);
  }
}

// Upstream names the source, not the item.
void validate_downward_items(Value items, const Path& path, FieldErrors& errors) {
  for (const Value item : items.items()) {
    if (require_text(item, "path", path, errors))
      validate_descending_path(text_of(item, "path"), path.child("path"), errors);
    if (const Value ref = item.get("fieldRef"); ref.is_object()) {
      validate_field_ref(ref, FieldRefUse::kVolume, path.child("fieldRef"), errors);
      if (has_value(item, "resourceFieldRef"))
        errors.invalid(path, "resource",
                       "fieldRef and resourceFieldRef can not be specified simultaneously");
    } else if (const Value resource = item.get("resourceFieldRef"); resource.is_object()) {
      validate_resource_field_ref(resource, FieldRefUse::kVolume, path.child("resourceFieldRef"),
                                  errors);
    } else {
      errors.required(path, "one of fieldRef and resourceFieldRef is required");
    }
    validate_mode(item, "mode", path, errors);
  }
}

void validate_secret(Value source, const Path& path, FieldErrors& errors) {
  require_text(source, "secretName", path, errors);
  validate_mode(source, "defaultMode", path, errors);
  validate_items(source.get("items"), path.child("items"), errors);
}

void validate_config_map(Value source, const Path& path, FieldErrors& errors) {
  require_text(source, "name", path, errors);
  validate_mode(source, "defaultMode", path, errors);
  validate_items(source.get("items"), path.child("items"), errors);
}

void validate_downward_api(Value source, const Path& path, FieldErrors& errors) {
  validate_mode(source, "defaultMode", path, errors);
  validate_downward_items(source.get("items"), path, errors);
}

void validate_host_path(Value source, const Path& path, FieldErrors& errors) {
  if (!require_text(source, "path", path, errors)) return;
  validate_no_backsteps(text_of(source, "path"), path.child("path"), errors);
  validate_choice(source, "type",
                  {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
                   "FileOrCreate", "Socket"},
                  path, errors);
}

void validate_empty_dir(Value source, const Path& path, FieldErrors& errors) {
  const auto limit = api::Quantity::parse(text_of(source, "sizeLimit"));
  if (limit && limit->is_negative())
    errors.forbidden(path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
}

void validate_token(Value token, const Path& path, FieldErrors& errors) {
  constexpr int kLeastSeconds = 600;
  if (const std::int64_t seconds = int_of(token, "expirationSeconds", kLeastSeconds);
      seconds < kLeastSeconds)
    errors.invalid(path.child("expirationSeconds"), token.get("expirationSeconds"),
                   "may not specify a duration less than 10 minutes");
  else if (seconds > std::int64_t{1} << 32)
    errors.invalid(path.child("expirationSeconds"), token.get("expirationSeconds"),
                   "may not specify a duration larger than 2^32 seconds");
}

// `projected` is the volume's path: upstream names it where a token has no file.
void validate_projected_source(Value part, const Path& path, const Path& projected,
                               FieldErrors& errors) {
  int sources = 0;
  for (const std::string_view key : {"secret", "configMap", "downwardAPI", "serviceAccountToken",
                                     "clusterTrustBundle", "podCertificate"}) {
    const Value source = part.get(key);
    if (!source.is_object()) continue;
    const Path at = path.child(key);
    if (sources++ > 0) {
      errors.forbidden(path, "may not specify more than 1 volume type per source");
    } else if (key == "secret" || key == "configMap") {
      require_text(source, "name", at, errors);
      validate_items(source.get("items"), at.child("items"), errors);
    } else if (key == "downwardAPI") {
      validate_downward_items(source.get("items"), at, errors);
    } else if (key == "serviceAccountToken") {
      validate_token(source, at, errors);
      require_text(source, "path", projected, errors);
    }
  }
}

void validate_projected(Value source, const Path& path, FieldErrors& errors) {
  validate_mode(source, "defaultMode", path, errors);
  const Value parts = source.get("sources");
  for (std::size_t i = 0; i < parts.size(); ++i)
    validate_projected_source(parts.item(i), path.child("sources").index(i), path, errors);
}

void validate_claim(Value source, const Path& path, FieldErrors& errors) {
  require_text(source, "claimName", path, errors);
}

void validate_ephemeral(Value source, const Path& path, FieldErrors& errors) {
  const Value claim = source.get("volumeClaimTemplate");
  if (!claim.is_object()) return errors.required(path.child("volumeClaimTemplate"));
  validate_claim_spec(claim.get("spec"), path.child("volumeClaimTemplate").child("spec"), errors);
}

void validate_nfs(Value source, const Path& path, FieldErrors& errors) {
  require_text(source, "server", path, errors);
  if (require_text(source, "path", path, errors) && !text_of(source, "path").starts_with('/'))
    errors.invalid(path.child("path"), text_of(source, "path"), "must be an absolute path");
}

struct SourceRule {
  std::string_view key;
  void (*validate)(Value source, const Path& path, FieldErrors& errors);
};

// In the order in which upstream looks at them. Sources that are not listed are taken as they come:
// nothing here can mount them.
constexpr SourceRule kSources[] = {
    {"emptyDir", validate_empty_dir},
    {"hostPath", validate_host_path},
    {"secret", validate_secret},
    {"nfs", validate_nfs},
    {"persistentVolumeClaim", validate_claim},
    {"downwardAPI", validate_downward_api},
    {"configMap", validate_config_map},
    {"projected", validate_projected},
    {"ephemeral", validate_ephemeral},
};

bool has_rule(std::string_view key) {
  return std::ranges::find(kSources, key, &SourceRule::key) != std::end(kSources);
}

void validate_source(Value volume, const Path& path, FieldErrors& errors) {
  int sources = 0;
  const auto count = [&](std::string_view key) {
    if (sources++ == 0) return true;
    errors.forbidden(path.child(key), "may not specify more than 1 volume type");
    return false;
  };
  for (const SourceRule& rule : kSources)
    if (const Value source = volume.get(rule.key); source.is_object() && count(rule.key))
      rule.validate(source, path.child(rule.key), errors);
  for (const json::Member& source : volume.members())
    if (source.value.is_object() && !has_rule(source.key)) count(source.key);
  if (sources == 0) errors.required(path, "must specify a volume type");
}

}  // namespace

Value validate_volumes(Value volumes, const Path& path, FieldErrors& errors) {
  if (!volumes.is_array()) return {};
  const Value sound = Value::array(volumes.arena());
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const Value volume = volumes.item(i);
    const Path entry = path.index(i);
    const std::string_view name = text_of(volume, "name");
    FieldErrors found;
    validate_source(volume, entry, found);
    if (name.empty()) {
      found.required(entry.child("name"));
    } else {
      add_faults(found, entry.child("name"), name, api::check_dns1123_label(name));
      if (names.contains(name)) found.duplicate(entry.child("name"), name);
    }
    if (found.empty()) {
      names.insert(name);
      sound.push_back(volume);
    }
    errors.append(std::move(found));
  }
  return sound;
}

void validate_claim_spec(Value spec, const Path& path, FieldErrors& errors) {
  const Value modes = spec.get("accessModes");
  if (modes.empty())
    errors.required(path.child("accessModes"), "at least 1 access mode is required");
  constexpr std::string_view kModes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                         "ReadWriteOncePod"};
  for (const Value mode : modes.items())
    if (std::ranges::find(kModes, mode.as_string()) == std::end(kModes))
      errors.not_supported(path.child("accessModes"), mode.as_string(), kModes);
  if (modes.size() > 1 && contains_text(modes, "ReadWriteOncePod"))
    errors.forbidden(path.child("accessModes"),
                     "may not use ReadWriteOncePod with other access modes");
  if (has_value(spec, "selector"))
    validate_label_selector(spec.get("selector"), path.child("selector"), errors);
  const Value storage = spec.get({"resources", "requests", "storage"});
  if (storage.is_null()) {
    errors.required(path.child("resources").key("storage"));
  } else {
    const auto amount = api::Quantity::parse(storage.as_string());
    if (amount && (amount->is_zero() || amount->is_negative()))
      errors.invalid(path.child("resources").key("storage"), storage, "must be greater than zero");
  }
  if (const std::string_view name = text_of(spec, "storageClassName"); !name.empty())
    add_faults(errors, path.child("storageClassName"), name, api::check_dns1123_subdomain(name));
  validate_choice(spec, "volumeMode", {"Block", "Filesystem"}, path, errors);
}

}  // namespace muster::admission
