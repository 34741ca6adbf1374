// R7: a leader that is stopped past its lease, and goes on when another leads, changes nothing.
//
// Two operators (leader election and the JobSet controller, as `muster operator` joins them) beside
// a cluster that does the rest. Whoever leads is stopped again and again, in the middle of its
// work. MUSTER_FREEZES=5000 is the long form.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

#include "client/leader_transport.h"
#include "controllers/set/controllers.h"
#include "json/parse.h"
#include "sim/fake_nodes.h"
#include "sim/node_group.h"
#include "sim/stoppable_loop.h"
#include "sim/world.h"

namespace muster::sim {
namespace stale_leader_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kLeaseName = "operator";

// What all operators have done to the cluster.
struct Ledger {
  int accepted = 0;
  int stale_accepted = 0;  // by somebody who did not hold the lease
  int stale_sent = 0;
  int jobs_twice = 0;
  std::set<std::string> jobs;  // "owner/attempt/name"
};

// A process' way to the server: a request leaves, and its answer is looked at, when the process
// runs. In between it is the network's and the server's.
class ProcessTransport final : public client::Transport {
 public:
  ProcessTransport(StoppableLoop& loop, World& world, std::string identity, Ledger& ledger)
      : loop_(loop), world_(world), identity_(std::move(identity)), ledger_(ledger) {}
  ~ProcessTransport() override { *alive_ = false; }

  void send(http::Request request, Done done) override {
    loop_.post(
        [this, alive = alive_, request = std::move(request), done = std::move(done)]() mutable {
          if (*alive) put_on_wire(std::move(request), std::move(done));
        });
  }

  std::unique_ptr<Stream> stream(http::Request request, StreamEvents events) override {
    auto open = std::make_shared<bool>(true);
    auto heard = std::make_shared<StreamEvents>(std::move(events));
    const auto later = [this, open](auto what) {
      loop_.post([open, what = std::move(what)]() mutable {
        if (*open) what();
      });
    };
    auto inner = world_.transport().stream(
        std::move(request), {.head = [=](int status) { later([=] { heard->head(status); }); },
                             .data =
                                 [=](std::string_view data) {
                                   later([heard, text = std::string(data)] { heard->data(text); });
                                 },
                             .end = [=](Status why) { later([=] { heard->end(why); }); }});
    return std::make_unique<Ended>(std::move(open), std::move(inner));
  }

  Loop& loop() override { return loop_; }

 private:
  struct Ended final : Stream {
    Ended(std::shared_ptr<bool> flag, std::unique_ptr<Stream> stream)
        : open(std::move(flag)), inner(std::move(stream)) {}
    ~Ended() override { *open = false; }
    std::shared_ptr<bool> open;
    std::unique_ptr<Stream> inner;
  };

  void put_on_wire(http::Request request, Done done) {
    const bool judged =
        request.method != "GET" && request.target.find("/leases") == std::string::npos;
    const bool stale = judged && holder() != identity_;
    const bool makes_job =
        request.method == "POST" && request.target.find("/jobs") != std::string::npos;
    auto shared = std::make_shared<Done>(std::move(done));
    world_.transport().send(std::move(request), [=, this, alive = alive_,
                                                 &ledger = ledger_](Result<client::Answer> answer) {
      const bool taken = answer && answer->status < 300;
      // What was refused because it was too late has never left.
      if (stale && answer) ++ledger.stale_sent;
      if (stale && taken) ++ledger.stale_accepted;
      if (judged && taken) ++ledger.accepted;
      if (makes_job && taken) note_job(ledger, answer->text());
      if (!*alive) return;
      loop_.post([alive, shared, answer = std::move(answer)]() mutable {
        if (*alive) (*shared)(std::move(answer));
      });
    });
  }

  static void note_job(Ledger& ledger, std::string_view body) {
    json::Arena arena;
    const auto job = json::parse(arena, body);
    ASSERT_TRUE(job);
    const json::Value metadata = job->get("metadata");
    const std::string key =
        fmt::format("{}/{}/{}", metadata.get("ownerReferences").item(0).get("uid").as_string(),
                    metadata.get({"labels", "jobset.sigs.k8s.io/restart-attempt"}).as_string(),
                    metadata.get("name").as_string());
    if (!ledger.jobs.insert(key).second) ++ledger.jobs_twice;
  }

  std::string holder() const {
    const auto& leases = *api::Registry::builtin().find("coordination.k8s.io", "v1", "leases");
    const auto lease =
        world_.store().snapshot()->get({leases.id, "kube-system", std::string(kLeaseName)});
    if (!lease) return "";
    json::Arena arena;
    return std::string(
        json::parse(arena, lease->bytes())->get({"spec", "holderIdentity"}).as_string());
  }

