#include "sim/process.h"

#include <fmt/format.h>

#include "client/leader_transport.h"

namespace muster::sim {
namespace {

// How long a dead process stays dead; if there are others, until its lease has run out and one of
// them leads.
constexpr Duration kRebirth = std::chrono::milliseconds(500);
constexpr Duration kRebirthAmongReplicas = std::chrono::seconds(30);

}  // namespace

Process::Process(World& world, const ProcessSpec& spec, Options options)
    : world_(world),
      spec_(spec),
      options_(std::move(options)),
      faults_(options_.seed ^ 0x9e3779b97f4a7c15u) {
  faults_.revision_now = [this] { return world_.store().snapshot()->revision(); };
  faults_.on_death = [this] { died(); };
}

void Process::start() {
  transport_ = make_faulty_transport(world_.transport(), faults_,
                                     options_.reads_feed ? &world_.store() : nullptr);
  faults_.stale_revision.reset();
  const auto client_over = [this](client::Transport& transport) {
    return std::make_unique<client::Client>(transport, "muster",
                                            Rng(options_.seed + static_cast<unsigned>(lives_)));
  };
  client_ = client_over(*transport_);
  if (!spec_.elects_leader) return lead(*client_);
  run_for_leader();
  leader_transport_ = client::make_leader_transport(*transport_, *election_);
  leader_client_ = client_over(*leader_transport_);
  election_->start();
}

// Each life is a candidate of its own: the dead one's lease has to run out first.
void Process::run_for_leader() {
  election_ = std::make_unique<client::LeaderElection>(
      *client_, api::Registry::builtin(),
      client::LeaderOptions{.name = spec_.name,
                            .identity = fmt::format("{}_{}", options_.name, lives_)},
      [this] { lead(*leader_client_); }, [this] { controllers_ = nullptr; });
}

void Process::lead(client::Client& client) {
  controllers_ =
      controllers::ControllerSet::make(client, api::Registry::builtin(), world_.metrics(),
                                       {.wanted = spec_.controllers, .gates = options_.gates});
}

void Process::died() {
  controllers_ = nullptr;
  leader_client_ = nullptr;
  leader_transport_ = nullptr;
  election_ = nullptr;
  client_ = nullptr;
  transport_ = nullptr;
  world_.loop().after(spec_.replicas > 1 ? kRebirthAmongReplicas : kRebirth, [this] {
    ++lives_;
    start();
  });
}

}  // namespace muster::sim
