// The rows of the table of conversions, one file for each kind. Internal to api/versions.
#pragma once

#include <string_view>

#include "json/value.h"

namespace muster::api {

// A version of a kind that is stored in another one. Both Kueue and Kubernetes have a Workload, so
// a kind is known by its group. The functions change objects in place; apiVersion and kind are not
// their business.
struct Conversion {
  std::string_view group;
  std::string_view kind;
  std::string_view version;
  void (*to_storage)(json::Value object) = nullptr;
  void (*from_storage)(json::Value object) = nullptr;
  // Takes what this version cannot express from the live object; both are in the stored form.
  void (*keep)(json::Value object, json::Value live) = nullptr;
};

extern const Conversion kEventV1;
extern const Conversion kClusterQueueV1beta1;
extern const Conversion kLocalQueueV1beta1;
extern const Conversion kKueueWorkloadV1beta1;
extern const Conversion kPodGroupV1alpha2;
extern const Conversion kWorkloadV1alpha1;
extern const Conversion kWorkloadV1alpha2;

// --- shared by the rows ---

// The member under another name. Nothing happens if it is absent.
void rename_member(json::Value object, std::string_view from, std::string_view to);
// Copies the member of `live` if the object has none.
void keep_member(json::Value object, json::Value live, std::string_view key);

}  // namespace muster::api
