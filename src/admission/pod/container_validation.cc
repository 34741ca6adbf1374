#include "admission/pod/container_validation.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "admission/pod/resource_validation.h"

namespace muster::admission {
namespace {

void validate_port_number(Value port, std::string_view key, const Path& path, FieldErrors& errors) {
  validate_port(port.get(key), path.child(key), errors);
}

void validate_container_ports(Value ports, const Path& path, FieldErrors& errors) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Value port = ports.item(i);
    const Path entry = path.index(i);
    if (const std::string_view name = text_of(port, "name"); !name.empty()) {
      const api::Faults faults = api::check_port_name(name);
      add_faults(errors, entry.child("name"), name, faults);
      if (faults.empty() && !names.insert(name).second) errors.duplicate(entry.child("name"), name);
    }
    if (int_of(port, "containerPort") == 0)
      errors.required(entry.child("containerPort"));
    else
      validate_port_number(port, "containerPort", entry, errors);
    if (int_of(port, "hostPort") != 0) validate_port_number(port, "hostPort", entry, errors);
    require_choice(port, "protocol", {"SCTP", "TCP", "UDP"}, entry, errors);
  }
}

// Here and for sub-paths upstream names the list, not the item.
void validate_mount_propagation(Value mount, Value container, const Path& path,
                                FieldErrors& errors) {
  validate_choice(mount, "mountPropagation", {"Bidirectional", "HostToContainer", "None"}, path,
                  errors);
  if (text_of(mount, "mountPropagation") == "Bidirectional" &&
      !container.get({"securityContext", "privileged"}).as_bool())
    errors.forbidden(path.child("mountPropagation"),
                     "Bidirectional mount propagation is available only to privileged containers");
}

Names names_of(Value list) {
  Names names;
  for (const Value item : list.items()) names.insert(text_of(item, "name"));
  return names;
}

void validate_volume_mounts(Value container, const Names& volumes, const Path& path,
                            FieldErrors& errors) {
  const Value mounts = container.get("volumeMounts");
  const Names devices = names_of(container.get("volumeDevices"));
  std::set<std::string_view> mount_paths;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const Value mount = mounts.item(i);
    const Path entry = path.index(i);
    const std::string_view name = text_of(mount, "name");
    const std::string_view mount_path = text_of(mount, "mountPath");
    if (name.empty()) errors.required(entry.child("name"));
    if (!volumes.contains(name)) errors.not_found(entry.child("name"), name);
    if (mount_path.empty()) errors.required(entry.child("mountPath"));
    if (!mount_paths.insert(mount_path).second)
      errors.invalid(entry.child("mountPath"), mount_path, "must be unique");
    if (devices.contains(name))
      errors.invalid(entry.child("name"), name, "must not already exist in volumeDevices");
    const std::string_view sub_path = text_of(mount, "subPath");
    const std::string_view expression = text_of(mount, "subPathExpr");
    if (!sub_path.empty()) validate_descending_path(sub_path, path.child("subPath"), errors);
    if (!expression.empty()) {
      if (!sub_path.empty())
        errors.invalid(entry.child("subPathExpr"), expression,
                       "subPathExpr and subPath are mutually exclusive");
      validate_descending_path(expression, path.child("subPathExpr"), errors);
    }
    validate_mount_propagation(mount, container, path, errors);
  }
}

void validate_volume_devices(Value container, const Names& volumes, const Path& path,
                             FieldErrors& errors) {
  const Value devices = container.get("volumeDevices");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string_view name = text_of(devices.item(i), "name");
    if (name.empty()) errors.required(path.index(i).child("name"));
    if (!volumes.contains(name)) errors.not_found(path.index(i).child("name"), name);
    require_text(devices.item(i), "devicePath", path.index(i), errors);
  }
}

void validate_security_context(Value context, const Path& path, FieldErrors& errors) {
  if (!context.is_object()) return;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  validate_range(context, "runAsUser", 0, kMost, path, errors);
  validate_range(context, "runAsGroup", 0, kMost, path, errors);
  validate_choice(context, "procMount", {"Default", "Unmasked"}, path, errors);
  const Value escalation = context.get("allowPrivilegeEscalation");
  if (escalation.is_bool() && !escalation.as_bool() && context.get("privileged").as_bool())
    errors.invalid(path, context,
                   "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
}

// What all containers have in common. `names` are those taken so far; this one's is added.
void validate_common(Value container, const Names& volumes, std::set<std::string_view>& names,
                     const Path& path, FieldErrors& errors) {
  const std::string_view name = text_of(container, "name");
  if (require_text(container, "name", path, errors))
    add_faults(errors, path.child("name"), name, api::check_dns1123_label(name));
  if (const std::string_view image = text_of(container, "image"); image.empty())
    errors.required(path.child("image"));
  else if (image.front() == ' ' || image.back() == ' ' ||
           image.find_first_of("\t\n\r") != image.npos)
    errors.invalid(path.child("image"), image, "must not have leading or trailing whitespace");
  require_choice(container, "terminationMessagePolicy", {"File", "FallbackToLogsOnError"}, path,
                 errors);
  validate_container_ports(container.get("ports"), path.child("ports"), errors);
  validate_env(container, volumes, path, errors);
  validate_volume_mounts(container, volumes, path.child("volumeMounts"), errors);
  validate_volume_devices(container, volumes, path.child("volumeDevices"), errors);
  require_choice(container, "imagePullPolicy", {"Always", "IfNotPresent", "Never"}, path, errors);
  validate_container_resources(container.get("resources"), path.child("resources"), errors);
  validate_security_context(container.get("securityContext"), path.child("securityContext"),
                            errors);
  if (!names.insert(name).second) errors.duplicate(path.child("name"), name);
}

void validate_host_ports(Value containers, const Path& path, FieldErrors& errors) {
  std::set<std::string> taken;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Value ports = containers.item(i).get("ports");
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const Value port = ports.item(p);
      if (int_of(port, "hostPort") == 0) continue;
      const std::string key = fmt::format("{}/{}/{}", text_of(port, "protocol"),
                                          text_of(port, "hostIP"), int_of(port, "hostPort"));
      if (!taken.insert(key).second)
        errors.duplicate(path.index(i).child("ports").index(p).child("hostPort"), key);
    }
  }
}

