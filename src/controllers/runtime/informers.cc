#include "controllers/runtime/informers.h"

namespace muster::controllers {

client::Informer& Informers::of(std::string_view group, std::string_view version,
                                std::string_view plural) {
  const api::Resource* resource = registry_.find(group, version, plural);
  MUSTER_ASSERT(resource != nullptr, "controllers look at known kinds only");
  auto& informer = informers_[resource];
  if (!informer) {
    informer = std::make_unique<client::Informer>(client_, *resource);
    if (started_) informer->start();
  }
  return *informer;
}

void Informers::start() {
  started_ = true;
  for (const auto& [resource, informer] : informers_) informer->start();
}

}  // namespace muster::controllers
