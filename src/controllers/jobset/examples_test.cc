// The examples are admitted without a warning, and each tells its story: what starts at once, and
// what starts when something else is ready or complete.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "controllers/jobset/testing.h"
#include "json/yaml.h"

namespace muster::controllers::jobset {
namespace examples_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The JobSet of a file; other objects may stand beside it.
std::string example(const std::string& name) {
  const std::ifstream file(std::filesystem::path(EXAMPLES) / (name + ".yaml"));
  MUSTER_ASSERT(file.good(), "an example is missing");
  std::ostringstream text;
  text << file.rdbuf();
  json::Arena arena;
  const auto documents = json::parse_yaml(arena, std::move(text).str());
  MUSTER_ASSERT(documents.has_value(), "an example is YAML");
  const auto is_set = [](const auto& each) {
    return each.root.get("kind").as_string() == "JobSet";
  };
  const auto set = std::ranges::find_if(*documents, is_set);
  MUSTER_ASSERT(set != documents->end(), "an example has a JobSet");
  return json::write(set->root);
}

class Examples : public ::testing::Test {
 protected:
  void start(const std::string& name) {
    cluster_.create(example(name));
    cluster_.settle();
  }
  // Of one replicated job, all Jobs.
  void run(const std::string& entry) {
    for (const std::string& name : jobs_of(entry)) cluster_.run(name);
    cluster_.settle();
  }
  void succeed(const std::string& entry) {
    for (const std::string& name : jobs_of(entry)) cluster_.succeed(name);
    cluster_.settle();
  }
  // The replicated jobs that have Jobs, in the order of their names.
  std::vector<std::string> started() const {
    std::vector<std::string> out;
    for (const json::Value entry : cluster_.set().get({"spec", "replicatedJobs"}).items()) {
      const std::string name(entry.get("name").as_string());
      const auto wanted = static_cast<std::size_t>(entry.get("replicas").as_int());
      if (jobs_of(name).size() == wanted) out.push_back(name);
    }
    std::ranges::sort(out);
    return out;
  }
  bool is_completed() const { return cluster_.condition("Completed") == "True AllJobsCompleted"; }

  Cluster cluster_;

 private:
  std::vector<std::string> jobs_of(const std::string& entry) const {
    std::vector<std::string> out;
    for (const std::string& name : cluster_.job_names()) {
      const json::Value labels = cluster_.job(name).get({"metadata", "labels"});
      if (labels.get(label::kReplicatedJobName).as_string() == entry) out.push_back(name);
    }
    return out;
  }
};

TEST_F(Examples, AreAllAdmittedWithoutWarnings) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(EXAMPLES)) {
    const admission::World world;
    const auto set = world.create(kApiVersion, kKind, example(file.path().stem().string()));
    EXPECT_EQ(set.message(), "") << file.path();
    EXPECT_THAT(set.warnings, IsEmpty()) << file.path();
    ++count;
  }
  EXPECT_GE(count, 9);
}

TEST_F(Examples, FineTune) {
  start("fine-tune");
  EXPECT_THAT(started(), ElementsAre("initializer"));
  run("initializer");
  EXPECT_THAT(started(), ElementsAre("initializer"));
  succeed("initializer");
  EXPECT_THAT(started(), ElementsAre("initializer", "trainer-node"));
  succeed("trainer-node");
  EXPECT_TRUE(is_completed());
}

TEST_F(Examples, DeepSpeedMpi) {
  start("deepspeed-mpi");
  run("initializer");
  EXPECT_THAT(started(), ElementsAre("initializer"));
  succeed("initializer");
  EXPECT_THAT(started(), ElementsAre("initializer", "launcher"));
  run("launcher");
  EXPECT_THAT(started(), ElementsAre("initializer", "launcher", "trainer-node"));
  succeed("trainer-node");
  EXPECT_FALSE(is_completed());
  succeed("launcher");
  EXPECT_TRUE(is_completed());
}

TEST_F(Examples, SimulateThenAnalyze) {
  start("simulate-then-analyze");
  cluster_.succeed("simulate-then-analyze-simulation-0");
  cluster_.settle();
  EXPECT_THAT(started(), ElementsAre("simulation"));
  cluster_.succeed("simulate-then-analyze-simulation-1");
  cluster_.settle();
  EXPECT_THAT(started(), ElementsAre("analysis", "simulation"));
}

TEST_F(Examples, ScaleUpAfterSuccess) {
  start("scale-up-after-success");
  succeed("small");
  EXPECT_THAT(started(), ElementsAre("large", "small"));
}

TEST_F(Examples, DoNotScaleUpAfterFailure) {
  start("scale-up-after-success");
  cluster_.fail("scale-up-after-success-small-0");
  cluster_.settle();
  EXPECT_THAT(started(), ElementsAre("small"));
  EXPECT_EQ(cluster_.condition("Failed"), "True FailedJobs");
}

TEST_F(Examples, ParameterServers) {
  start("parameter-servers");
  EXPECT_THAT(started(), ElementsAre("initializer"));
  succeed("initializer");
  EXPECT_THAT(started(), ElementsAre("initializer", "ps-a", "ps-b"));
  run("ps-a");
  EXPECT_THAT(started(), ElementsAre("initializer", "ps-a", "ps-b"));
  EXPECT_EQ(cluster_.message("muster.dev/Waiting"),
            "trainer-node waits for ps-b to be Ready: 0 of 1");
  run("ps-b");
  EXPECT_THAT(started(), ElementsAre("initializer", "ps-a", "ps-b", "trainer-node"));
  succeed("trainer-node");
  EXPECT_TRUE(is_completed());
  EXPECT_THAT(started(), ElementsAre("initializer", "trainer-node")) << "the servers are stopped";
}

TEST_F(Examples, TwoInitializers) {
  start("two-initializers");
  EXPECT_THAT(started(), ElementsAre("dataset-initializer", "model-initializer"));
  succeed("model-initializer");
  EXPECT_THAT(started(), ElementsAre("dataset-initializer", "model-initializer"));
  succeed("dataset-initializer");
  EXPECT_THAT(started(), ElementsAre("dataset-initializer", "model-initializer", "trainer"));
}

TEST_F(Examples, DriverThenWorkers) {
  start("driver-then-workers");
  EXPECT_THAT(started(), ElementsAre("driver"));
  run("driver");
  EXPECT_THAT(started(), ElementsAre("driver", "workers"));
  succeed("workers");
  EXPECT_TRUE(is_completed());
}

TEST_F(Examples, QueueDriverWorkers) {
  start("queue-driver-workers");
  EXPECT_THAT(started(), ElementsAre("messagequeue"));
  run("messagequeue");
  EXPECT_THAT(started(), ElementsAre("driver", "messagequeue"));
  run("driver");
  EXPECT_THAT(started(), ElementsAre("driver", "messagequeue", "worker"));
  EXPECT_EQ(cluster_.condition("StartupPolicyInProgress"), "True InOrderStartupPolicyInProgress");
  run("worker");
  EXPECT_EQ(cluster_.condition("StartupPolicyCompleted"), "True InOrderStartupPolicyCompleted");
}

}  // namespace examples_test
}  // namespace muster::controllers::jobset
