#include "admission/pod/service_account.h"

#include <fmt/format.h>

#include <functional>

#include "admission/pod/pod_defaults.h"
#include "admission/rules/edit.h"
#include "admission/rules/lookup.h"
#include "admission/rules/refusal.h"
#include "base/rng.h"
#include "base/stable_hash.h"
#include "json/parse.h"

namespace muster::admission {
namespace {

constexpr std::string_view kDefaultAccount = "default";
constexpr std::string_view kVolumePrefix = "kube-api-access-";
constexpr const char* kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

// 7 seconds beyond the hour tell upstream's token code that it may extend the token.
constexpr std::string_view kTokenVolume = R"({"name":"","projected":{"sources":[
    {"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},
    {"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},
    {"downwardAPI":{"items":[{"path":"namespace",
        "fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],
    "defaultMode":420}})";

bool mounts_token(Value account, Value spec) {
  for (const Value holder : {spec, account})
    if (const Value wish = holder.get("automountServiceAccountToken"); wish.is_bool())
      return wish.as_bool();
  return true;
}

bool mounts_at_token_path(Value container) {
  return !find_by(container.get("volumeMounts"), "mountPath", kMountPath).is_null();
}

// A name that no volume of the pod has. It looks random and is not: the same request gives the same
// pod.
std::string token_volume_name(const Context& context, Value pod) {
  const std::string seed = fmt::format(
      "{}/{}/{}/{}", context.ns, text_of(pod.get("metadata"), "name"),
      text_of(pod.get("metadata"), "generateName"), context.now.time_since_epoch().count());
  Rng rng(stable_hash(seed));
  const Value volumes = pod.get({"spec", "volumes"});
  for (;;) {
    std::string name = std::string(kVolumePrefix) + make_name_suffix(rng);
    if (find_by(volumes, "name", name).is_null()) return name;
  }
}

std::string_view existing_token_volume(Value spec) {
  for (const Value volume : spec.get("volumes").items())
    if (text_of(volume, "name").starts_with(kVolumePrefix)) return text_of(volume, "name");
  return {};
}

void mount_token(const Context& context, Value pod) {
  const Value spec = pod.get("spec");
  json::Arena& arena = spec.arena();
  const std::string_view existing = existing_token_volume(spec);
  const Value name = Value::string(
      arena, existing.empty() ? token_volume_name(context, pod) : std::string(existing));
  bool mounted = false;
  for (const std::string_view list : {"initContainers", "containers"}) {
    for (const Value container : spec.get(list).items()) {
      if (mounts_at_token_path(container)) continue;
      const Value mount = Value::object(arena);
      mount.set("name", name);
      mount.set("readOnly", Value::of(true));
      mount.set("mountPath", Value::view(kMountPath));
      container.array_at("volumeMounts").push_back(mount);
      mounted = true;
    }
  }
  if (!mounted || !existing.empty()) return;
  const Value volume = json::parse(arena, kTokenVolume).value();
  volume.set("name", name);
  spec.array_at("volumes").push_back(volume);
}

}  // namespace

Status admit_service_account(const Context& context, Value pod) {
  const Value spec = pod.get("spec");
  json::Arena& arena = spec.arena();
  if (text_of(spec, "serviceAccountName").empty()) {
    spec.set("serviceAccountName", Value::view(kDefaultAccount));
    spec.set("serviceAccount", Value::view(kDefaultAccount));
  }
  const std::string_view name = text_of(spec, "serviceAccountName");
  const Value account = find_object(
      context, arena, {.group = "", .plural = "serviceaccounts", .ns = context.ns, .name = name});
  // The account "default" is there from the first moment of a namespace, stored or not: upstream
  // has a controller make it, and pods created before that controller came by are refused.
  if (account.is_null() && name != kDefaultAccount)
    return refuse(context,
                  fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" "
                              "not found",
                              context.ns, name, name));
  if (spec.get("imagePullSecrets").empty() && !account.get("imagePullSecrets").empty())
    take_member(spec, account, "imagePullSecrets");
  if (mounts_token(account, spec)) mount_token(context, pod);
  return {};
}

}  // namespace muster::admission
