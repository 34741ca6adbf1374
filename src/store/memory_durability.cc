#include "store/durability.h"

namespace muster::store {
namespace {

class MemoryDurability final : public Durability {
 public:
  Result<Loaded> load(const std::function<void(const Record&)>&) override { return Loaded{}; }
  Status append(std::span<const Record>) override { return {}; }
  Status forget(std::span<const Revision>, std::span<const Floor>) override { return {}; }
  Status backup(const std::string&) override {
    return fail(Code::kBadRequest,
                "this server keeps its objects in memory only: there is nothing to back up");
  }
};

}  // namespace

std::unique_ptr<Durability> make_memory_durability() {
  return std::make_unique<MemoryDurability>();
}

}  // namespace muster::store
