// ConfigMap and Secret: named pieces of data.
#include <fmt/format.h>

#include <algorithm>

#include "admission/kinds.h"
#include "admission/rules/checks.h"
#include "base/base64.h"

namespace muster::admission {
namespace {

constexpr std::size_t kLargestData = 1024 * 1024;
constexpr std::string_view kAccountAnnotation = "kubernetes.io/service-account.name";

// The keys of all parts together are unique; the sum of the values is bounded.
void validate_keys(Value object, std::string_view part, FieldErrors& errors) {
  for (const json::Member& entry : object.get(part).members())
    add_faults(errors, Path(part).key(entry.key), entry.key, api::check_config_key(entry.key));
}

std::size_t decoded_size(std::string_view base64) {
  const auto padding = static_cast<std::size_t>(std::ranges::count(base64, '='));
  return base64.size() / 4 * 3 - std::min(padding, base64.size() / 4 * 3);
}

std::size_t text_size(Value part) {
  std::size_t sum = 0;
  for (const json::Member& entry : part.members()) sum += entry.value.as_string().size();
  return sum;
}

std::size_t bytes_size(Value part) {
  std::size_t sum = 0;
  for (const json::Member& entry : part.members()) sum += decoded_size(entry.value.as_string());
  return sum;
}

void validate_size(std::size_t size, const Path& path, FieldErrors& errors) {
  if (size > kLargestData) errors.too_long(path, static_cast<int>(kLargestData));
}

// `immutable` is a promise that cannot be taken back.
void validate_promise(Value object, Value old, std::initializer_list<std::string_view> parts,
                      FieldErrors& errors) {
  if (!old.get("immutable").as_bool()) return;
  if (!object.get("immutable").as_bool())
    errors.forbidden(Path("immutable"), "field is immutable when `immutable` is set");
  for (const std::string_view part : parts)
    if (!json::equal(object.get(part), old.get(part)))
      errors.forbidden(Path(part), "field is immutable when `immutable` is set");
}

void validate_config_map(const Context&, Value map, FieldErrors& errors) {
  validate_keys(map, "data", errors);
  for (const json::Member& entry : map.get("data").members())
    if (map.get("binaryData").has(entry.key))
      errors.invalid(Path("data").key(entry.key), entry.key,
                     "duplicate of key present in binaryData");
  validate_keys(map, "binaryData", errors);
  validate_size(text_size(map.get("data")) + bytes_size(map.get("binaryData")), Path("[]"), errors);
}

void validate_config_map_update(const Context&, Value map, Value old, FieldErrors& errors) {
  validate_promise(map, old, {"data", "binaryData"}, errors);
}

// stringData is how a client writes text; what is kept is bytes.
void default_secret(const Context&, Value secret) {
  set_default(secret, "type", "Opaque");
  const Value texts = secret.get("stringData");
  if (!texts.is_object()) return;
  const Value data = secret.object_at("data");
  for (const json::Member& text : texts.members())
    data.set(text.key, encode_base64(text.value.as_string()));
  secret.erase("stringData");
}

struct RequiredKeys {
  std::string_view type;
  std::initializer_list<std::string_view> keys;
};

void validate_secret(const Context&, Value secret, FieldErrors& errors) {
  validate_keys(secret, "data", errors);
  validate_size(bytes_size(secret.get("data")), Path("data"), errors);
  const RequiredKeys known[] = {
      {"kubernetes.io/dockercfg", {".dockercfg"}},
      {"kubernetes.io/dockerconfigjson", {".dockerconfigjson"}},
      {"kubernetes.io/ssh-auth", {"ssh-privatekey"}},
      {"kubernetes.io/tls", {"tls.crt", "tls.key"}},
  };
  const std::string_view type = text_of(secret, "type");
  if (type == "kubernetes.io/service-account-token" &&
      text_of(secret.get({"metadata", "annotations"}), kAccountAnnotation).empty())
    errors.required(Path("metadata").child("annotations").key(kAccountAnnotation));
  if (type == "kubernetes.io/basic-auth" && !secret.get("data").has("username") &&
      !secret.get("data").has("password"))
    for (const std::string_view key : {"username", "password"})
      errors.required(Path("data").key(key));
  for (const RequiredKeys& row : known)
    if (type == row.type)
      for (const std::string_view key : row.keys)
        if (!secret.get("data").has(key)) errors.required(Path("data").key(key));
}

void validate_secret_update(const Context&, Value secret, Value old, FieldErrors& errors) {
  require_unchanged(secret, old, "type", Path(), errors);
  validate_promise(secret, old, {"data"}, errors);
}

}  // namespace

constinit const Kind kConfigMap = {
    .group = "",
    .name = "ConfigMap",
    .judges_changes_first = true,
    .validate = validate_config_map,
    .validate_update = validate_config_map_update,
};

constinit const Kind kSecret = {
    .group = "",
    .name = "Secret",
    .judges_changes_first = true,
    .apply_defaults = default_secret,
    .validate = validate_secret,
    .validate_update = validate_secret_update,
};

}  // namespace muster::admission
