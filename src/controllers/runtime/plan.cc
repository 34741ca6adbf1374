#include "controllers/runtime/plan.h"

namespace muster::controllers {

std::string Plan::text() const {
  std::string out = reason;
  for (const auto& write : writes) out += "\n  " + write.summary();
  if (look_again) out += fmt::format("\n  look again in {} ms", look_again->count() / 1000);
  return out;
}

}  // namespace muster::controllers
