// Which objects of a collection a request is about: namespace, label selector, field selector.
#pragma once

#include <string>
#include <string_view>

#include "api/registry.h"
#include "api/selector.h"
#include "base/result.h"
#include "store/store.h"

namespace muster::server {

class Selection {
 public:
  // `name` (may be empty) is that of the path. Fails with kBadRequest in upstream's words.
  static Result<Selection> parse(const api::Resource& resource, std::string_view ns,
                                 std::string_view name, std::string_view labels,
                                 std::string_view fields);

  bool selects_all() const { return labels_.matches_everything() && fields_.empty(); }
  bool matches(const store::Object& object) const;  // namespace included
  const std::string& ns() const { return ns_; }

 private:
  bool matches_fields(const store::Object& object) const;

  const api::Resource* resource_ = nullptr;
  std::string ns_;
  api::LabelSelector labels_;
  api::FieldSelector fields_;
  bool needs_body_ = false;  // a field outside metadata is asked for
};

}  // namespace muster::server
