// Which objects of a collection a request is about: namespace, label selector, field selector.
#pragma once

#include <string>
#include <string_view>

#include "api/schema/registry.h"
#include "api/values/selector.h"
#include "base/result.h"
#include "json/value.h"
#include "store/store.h"

namespace muster::store {

class Selection {
 public:
  // `name` (may be empty) is that of the path. Fails with kBadRequest in upstream's words.
  static Result<Selection> parse(const api::Resource& resource, std::string_view ns,
                                 std::string_view name, std::string_view labels,
                                 std::string_view fields);

  bool selects_all() const { return labels_.matches_everything() && fields_.empty(); }
  // Namespace included. `content` is the object's tree, if it is at hand; else it is read if need
  // be.
  bool matches(const Object& object, json::Value content = {}) const;
  const std::string& ns() const { return ns_; }

 private:
  bool matches_fields(const Object& object, json::Value content) const;

  const api::Resource* resource_ = nullptr;
  std::string ns_;
  api::LabelSelector labels_;
  api::FieldSelector fields_;
  bool needs_body_ = false;  // a field outside metadata is asked for
};

}  // namespace muster::store
