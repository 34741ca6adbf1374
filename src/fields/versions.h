// The versions of a kind that entries speak (spec: apimachinery 1.5 and 1.6): a path means
// something in its own version only, so an object is compared in each version that an entry has.
#pragma once

#include <map>
#include <string_view>

#include "api/schema/registry.h"
#include "fields/compare.h"
#include "json/value.h"

namespace muster::fields {

struct Endpoint;

// Whether entries of this version can be understood: those of versions that are no longer served
// are dropped.
bool knows_version(const Endpoint& endpoint, std::string_view api_version);

// The type of the objects in a version that is known.
const api::Schema* type_in(const Endpoint& endpoint, std::string_view api_version);

// The object in another version. `live`, in the version `to`, has what `from` cannot express. The
// object itself if both versions are one.
struct VersionChange {
  std::string_view from;
  std::string_view to;
};
json::Value in_version(json::Arena& arena, const Endpoint& endpoint, json::Value object,
                       VersionChange change, json::Value live = {});

// What a write changed, in the words of each version.
class Changes {
 public:
  // `own` compares the objects, which are in the endpoint's version. What the endpoint resets does
  // not count. All must outlive this.
  Changes(json::Arena& arena, const Endpoint& endpoint, json::Value before, json::Value after,
          Comparison own);

  // Nothing, if the objects cannot be compared in that version.
  const Comparison& in(std::string_view api_version);

 private:
  json::Arena& arena_;
  const Endpoint& endpoint_;
  json::Value before_;
  json::Value after_;
  std::map<std::string_view, Comparison> by_version_;
};

}  // namespace muster::fields
