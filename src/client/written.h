// What a server answers to a write that succeeded: the object as it is stored, or text.
#pragma once

#include <optional>
#include <string>

#include "api/views/meta.h"
#include "client/transport.h"
#include "store/store.h"

namespace muster::client {

class Written {
 public:
  explicit Written(Answer answer) : answer_(std::move(answer)) {}

  // Null if the answer came as text.
  const store::ObjectPtr& object() const { return answer_.object; }
  // Empty if the answer is no object: bindings are answered with a Status, and what stands between
  // us and a server may say anything.
  const api::Meta& meta();
  std::string text() const;
  operator std::string() const { return text(); }  // for those who read the text only

 private:
  Answer answer_;
  std::optional<api::Meta> meta_;  // of a text
};

}  // namespace muster::client
