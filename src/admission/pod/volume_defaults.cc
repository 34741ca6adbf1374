// Defaults of volumes, one row per source that has any.
#include "admission/pod/pod_defaults.h"
#include "admission/rules/edit.h"

namespace muster::admission {
namespace {

constexpr int kDefaultMode = 0644;
constexpr int kTokenSeconds = 60 * 60;

void default_mode(Value source) { set_default(source, "defaultMode", Value::of(kDefaultMode)); }

void default_downward_items(Value source) {
  for (const Value item : source.get("items").items())
    if (const Value field = item.get("fieldRef"); field.is_object())
      set_default(field, "apiVersion", "v1");
}

void default_downward_api(Value source) {
  default_downward_items(source);
  default_mode(source);
}

void default_projected(Value source) {
  default_mode(source);
  for (const Value part : source.get("sources").items()) {
    default_downward_items(part.get("downwardAPI"));
    if (const Value token = part.get("serviceAccountToken"); token.is_object())
      set_default(token, "expirationSeconds", Value::of(kTokenSeconds));
  }
}

void default_ephemeral(Value source) {
  const Value claim = source.get({"volumeClaimTemplate", "spec"});
  if (!claim.is_object()) return;
  set_default(claim, "volumeMode", "Filesystem");
  round_resources(claim.get("resources"));
}

void default_rbd(Value source) {
  set_default(source, "pool", "rbd");
  set_default(source, "user", "admin");
  set_default(source, "keyring", "/etc/ceph/keyring");
}

void default_azure_disk(Value source) {
  set_default(source, "cachingMode", "ReadWrite");
  set_default(source, "fsType", "ext4");
  set_default(source, "readOnly", Value::of(false));
  set_default(source, "kind", "Shared");
}

void default_scale_io(Value source) {
  set_default(source, "storageMode", "ThinProvisioned");
  set_default(source, "fsType", "xfs");
}

struct SourceDefaults {
  std::string_view source;
  void (*apply)(Value source);
};

constexpr SourceDefaults kSources[] = {
    {"secret", default_mode},
    {"configMap", default_mode},
    {"hostPath", [](Value source) { set_default(source, "type", ""); }},
    {"projected", default_projected},
    {"downwardAPI", default_downward_api},
    {"ephemeral", default_ephemeral},
    {"iscsi", [](Value source) { set_default(source, "iscsiInterface", "default"); }},
    {"rbd", default_rbd},
    {"azureDisk", default_azure_disk},
    {"scaleIO", default_scale_io},
    {"image",
     [](Value source) {
       set_default(source, "pullPolicy",
                   Value::view(default_pull_policy(text_of(source, "reference"))));
     }},
};

}  // namespace

void default_volume(Value volume) {
  const bool has_source = volume.size() > (volume.has("name") ? 1U : 0U);
  if (!has_source) volume.object_at("emptyDir");
  for (const SourceDefaults& row : kSources)
    if (const Value source = volume.get(row.source); source.is_object()) row.apply(source);
}

}  // namespace muster::admission
