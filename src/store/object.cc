#include "base/result.h"
#include "store/snapshot.h"
#include "store/store.h"

namespace muster::store {

Object::Object(std::string_view ns, std::string_view name, std::string bytes, Revision revision)
    : bytes_(std::move(bytes)),
      path_(make_path(ns, name)),
      revision_(revision),
      ns_size_(static_cast<std::uint32_t>(ns.size())) {}

Object::~Object() { delete meta_.load(std::memory_order_acquire); }

const api::Meta& Object::meta() const {
  if (const api::Meta* known = meta_.load(std::memory_order_acquire)) return *known;
  auto decoded = std::make_unique<const api::Meta>(api::decode_meta(bytes_));
  const api::Meta* first = nullptr;
  // Two threads may decode at once; the second one's work is dropped.
  if (meta_.compare_exchange_strong(first, decoded.get(), std::memory_order_acq_rel))
    return *decoded.release();
  return *first;
}

}  // namespace muster::store
