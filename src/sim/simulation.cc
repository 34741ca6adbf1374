#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/digest.h"
#include "controllers/set/controllers.h"
#include "json/parse.h"
#include "sim/canonical.h"
#include "sim/fake_nodes.h"
#include "sim/invariants.h"
#include "sim/world.h"

namespace muster::sim {
namespace {

// Nothing was written for so long: the run has come to rest. Longer than any pause that controllers
// make by themselves, the pod garbage collector's quarantine and back-offs of a few failures among
// them.
constexpr Duration kRest = std::chrono::minutes(3);
constexpr Duration kSlice = std::chrono::seconds(5);
// How long a dead process stays dead.
constexpr Duration kRebirth = std::chrono::milliseconds(500);

// Kinds that scenarios are about; events and leases are not state.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kKinds{
    {{"jobset.x-k8s.io", "jobsets"},
     {"batch", "jobs"},
     {"", "pods"},
     {"", "services"},
     {"", "persistentvolumeclaims"},
     {"", "configmaps"}}};

class Simulation {
 public:
  Simulation(const Scenario& scenario, const RunOptions& options, admission::FeatureGates gates)
      : scenario_(scenario),
        options_(options),
        gates_(std::move(gates)),
        world_(options.seed, gates_),
        faults_(options.seed ^ 0x9e3779b97f4a7c15u),
        node_client_(world_.transport(), "kubelet", Rng(options.seed)),
        nodes_(node_client_, api::Registry::builtin(), scenario.nodes, scenario.pods) {
    faults_.rates = options.rates;
    faults_.crash_point = options.crash_point;
    faults_.revision_now = [this] { return world_.store().snapshot()->revision(); };
    faults_.on_death = [this] { controllers_died(); };
  }

  Result<Run> run() {
    watch();
    nodes_.start();
    start_controllers();
    for (const client::Operation& object : scenario_.objects) {
      MUSTER_CHECK(write(object));
    }
    for (const ScenarioStep& step : scenario_.steps) {
      world_.loop().run_for(step.after);
      MUSTER_CHECK(perform(step));
    }
    world_.loop().run_for(options_.rates.crash > 0 ? options_.faults_for : Duration::zero());
    faults_.rates = FaultRates::none();
    wait_for_rest();
    return result();
  }

 private:
  Status perform(const ScenarioStep& step) {
    if (step.operation.resource == nullptr) {
      nodes_.lose(step.lost_node);
      return {};
    }
    auto done = write(step.operation);
    // A story may come to the same end faster than its steps.
    if (!done && done.error().code != Code::kNotFound) return done;
    return {};
  }

  // An error says which of the scenario's own writes it is about.
  Status write(const client::Operation& operation) {
    const auto done = world_.write(operation);
    if (done) return {};
    return fail(done.error().code,
                fmt::format("{}: {}", operation.summary(), done.error().message));
  }

  void start_controllers() {
    transport_ = make_faulty_transport(world_.transport(), faults_,
                                       options_.reads == Reads::kFeed ? &world_.store() : nullptr);
    faults_.stale_revision.reset();
    client_ = std::make_unique<client::Client>(*transport_, "muster",
                                               Rng(options_.seed + static_cast<unsigned>(lives_)));
    controllers_ = controllers::ControllerSet::make(
        *client_, api::Registry::builtin(), world_.metrics(),
        {.wanted = {"jobset", "job", "scheduler", "serviceaccount", "garbage", "podgc", "ttl",
                    "namespace", "node", "endpointslice", "claims"},
         .gates = gates_});
  }

  void controllers_died() {
    controllers_ = nullptr;
    client_ = nullptr;
    transport_ = nullptr;
    world_.loop().after(kRebirth, [this] {
      ++lives_;
      start_controllers();
    });
  }

  // Every change is judged in the order of revisions, and becomes part of the history's hash.
  void watch() {
    std::vector<int> kinds;
    for (const auto& [group, plural] : kKinds)
      kinds.push_back(api::Registry::builtin().find_storage(group, plural)->id);
    auto changes = world_.store().watch(std::move(kinds), world_.store().snapshot()->revision(),
                                        [this] { poll_soon(); });
    MUSTER_ASSERT(changes.has_value(), "a new store has all its history");
    changes_ = *std::move(changes);
    poll_soon();  // the first poll is not called for
  }

  void poll_soon() {
    if (std::exchange(polling_, true)) return;
    world_.loop().post([this] {
      polling_ = false;
      poll();
    });
  }

  void poll() {
    const auto events = changes_->poll(10'000);
    MUSTER_ASSERT(events.has_value(), "history is kept");
    for (const store::Event& event : *events) {
      invariants_.took(event);
      history_ = hex_digest(DigestKind::kSha512, history_ + event.object->bytes());
      changed_at_ = world_.now();
    }
    if (!events->empty()) poll_soon();
  }

  // A pod that runs for long is no rest.
  void wait_for_rest() {
    Duration rest = kRest;
    for (const PodRule& rule : scenario_.pods) rest = std::max(rest, kRest + rule.after);
    const Time end = world_.now() + scenario_.horizon;
    while (world_.now() < end) {
      world_.loop().run_for(kSlice);
      if (world_.now() - changed_at_ >= rest) return;
    }
    at_rest_ = false;
  }

  Run result() {
    Run run;
    std::vector<store::ObjectPtr> all;
    json::Arena arena;
    std::vector<json::Value> values;
    for (const auto& [group, plural] : kKinds) {
      for (const auto& object :
           world_.objects(*api::Registry::builtin().find_storage(group, plural))) {
        all.push_back(object);
        values.push_back(*json::parse(arena, object->bytes()));
        run.objects += (run.objects.empty() ? "" : ",") + object->bytes();
      }
    }
    invariants_.check_at_rest(all);
    run.state = canonical_state(values);
    run.objects = R"({"apiVersion":"v1","kind":"List","items":[)" + run.objects + "]}";
    run.hash = history_.substr(0, 16);
    run.writes = faults_.write_log;
    run.violations = invariants_.violations();
    if (!at_rest_) run.violations.emplace_back("has not come to rest");
    run.took = changed_at_.time_since_epoch() - began_.time_since_epoch();
    run.lives = lives_;
    return run;
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  admission::FeatureGates gates_;
  World world_;
  FaultState faults_;
  client::Client node_client_;
  FakeNodes nodes_;
  std::unique_ptr<client::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<controllers::ControllerSet> controllers_;
  int lives_ = 1;
  std::unique_ptr<store::Subscription> changes_;
  bool polling_ = false;
  Invariants invariants_;
  std::string history_;
  Time began_ = world_.now();
  Time changed_at_ = began_;
  bool at_rest_ = true;
};

}  // namespace

Result<Run> run_scenario(const Scenario& scenario, const RunOptions& options) {
  admission::FeatureGates gates;
  MUSTER_CHECK(gates.set(scenario.feature_gates));
  return Simulation(scenario, options, std::move(gates)).run();
}

}  // namespace muster::sim
