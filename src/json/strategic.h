// Strategic merge patch (spec: apimachinery, section 2.3). What merges by key and what is replaced
// is a matter of the schema, which json/ does not know: the caller passes it in as MergeRules.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace muster::json {

// What strategic merge must know of one place in an object. Implemented by api::Schema.
class MergeRules {
 public:
  virtual ~MergeRules() = default;
  // Rules below a member of an object; null pointer if the schema knows nothing there.
  virtual const MergeRules* member(std::string_view key) const = 0;
  // Rules of a list's or map's elements.
  virtual const MergeRules* element() const = 0;
  virtual bool merges() const = 0;                 // patchStrategy merge
  virtual bool replaces() const = 0;               // patchStrategy replace on a map
  virtual bool retain_keys() const = 0;            // patchStrategy retainKeys
  virtual std::string_view merge_key() const = 0;  // empty: a list of scalars
  // The Go type, for messages: PodSpec.
  virtual std::string_view type_text() const { return {}; }
};

// Merges the patch into the target, which is changed in place and may be left half changed on
// failure. The patch is not changed, and the result shares nothing with it. Fails in the words and
// with the codes of kube-apiserver: most faults with kUntranslated, a malformed $retainKeys or a
// patch that is no object with kBadRequest, lists of lists with kInvalid.
Result<Value> apply_strategic_merge(Arena& arena, Value target, Value patch,
                                    const MergeRules& rules);

}  // namespace muster::json
