#include "controllers/runtime/turns.h"

#include <utility>

namespace muster::controllers {

void Turns::wake() {
  if (std::exchange(awake_, true)) return;
  loop_.post([this, alive = alive_] {
    if (*alive) begin();
  });
}

void Turns::begin() {
  for (client::Informer* source : sources_) {
    if (source->synced()) continue;
    return source->on_synced([this, alive = alive_] {
      if (*alive) begin();
    });
  }
  awake_ = false;
  if (take_()) wake();
}

}  // namespace muster::controllers
