#include "client/written.h"

namespace muster::client {

const api::Meta& Written::meta() {
  if (object() != nullptr) return object()->meta();
  if (!meta_) meta_ = api::read_meta(answer_.body).value_or(api::Meta{});
  return *meta_;
}

std::string Written::text() const { return answer_.text(); }

}  // namespace muster::client
