// The containers of a pod.
#pragma once

#include <set>
#include <string_view>

#include "admission/rules/checks.h"

namespace muster::admission {

// All three lists. A volume that is not sound itself counts as missing for mounts.
void validate_all_containers(Value spec, Value sound_volumes, const Path& path,
                             FieldErrors& errors);

// Of volumes or devices, to find one among many.
using Names = std::set<std::string_view>;

// Variables and their sources.
void validate_env(Value container, const Names& volumes, const Path& path, FieldErrors& errors);

// Probes and hooks.
void validate_probes(Value container, const Path& path, FieldErrors& errors);
// `grace` is the time in seconds that the pod has to stop.
void validate_lifecycle(Value lifecycle, std::int64_t grace, const Path& path, FieldErrors& errors);

// fieldRef of a variable or of a file in a downward API volume.
enum class FieldRefUse : std::uint8_t { kVariable, kVolume };
void validate_field_ref(Value ref, FieldRefUse use, const Path& path, FieldErrors& errors);
void validate_resource_field_ref(Value ref, FieldRefUse use, const Path& path, FieldErrors& errors);

// A relative path that stays below where it starts.
void validate_descending_path(std::string_view text, const Path& path, FieldErrors& errors);
void validate_no_backsteps(std::string_view text, const Path& path, FieldErrors& errors);

}  // namespace muster::admission
