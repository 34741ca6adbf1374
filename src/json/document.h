// A tree together with the memory that it lies in, so that it can be handed from one thread to
// another. It is not changed once it is shared.
#pragma once

#include <memory>
#include <string>

#include "base/http.h"
#include "json/value.h"

namespace muster::json {

class Document {
 public:
  // A copy of `tree` that says what its text would say: invalid UTF-8 is replaced, numbers are as
  // they are read.
  static std::shared_ptr<const Document> of(Value tree);

  // To be read only.
  Value root() const { return root_; }

 private:
  Arena arena_{2048};  // a status patch takes one such block
  Value root_;
};
using DocumentPtr = std::shared_ptr<const Document>;

// A tree that may be changed. Its texts stay in the document, which the arena keeps.
Value changeable(Arena& arena, const DocumentPtr& document);

// The body of a request as text, also where the caller handed over a tree.
std::string body_text(const http::Request& request);

}  // namespace muster::json
