#include "controllers/jobset/master_port.h"

#include <gmock/gmock.h>

#include <set>

#include "controllers/jobset/rank_environment.h"
#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace master_port_test {

using ::testing::SizeIs;

TEST(MasterPort, DiffersBetweenSetsAndAttemptsWithinItsRange) {
  std::set<int> ports;
  for (int attempt = 0; attempt < 100; ++attempt) {
    for (const char* const uid :
         {"7f9c2ba4-e88f-427a-9d5c-1c3dbe0a7a01", "7f9c2ba4-e88f-427a-9d5c-1c3dbe0a7a02"}) {
      const int port = choose_master_port(uid, attempt, {});
      EXPECT_GE(port, kFirstMasterPort);
      EXPECT_LE(port, kLastMasterPort);
      ports.insert(port);
    }
  }
  EXPECT_GE(ports.size(), 190u);
  EXPECT_EQ(choose_master_port("u", 3, {}), choose_master_port("u", 3, {}));
}

TEST(MasterPort, IsTheNextOneThatIsFree) {
  const int first = choose_master_port("u", 0, {});
  const auto is_free = [&](int port) { return port < first || port > first + 2; };
  EXPECT_EQ(choose_master_port("u", 0, is_free), first + 3);
}

TEST(MasterPort, GoesOnAtTheBeginningAndEndsWhereItBegan) {
  const auto only_the_first = [](int port) { return port == kFirstMasterPort; };
  EXPECT_EQ(choose_master_port("u", 0, only_the_first), kFirstMasterPort);
  const auto none = [](int) { return false; };
  EXPECT_EQ(choose_master_port("u", 0, none), choose_master_port("u", 0, {}));
}

class SharedPorts : public ::testing::Test {
 protected:
  static Child job(int port) {
    Child out = child();
    out.master_port = port;
    return out;
  }
  static Child ended(int port) {
    Child out = complete_child({});
    out.master_port = port;
    return out;
  }
  std::set<int> listened_at_;
  MasterPorts ports_{[this](int port) { return !listened_at_.contains(port); }};
};

