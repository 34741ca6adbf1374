#include "sim/world.h"

#include "server/bootstrap.h"
#include "store/durability.h"

namespace muster::sim {
namespace {

// Any will do; a round one reads well in traces.
constexpr Time kBeginning = std::chrono::sys_days(std::chrono::year(2030) / 1 / 1);

}  // namespace

World::World(std::uint64_t seed, const admission::FeatureGates& gates)
    : loop_(make_virtual_loop(kBeginning)) {
  const api::Registry& registry = api::Registry::builtin();
  auto opened = store::Store::open(store::make_memory_durability(), registry, loop_->clock(),
                                   metrics_, {.commit_inline = true});
  MUSTER_ASSERT(opened.has_value(), "a store in memory opens");
  store_ = *std::move(opened);
  server::Options options;
  options.seed = seed;
  options.gates = gates;
  server_ = std::make_unique<server::ApiServer>(*store_, registry, loop_->clock(), metrics_,
                                                std::move(options));
  const Status born = server::bootstrap(*server_);
  MUSTER_ASSERT(born.has_value(), "an empty cluster takes its first objects");
  transport_ =
      client::make_in_process_transport(*loop_, [this](std::shared_ptr<http::Exchange> exchange) {
        server_->handle_as(std::move(exchange), server::master("muster"));
      });
  client_ = std::make_unique<client::Client>(*transport_, "scenario", Rng(seed));
}

Result<std::string> World::write(const client::Operation& operation) {
  std::optional<Result<std::string>> answer;
  client_->write(operation, [&](Result<std::string> came) { answer = std::move(came); });
  // The answer is a matter of posted tasks: no time passes.
  while (!answer) loop_->run_for(Duration::zero());
  return *std::move(answer);
}

std::vector<store::ObjectPtr> World::objects(const api::Resource& resource) const {
  std::vector<store::ObjectPtr> found;
  store_->snapshot()->scan(resource.id, {}, [&](const store::ObjectPtr& object) {
    found.push_back(object);
    return true;
  });
  return found;
}

}  // namespace muster::sim