std::int64_t grace_of(Value spec) { return int_of(spec, "terminationGracePeriodSeconds"); }

void validate_containers(Value spec, const Names& volumes, const Path& path, FieldErrors& errors) {
  const Value containers = spec.get("containers");
  if (containers.empty()) return errors.required(path);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Value container = containers.item(i);
    const Path entry = path.index(i);
    validate_common(container, volumes, names, entry, errors);
    validate_lifecycle(container.get("lifecycle"), grace_of(spec), entry.child("lifecycle"),
                       errors);
    validate_probes(container, entry, errors);
    validate_choice(container, "restartPolicy", {"Always", "Never", "OnFailure"}, entry, errors);
  }
  validate_host_ports(containers, path, errors);
}

// Only sidecars (restartPolicy Always) stay, so only they have hooks and probes.
void validate_init_containers(Value spec, const Names& volumes, const Path& path,
                              FieldErrors& errors) {
  const Value containers = spec.get("initContainers");
  std::set<std::string_view> names;
  for (const Value main : spec.get("containers").items()) names.insert(text_of(main, "name"));
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Value container = containers.item(i);
    const Path entry = path.index(i);
    validate_common(container, volumes, names, entry, errors);
    if (text_of(container, "restartPolicy") == "Always") {
      validate_lifecycle(container.get("lifecycle"), grace_of(spec), entry.child("lifecycle"),
                         errors);
      validate_probes(container, entry, errors);
    } else {
      for (const std::string_view key :
           {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"})
        if (has_value(container, key))
          errors.forbidden(entry.child(key),
                           "may not be set for init containers without restartPolicy=Always");
    }
    validate_choice(container, "restartPolicy", {"Always", "Never", "OnFailure"}, entry, errors);
  }
  validate_host_ports(containers, path, errors);
}

// They join a running pod: what shapes a pod's life from its start is not for them.
void validate_ephemeral_containers(Value spec, const Names& volumes, const Path& path,
                                   FieldErrors& errors) {
  const Value containers = spec.get("ephemeralContainers");
  const Names targets = names_of(spec.get("containers"));
  std::set<std::string_view> names;
  for (const std::string_view list : {"containers", "initContainers"})
    for (const Value other : spec.get(list).items()) names.insert(text_of(other, "name"));
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Value container = containers.item(i);
    const Path entry = path.index(i);
    validate_common(container, volumes, names, entry, errors);
    const std::string_view target = text_of(container, "targetContainerName");
    if (!target.empty() && !targets.contains(target))
      errors.not_found(entry.child("targetContainerName"), target);
    for (const std::string_view key :
         {"ports", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe"})
      if (has_value(container, key))
        errors.forbidden(entry.child(key), "cannot be set for an Ephemeral Container");
    if (!container.get("resources").empty())
      errors.forbidden(entry.child("resources"), "cannot be set for an Ephemeral Container");
  }
}

}  // namespace

void validate_descending_path(std::string_view text, const Path& path, FieldErrors& errors) {
  if (text.starts_with('/')) errors.invalid(path, text, "must be a relative path");
  validate_no_backsteps(text, path, errors);
}

void validate_no_backsteps(std::string_view text, const Path& path, FieldErrors& errors) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto slash = rest.find('/');
    if (rest.substr(0, slash) == "..") return errors.invalid(path, text, "must not contain '..'");
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
}

void validate_all_containers(Value spec, Value sound_volumes, const Path& path,
                             FieldErrors& errors) {
  const Names volumes = names_of(sound_volumes);
  validate_containers(spec, volumes, path.child("containers"), errors);
  validate_init_containers(spec, volumes, path.child("initContainers"), errors);
  validate_ephemeral_containers(spec, volumes, path.child("ephemeralContainers"), errors);
}

}  // namespace muster::admission