TEST_F(SharedPorts, AreNotFreeWhileAJobThatWasGivenThemMayRun) {
  const Child first = job(12'000), second = job(12'000), over = ended(12'000);
  EXPECT_TRUE(ports_.is_free(12'000));
  ports_.changed(nullptr, &first);
  ports_.changed(nullptr, &second);
  EXPECT_FALSE(ports_.is_free(12'000));
  ports_.changed(&first, &over);
  EXPECT_FALSE(ports_.is_free(12'000)) << "the second one runs";
  ports_.changed(&over, nullptr);
  ports_.changed(&second, nullptr);
  EXPECT_TRUE(ports_.is_free(12'000));
}

TEST_F(SharedPorts, AreNotFreeFromTheMomentTheyAreTaken) {
  const PortRequest request{.set_uid = "u", .attempt = 3};
  const GivenPort first = ports_.take(request);
  EXPECT_EQ(first.request, request);
  EXPECT_EQ(first.port, choose_master_port("u", 3, {}));
  EXPECT_FALSE(ports_.is_free(first.port));
  EXPECT_NE(ports_.take(request).port, first.port) << "the same set asks again";
  // What became of a port that was taken so long ago is to be seen.
  for (int attempt = 100; attempt < 356; ++attempt)
    ports_.take({.set_uid = "other", .attempt = attempt});
  EXPECT_TRUE(ports_.is_free(first.port));
}

TEST_F(SharedPorts, AreNotFreeIfSomebodyListensThere) {
  listened_at_.insert(12'000);
  EXPECT_FALSE(ports_.is_free(12'000));
}

TEST(MasterPorts, OfPodsThatHaveTheirOwnAreNotRemembered) {
  MasterPorts ports({});
  EXPECT_FALSE(ports.shared());
  const Child first = child();
  ports.changed(nullptr, &first);
}

// Through whole plans.
class PlannedPort : public ::testing::Test {
 protected:
  void create(const std::string& set) {
    cluster_.create(set);
    cluster_.edit(R"({"metadata": {"annotations": {"muster.dev/rank-env": "true"}}})");
  }
  std::string port_of(std::string_view job) {
    const json::Value container =
        cluster_.job(job).get({"spec", "template", "spec", "containers"}).item(0);
    for (const json::Value each : container.get("env").items()) {
      if (each.get("name").as_string() == "MASTER_PORT")
        return std::string(each.get("value").as_string());
    }
    return "none";
  }
  int first_choice(int attempt) { return choose_master_port("uid-of-the-set", attempt, {}); }
  std::string choice(int attempt) { return std::to_string(first_choice(attempt)); }
  Cluster cluster_;
};

TEST_F(PlannedPort, IsTheHashWherePodsHavePortsOfTheirOwn) {
  create(jobset({job("driver"), job("workers", {.replicas = 2})}));
  cluster_.settle();
  for (const std::string& name : cluster_.job_names()) EXPECT_EQ(port_of(name), choice(0)) << name;
}

TEST(PortRequests, APlanWritesNothingBeforeItsPortIsFoundAndTakesNoPortOfAnotherAttempt) {
  api::JobSet set = read(jobset({job("workers")}));
  set.meta.uid = "u";
  set.meta.annotations.emplace_back(annotation::kRankEnvironment, "true");
  const Kinds kinds{.job_set = &admission::World::resource_of(kApiVersion, kKind),
                    .job = &admission::World::resource_of("batch/v1", "Job"),
                    .service = &admission::World::resource_of("v1", "Service"),
                    .claim = &admission::World::resource_of("v1", "PersistentVolumeClaim"),
                    .config_map = &admission::World::resource_of("v1", "ConfigMap")};
  View view{.set = set, .children = {}, .shares_ports = true};
  const auto planned = [&] { return plan(kinds, view, {}); };
  const PortRequest request{.set_uid = set.meta.uid, .attempt = 0};
  EXPECT_EQ(planned().port_request, request);
  EXPECT_FALSE(planned().plan.has_writes());
  view.given_port = {{.set_uid = set.meta.uid, .attempt = 1}, 12'000};
  EXPECT_EQ(planned().port_request, request);
  view.given_port = {request, 12'000};
  EXPECT_EQ(planned().port_request, std::nullopt);
  EXPECT_TRUE(planned().plan.has_writes());
}

TEST_F(PlannedPort, IsTheSameForJobsThatAreMadeLater) {
  create(jobset({job("driver"), job("workers", {.replicas = 2})},
                R"("startupPolicy": {"startupPolicyOrder": "InOrder"},)"));
  cluster_.settle();
  // Since then the driver listens: for the workers that is where it is, not a reason to look on.
  cluster_.port_is_free = [this](int port) { return port != first_choice(0); };
  cluster_.run("js-driver-0");
  cluster_.settle();
  EXPECT_EQ(port_of("js-driver-0"), choice(0));
  EXPECT_EQ(port_of("js-workers-1"), choice(0));
}

TEST_F(PlannedPort, IsTheSameAfterACrashBetweenTwoJobs) {
  cluster_.port_is_free = [this](int port) { return port > first_choice(0); };
  create(jobset({job("workers", {.replicas = 3})}));
  cluster_.writes_until_crash = 2;  // the Service, one Job
  cluster_.pass();
  ASSERT_THAT(cluster_.job_names(), SizeIs(1));
  cluster_.port_is_free = [](int) { return true; };
  cluster_.settle();
  ASSERT_THAT(cluster_.job_names(), SizeIs(3));
  for (const std::string& name : cluster_.job_names())
    EXPECT_EQ(port_of(name), std::to_string(first_choice(0) + 1)) << name;
}

TEST_F(PlannedPort, IsAnotherOneInTheNextAttempt) {
  create(jobset({job("workers", {.replicas = 2})}, R"("failurePolicy": {"maxRestarts": 1},)"));
  cluster_.settle();
  cluster_.fail("js-workers-0");
  cluster_.settle();
  EXPECT_EQ(port_of("js-workers-0"), choice(1));
  EXPECT_EQ(port_of("js-workers-1"), choice(1));
}

TEST_F(PlannedPort, OfJobsThatAskForNoRanksIsNone) {
  cluster_.create(jobset({job("workers")}));
  cluster_.settle();
  EXPECT_EQ(port_of("js-workers-0"), "none");
  EXPECT_FALSE(cluster_.job("js-workers-0").get({"metadata", "annotations"}).has(kMasterPort));
}

}  // namespace master_port_test
}  // namespace muster::controllers::jobset
