#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "json/parse.h"
#include "sim/canonical.h"
#include "sim/drain.h"
#include "sim/fake_nodes.h"
#include "sim/invariants/invariants.h"
#include "sim/process.h"
#include "sim/world.h"

namespace muster::sim {
namespace {

// Nothing was written for so long: the run has come to rest. Longer than any pause that controllers
// make by themselves, the pod garbage collector's quarantine and back-offs of a few failures among
// them.
constexpr Duration kRest = std::chrono::minutes(3);
constexpr Duration kSlice = std::chrono::seconds(5);

class Simulation {
 public:
  Simulation(const Scenario& scenario, const RunOptions& options, admission::FeatureGates gates)
      : scenario_(scenario),
        options_(options),
        gates_(std::move(gates)),
        world_(options.seed, gates_),
        node_client_(world_.transport(), "kubelet", Rng(options.seed)),
        nodes_(node_client_, api::Registry::builtin(), scenario.pods),
        drain_(world_, node_client_) {
    for (const ProcessSpec& spec : scenario.processes) {
      for (int replica = 0; replica < spec.replicas; ++replica) add_process(spec, replica);
    }
  }

  Result<Run> run() {
    watch();
    for (const client::Operation& node : scenario_.nodes) MUSTER_CHECK(write(node));
    nodes_.start();
    for (const auto& process : processes_) process->start();
    for (const client::Operation& object : scenario_.objects) {
      MUSTER_CHECK(write(object));
    }
    for (const ScenarioStep& step : scenario_.steps) {
      world_.loop().run_for(step.after);
      MUSTER_CHECK(perform(step));
    }
    world_.loop().run_for(options_.rates.crash > 0 ? options_.faults_for : Duration::zero());
    for (const auto& process : processes_) process->faults().rates = FaultRates::none();
    wait_for_rest();
    return result();
  }

 private:
  // All of them differ in their random faults; one by itself meets the same as ever.
  void add_process(const ProcessSpec& spec, int replica) {
    constexpr std::uint64_t kSeedsApart = 1'000;
    const std::string name =
        spec.replicas > 1 ? fmt::format("{}-{}", spec.name, replica) : spec.name;
    auto process = std::make_unique<Process>(
        world_, spec,
        Process::Options{.name = name,
                         .seed = options_.seed + kSeedsApart * processes_.size(),
                         .gates = gates_,
                         .reads_feed = options_.reads == Reads::kFeed});
    process->faults().rates = options_.rates;
    if (options_.crash_point && dies_at_crash_point(name))
      process->faults().crash_point = options_.crash_point;
    process->faults().on_write = [this, name](std::string write) {
      writes_.push_back(processes_.size() > 1 ? fmt::format("{}: {}", name, write) : write);
    };
    processes_.push_back(std::move(process));
  }

  bool dies_at_crash_point(const std::string& process) const {
    const std::string& asked = options_.crash_point->process;
    return asked.empty() ? processes_.empty() : asked == process;
  }

  Status perform(const ScenarioStep& step) {
    if (!step.lost_node.empty()) nodes_.lose(step.lost_node);
    if (!step.drained_node.empty()) MUSTER_CHECK(drain_.start(step.drained_node));
    for (const client::Operation& each : step.writes) {
      const auto done = write(each);
      // A story may come to the same end faster than its steps.
      if (!done && done.error().code != Code::kNotFound) return done;
    }
    return {};
  }

  // An error says which of the scenario's own writes it is about.
  Status write(const client::Operation& operation) {
    const auto done = world_.write(operation);
    if (done) return {};
    return fail(done.error().code,
                fmt::format("{}: {}", operation.summary(), done.error().message));
  }

  // Every change is judged in the order of revisions, and becomes part of the history's hash.
  void watch() {
    std::vector<int> kinds;
    for (const api::Resource* kind : scenario_.compared) kinds.push_back(kind->id);
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
    for (const api::Resource* kind : scenario_.compared) {
      for (const auto& object : world_.objects(*kind)) {
        all.push_back(object);
        values.push_back(*json::parse(arena, object->bytes()));
        run.objects += (run.objects.empty() ? "" : ",") + object->bytes();
      }
    }
    invariants_.check_at_rest(all);
    run.state = canonical_state(values);
    run.objects = R"({"apiVersion":"v1","kind":"List","items":[)" + run.objects + "]}";
    run.hash = history_.substr(0, 16);
    run.writes = writes_;
    run.violations = invariants_.violations();
    if (!at_rest_) run.violations.emplace_back("has not come to rest");
    if (drain_.waiting() > 0)
      run.violations.push_back(fmt::format("{} pods wait to be evicted", drain_.waiting()));
    run.took = changed_at_.time_since_epoch() - began_.time_since_epoch();
    for (const auto& process : processes_) {
      run.processes.push_back(
          {.name = process->name(), .writes = process->faults().writes, .lives = process->lives()});
    }
    return run;
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  admission::FeatureGates gates_;
  World world_;
  client::Client node_client_;
  FakeNodes nodes_;
  Drain drain_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::string> writes_;
  std::unique_ptr<store::Subscription> changes_;
  bool polling_ = false;
  Invariants invariants_;
  std::string history_;
  Time began_ = world_.now();
  Time changed_at_ = began_;
  bool at_rest_ = true;
};

}  // namespace

int Run::lives() const {
  int sum = 0;
  for (const ProcessRun& process : processes) sum += process.lives;
  return sum;
}

Result<Run> run_scenario(const Scenario& scenario, const RunOptions& options) {
  admission::FeatureGates gates;
  MUSTER_CHECK(gates.set(scenario.feature_gates));
  return Simulation(scenario, options, std::move(gates)).run();
}

}  // namespace muster::sim
