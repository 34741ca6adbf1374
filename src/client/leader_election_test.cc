#include "client/leader_election.h"

#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/write.h"

namespace muster::client {
namespace leader_election_test {

using std::chrono::seconds;

// Two candidates and one Lease, kept by a server of a dozen lines.
class Election : public testing::Test {
 protected:
  void serve(const std::shared_ptr<http::Exchange>& exchange, bool cut) {
    if (cut) return;  // no answer at all
    const http::Request& request = exchange->request();
    json::Arena arena;
    const auto answer = [&](int status, std::string body) {
      http::Response response{.status = status, .headers = {}, .body = {}};
      response.body.push_back(http::Chunk::own(std::move(body)));
      exchange->respond(std::move(response));
    };
    if (request.method == "GET") return lease_.empty() ? answer(404, "") : answer(200, lease_);
    if (request.method == "PATCH") {
      json::Value stored = *json::parse(arena, lease_);
      stored.get("spec").set("holderIdentity", "");
      lease_ = json::write(stored);
      return answer(200, lease_);
    }
    json::Value lease = *json::parse(arena, json::body_text(request));
    const std::string sent(lease.get({"metadata", "resourceVersion"}).as_string());
    if (sent != (lease_.empty() ? "" : std::to_string(version_))) return answer(409, "");
    lease.get("metadata").set("resourceVersion", std::to_string(++version_));
    lease_ = json::write(lease);
    answer(200, lease_);
  }

  struct Candidate {
    Candidate(Election& test, std::string identity)
        : transport(make_in_process_transport(
              *test.loop_, [this, &test](auto exchange) { test.serve(exchange, cut); })),
          client(*transport, identity),
          election(
              client, api::Registry::builtin(), {.identity = identity}, [this] { ++started; },
              [this] { ++stopped; }) {
      election.start();
    }
    bool cut = false;
    std::unique_ptr<Transport> transport;
    Client client;
    int started = 0, stopped = 0;
    LeaderElection election;
  };

  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(Time{seconds(1'000'000)});
  std::string lease_;
  int version_ = 0;
};

TEST_F(Election, TheFirstLeadsAndTheSecondWaits) {
  Candidate a(*this, "a");
  loop_->run_for(seconds(1));
  Candidate b(*this, "b");
  loop_->run_for(seconds(60));
  EXPECT_TRUE(a.election.leading());
  EXPECT_FALSE(b.election.leading());
  EXPECT_EQ(a.started, 1);
}

TEST_F(Election, ALeaderThatCannotRenewStopsBeforeAnotherStarts) {
  Candidate a(*this, "a");
  loop_->run_for(seconds(1));
  Candidate b(*this, "b");
  loop_->run_for(seconds(5));
  a.cut = true;
  for (int i = 0; i < 60 && !b.election.leading(); ++i) {
    loop_->run_for(seconds(1));
    EXPECT_FALSE(a.election.leading() && b.election.leading());
  }
  EXPECT_TRUE(b.election.leading());
}

TEST_F(Election, AClockThatJumpsByADayChangesNoLeader) {
  Candidate a(*this, "a");
  loop_->run_for(seconds(1));
  Candidate b(*this, "b");
  loop_->run_for(seconds(5));
  for (const auto jump : {std::chrono::days(1), -std::chrono::days(2)}) {
    loop_->set_clock(jump);
    EXPECT_GT(a.election.leads_until(), loop_->monotonic()) << "its writes may leave";
    loop_->run_for(seconds(30));
    EXPECT_TRUE(a.election.leading());
    EXPECT_EQ(a.stopped + b.started, 0);
  }
  a.cut = true;
  loop_->run_for(seconds(30));
  EXPECT_FALSE(a.election.leading()) << "a clock that was set back makes no lease longer";
  EXPECT_TRUE(b.election.leading());
}

TEST_F(Election, AReleasedLeaseIsTakenAtOnce) {
  Candidate a(*this, "a");
  loop_->run_for(seconds(1));
  Candidate b(*this, "b");
  a.election.release([] {});
  loop_->run_for(seconds(3));
  EXPECT_TRUE(b.election.leading());
}

}  // namespace leader_election_test
}  // namespace muster::client
