// What is particular to one kind, as a row of functions. Each kind's file fills in one row;
// kinds.cc lists the rows; admission.cc runs what all kinds share around them.
//
// How to read a row: an empty place means that the kind does what all kinds do.
#pragma once

#include <string_view>

#include "admission/admission.h"
#include "api/values/field_error.h"
#include "json/value.h"

namespace muster::admission {

using api::FieldErrors;
using api::Path;
using json::Value;

enum class NameRule : std::uint8_t {
  kSubdomain,    // DNS-1123 subdomain: most kinds
  kLabel,        // DNS-1123 label: namespaces, services
  kPathSegment,  // anything that can stand in a path: RBAC
};

struct Kind {
  std::string_view group;
  std::string_view name;
  NameRule name_rule = NameRule::kSubdomain;
  bool keeps_status_on_create = false;
  bool trusts_metadata_on_update = false;  // does not repeat the check that all kinds share
  bool judges_changes_first = false;       // validate_update before validate: the order of causes

  // Scheme defaults (the schema's own defaults of custom resources are applied before).
  void (*apply_defaults)(const Context&, Value object) = nullptr;
  // Admission plugins and mutating webhooks of this kind. `old` is null on create.
  Status (*mutate)(const Context&, Value object, Value old) = nullptr;

  // After the common part (status cleared or kept, metadata restored), before the generation is
  // set.
  void (*prepare_create)(const Context&, Value object) = nullptr;
  void (*prepare_update)(const Context&, Value object, Value old) = nullptr;  // main resource
  // A subresource that may write more or less than `status`, or another one (finalize, resize …).
  void (*prepare_subresource)(const Context&, Value object, Value old) = nullptr;
  // Beyond what Resource::generation says: does this update raise the generation?
  bool (*also_raises_generation)(Value object, Value old) = nullptr;

  // Rules for the object as it is, after its metadata. Of custom resources: the CEL rules.
  void (*validate)(const Context&, Value object, FieldErrors&) = nullptr;
  // Rules for the way from `old`; the object itself has been validated already.
  void (*validate_update)(const Context&, Value object, Value old, FieldErrors&) = nullptr;
  void (*validate_subresource)(const Context&, Value object, Value old, FieldErrors&) = nullptr;

  // Validating webhooks of custom resources: asked only if all of the above found nothing. One that
  // has nothing of its own for updates judges them as it judges creates.
  void (*admit_create)(const Context&, Value object, FieldErrors&) = nullptr;
  void (*admit_update)(const Context&, Value object, Value old, FieldErrors&) = nullptr;
  void (*admit_subresource)(const Context&, Value object, Value old, FieldErrors&) = nullptr;
};

// The row of a kind; a row that is empty but for the names if nothing is particular to it.
const Kind& kind_of(const api::Resource& resource);

}  // namespace muster::admission
