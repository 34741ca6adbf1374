#include "agent/inputs/volume_payload.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/inputs/downward.h"
#include "base/base64.h"

namespace muster::agent {
namespace {

using json::Value;

constexpr mode_t kDefaultMode = 0644;

mode_t mode_of(Value source, std::string_view member, mode_t otherwise) {
  const Value mode = source.get(member);
  return mode.is_null() ? otherwise : static_cast<mode_t>(mode.as_int() & 07777);
}

// What a ConfigMap and a Secret have in common, and how they differ.
struct ObjectSource {
  Value object;
  bool is_secret = false;

  bool has(std::string_view key) const {
    return object.get("data").has(key) || object.get("binaryData").has(key);
  }
  Result<std::string> bytes_of(std::string_view key) const {
    const Value plain = object.get("data").get(key);
    if (!plain.is_null() && !is_secret) return std::string(plain.as_string());
    const Value encoded = plain.is_null() ? object.get("binaryData").get(key) : plain;
    auto bytes = decode_base64(encoded.as_string());
    if (!bytes) return fail(Code::kInvalid, fmt::format("key {} is not base64", key));
    return *std::move(bytes);
  }
  std::string missing(std::string_view key) const {
    return is_secret ? fmt::format("references non-existent secret key: {}", key)
                     : fmt::format("configmap references non-existent config key: {}", key);
  }
};

class Builder {
 public:
  explicit Builder(const PayloadInputs& inputs)
      : inputs_(inputs), ns_(inputs.pod.get({"metadata", "namespace"}).as_string()) {}

  Status add_config_map(Value source, mode_t mode) {
    const std::string_view name = source.get("name").as_string();
    return add_object({inputs_.objects.config_map(ns_, name), false}, "configmap", name, source,
                      mode);
  }
  Status add_secret(Value source, std::string_view name, mode_t mode) {
    return add_object({inputs_.objects.secret(ns_, name), true}, "secret", name, source, mode);
  }

  Status add_downward(Value source, mode_t mode) {
    for (const Value item : source.get("items").items()) {
      const Value field = item.get("fieldRef");
      MUSTER_TRY(std::string text,
                 field.is_null()
                     ? resource_value(inputs_.pod, {}, item.get("resourceFieldRef"), inputs_.facts)
                     : field_value(inputs_.pod, field.get("fieldPath").as_string(), inputs_.facts));
      MUSTER_CHECK(
          set(item.get("path").as_string(), {std::move(text), mode_of(item, "mode", mode)}));
    }
    return {};
  }

  Status add_token(Value source, mode_t mode) {
    if (!inputs_.service_account_token)
      return fail(Code::kUnavailable, "there are no service account tokens here");
    MUSTER_TRY(std::string token, inputs_.service_account_token(source));
    return set(source.get("path").as_string(), {std::move(token), mode});
  }

  Status add_projection(Value source, mode_t mode) {
    for (const auto& [kind, value] : source.members()) {
      if (value.is_null()) continue;
      if (kind == "configMap") return add_config_map(value, mode);
      if (kind == "secret") return add_secret(value, value.get("name").as_string(), mode);
      if (kind == "downwardAPI") return add_downward(value, mode);
      if (kind == "serviceAccountToken") return add_token(value, mode);
      return fail(Code::kInvalid, fmt::format("the process runtime cannot project a {}", kind));
    }
    return {};
  }

  Payload take() { return std::move(payload_); }

 private:
  Status add_object(const ObjectSource& from, std::string_view kind, std::string_view name,
                    Value source, mode_t mode) {
    const bool optional = source.get("optional").as_bool();
    if (from.object.is_null()) {
      if (optional) return {};
      return fail(Code::kNotFound, fmt::format("{} \"{}\" not found", kind, name));
    }
    const Value items = source.get("items");
    if (items.empty()) return add_all(from, mode);
    for (const Value item : items.items()) {
      const std::string_view key = item.get("key").as_string();
      if (!from.has(key)) {
        if (optional) continue;
        return fail(Code::kNotFound, from.missing(key));
      }
      MUSTER_TRY(std::string bytes, from.bytes_of(key));
      MUSTER_CHECK(
          set(item.get("path").as_string(), {std::move(bytes), mode_of(item, "mode", mode)}));
    }
    return {};
  }

  Status add_all(const ObjectSource& from, mode_t mode) {
    for (const std::string_view part : {"data", "binaryData"}) {
      for (const auto& [key, value] : from.object.get(part).members()) {
        MUSTER_TRY(std::string bytes, from.bytes_of(key));
        MUSTER_CHECK(set(key, {std::move(bytes), mode}));
      }
    }
    return {};
  }

  Status set(std::string_view path, FileContent content) {
    MUSTER_CHECK(inputs_.room.take(path, content.bytes.size()));
    payload_.insert_or_assign(std::string(path), std::move(content));
    return {};
  }

  const PayloadInputs& inputs_;
  std::string_view ns_;
  Payload payload_;
};

}  // namespace

bool is_made_of_objects(Value volume) {
  return volume.has("configMap") || volume.has("secret") || volume.has("downwardAPI") ||
         volume.has("projected");
}

Status PayloadRoom::take(std::string_view path, std::size_t bytes) {
  const auto folders = static_cast<std::size_t>(std::ranges::count(path, '/'));
  const std::size_t taken = std::max(bytes, kLeastFile) + folders * kLeastFile;
  left_ -= std::min(left_, taken);
  if (left_ > 0) return {};
  return fail(Code::kTooLarge,
              fmt::format("the files of the pod's volumes take more than {} bytes, the most that a "
                          "pod may have of configMap, secret, downwardAPI and projected volumes",
                          kMostPayload));
}

Result<Payload> payload_of(Value volume, const PayloadInputs& inputs) {
  Builder builder(inputs);
  if (const Value map = volume.get("configMap"); !map.is_null()) {
    MUSTER_CHECK(builder.add_config_map(map, mode_of(map, "defaultMode", kDefaultMode)));
  } else if (const Value secret = volume.get("secret"); !secret.is_null()) {
    MUSTER_CHECK(builder.add_secret(secret, secret.get("secretName").as_string(),
                                    mode_of(secret, "defaultMode", kDefaultMode)));
  } else if (const Value downward = volume.get("downwardAPI"); !downward.is_null()) {
    MUSTER_CHECK(builder.add_downward(downward, mode_of(downward, "defaultMode", kDefaultMode)));
  } else {
    const Value projected = volume.get("projected");
    const mode_t mode = mode_of(projected, "defaultMode", kDefaultMode);
    for (const Value source : projected.get("sources").items())
      MUSTER_CHECK(builder.add_projection(source, mode));
  }
  return builder.take();
}

}  // namespace muster::agent