  StoppableLoop& loop_;
  World& world_;
  std::string identity_;
  Ledger& ledger_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class Operator {
 public:
  Operator(World& world, std::string identity, Ledger& ledger)
      : loop(world.loop()),
        transport_(loop, world, identity, ledger),
        client_(transport_, "muster", Rng(1)),
        election(
            client_, api::Registry::builtin(),
            {.name = std::string(kLeaseName), .identity = identity},
            [this, &world] {
              controllers_ =
                  controllers::ControllerSet::make(leader_client_, api::Registry::builtin(),
                                                   world.metrics(), {.wanted = {"jobset"}});
            },
            [this] { controllers_ = nullptr; }),
        leader_transport_(client::make_leader_transport(transport_, election)),
        leader_client_(*leader_transport_, "muster", Rng(2)) {
    election.start();
  }

  StoppableLoop loop;

 private:
  ProcessTransport transport_;
  client::Client client_;

 public:
  client::LeaderElection election;

 private:
  std::unique_ptr<client::Transport> leader_transport_;
  client::Client leader_client_;
  std::unique_ptr<controllers::ControllerSet> controllers_;
};

class StaleLeader : public testing::Test {
 protected:
  StaleLeader() {
    for (const client::Operation& node : NodeNumbers().create({.count = 4})) {
      EXPECT_TRUE(world_.write(node));
    }
    nodes_.start();
    run_for(seconds(1));
  }

  void run_for(Duration span) { world_.loop().run_for(span); }
  Operator& leader() { return a_.election.leading() && !a_.loop.is_stopped() ? a_ : b_; }
  Operator& other(const Operator& one) { return &one == &a_ ? b_ : a_; }

  // Two stages of Jobs; the first attempt of every second set fails; gone soon after its end.
  void create_set(int number) {
    const auto made = world_.write(
        {.verb = client::Verb::kCreate,
         .resource = &sets_,
         .ns = "default",
         .name = fmt::format("s{}", number),
         .body = fmt::format(
             R"({{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{{"name":"s{}"}},
                  "spec":{{"ttlSecondsAfterFinished":3,"failurePolicy":{{"maxRestarts":2}},
                  "replicatedJobs":[{{"name":"{}","replicas":4,"template":{{"spec":{{"parallelism":1,
                  "completions":1,"backoffLimit":0,"template":{{"spec":{{"restartPolicy":"Never",
                  "containers":[{{"name":"c","image":"i"}}]}}}}}}}}}}]}}}})",
             number, number % 2 == 0 ? "flaky" : "steady")});
    ASSERT_TRUE(made) << made.error().message;
  }

  // One stop, past the lease, somewhere in its work.
  void freeze_leader() {
    Operator& frozen = leader();
    frozen.loop.stop_after(static_cast<int>(rng_.below(40)));
    for (int wait = 0; wait < 300 && !other(frozen).election.leading(); ++wait) run_for(seconds(1));
    ASSERT_TRUE(frozen.loop.is_stopped());
    ASSERT_TRUE(other(frozen).election.leading());
    run_for(milliseconds(rng_.below(8'000)));
    frozen.loop.go_on(rng_.below(2) == 0);
    run_for(milliseconds(rng_.below(3'000)));
  }

  const api::Resource& sets_ =
      *api::Registry::builtin().find("jobset.x-k8s.io", "v1alpha2", "jobsets");
  Rng rng_{7};
  World world_{7, {}};
  client::Client cluster_client_{world_.transport(), "cluster", Rng(3)};
  std::vector<PodRule> rules_{{.match = {{"jobset.sigs.k8s.io/replicatedjob-name", "flaky"},
                                         {"jobset.sigs.k8s.io/restart-attempt", "0"}},
                               .outcome = Outcome::kFail},
                              {.match = {}, .outcome = Outcome::kSucceed, .after = seconds(2)}};
  FakeNodes nodes_{cluster_client_, api::Registry::builtin(), rules_};
  std::unique_ptr<controllers::ControllerSet> cluster_ = controllers::ControllerSet::make(
      cluster_client_, api::Registry::builtin(), world_.metrics(),
      {.wanted = {"job", "scheduler", "serviceaccount", "garbage", "podgc", "node"}, .gates = {}});
  Ledger ledger_;
  Operator a_{world_, "a", ledger_};
  Operator b_{world_, "b", ledger_};
};

TEST_F(StaleLeader, ChangesNothingWhenItGoesOn) {
  const char* const asked = std::getenv("MUSTER_FREEZES");
  const int freezes = asked == nullptr ? 200 : std::atoi(asked);
  for (int round = 0; round < freezes; ++round) {
    create_set(round);
    freeze_leader();
    ASSERT_EQ(ledger_.stale_accepted, 0) << "freeze " << round;
    ASSERT_EQ(ledger_.jobs_twice, 0) << "freeze " << round;
  }
  run_for(std::chrono::minutes(5));
  EXPECT_EQ(ledger_.stale_sent, 0);
  EXPECT_TRUE(world_.objects(sets_).empty()) << "every set came to its end";
  EXPECT_GE(ledger_.jobs.size(), static_cast<std::size_t>(freezes) * 4);
  RecordProperty("writes", ledger_.accepted);
}

}  // namespace stale_leader_test
}  // namespace muster::sim
