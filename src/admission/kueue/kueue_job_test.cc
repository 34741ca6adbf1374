// Jobs and queues: what happens to a Job that names a queue, and what may change then.
#include <gtest/gtest.h>

#include "admission/jobset/jobset_testing.h"

namespace muster::admission {
namespace kueue_job_test {

constexpr std::string_view kSpec = R"({"template": {"spec": {"restartPolicy": "Never",
    "containers": [{"name": "c", "image": "i"}]}}})";

std::string job_with(std::string_view labels, std::string_view owners = "[]") {
  return fmt::format(
      R"({{"metadata": {{"name": "j", "labels": {}, "ownerReferences": {}}}, "spec": {}}})", labels,
      owners, kSpec);
}

class QueuedJob : public testing::Test {
 protected:
  Outcome create(std::string_view text) const { return world.create("batch/v1", "Job", text); }
  Outcome patch(const Outcome& old, std::string_view change) const {
    return world.patch("batch/v1", "Job", old, change);
  }
  World world;
};

TEST_F(QueuedJob, StartsSuspended) {
  const Outcome made = create(job_with(R"({"kueue.x-k8s.io/queue-name": "q"})"));
  ASSERT_EQ(made.message(), "");
  EXPECT_TRUE(made.at({"spec", "suspend"}).as_bool());
}

TEST_F(QueuedJob, NeedsAQueue) {
  const Outcome made = create(job_with("{}"));
  ASSERT_EQ(made.message(), "");
  EXPECT_FALSE(made.at({"spec", "suspend"}).as_bool());
}

TEST_F(QueuedJob, OfAQueuedSetIsLeftToTheSet) {
  world.add("jobset.x-k8s.io/v1alpha2", "JobSet",
            R"({"metadata": {"name": "js", "labels": {"kueue.x-k8s.io/queue-name": "q"}}})");
  world.add("kueue.x-k8s.io/v1beta2", "LocalQueue", R"({"metadata": {"name": "default"}})");
  const Outcome made = create(job_with("{}", R"([{"apiVersion": "jobset.x-k8s.io/v1alpha2",
      "kind": "JobSet", "name": "js", "uid": "1", "controller": true}])"));
  ASSERT_EQ(made.message(), "");
  EXPECT_FALSE(made.at({"spec", "suspend"}).as_bool());
  EXPECT_TRUE(made.at({"metadata", "labels", "kueue.x-k8s.io/queue-name"}).is_null());
}

TEST_F(QueuedJob, JudgesItsLabels) {
  EXPECT_THAT(
      create(job_with(R"({"kueue.x-k8s.io/queue-name": "Q"})")).message(),
      testing::HasSubstr("metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"Q\": a "
                         "lowercase RFC 1123 subdomain"));
  EXPECT_THAT(create(job_with(R"({"kueue.x-k8s.io/max-exec-time-seconds": "x"})")).message(),
              testing::HasSubstr("strconv.Atoi: parsing \"x\": invalid syntax"));
  EXPECT_THAT(create(job_with(R"({"kueue.x-k8s.io/max-exec-time-seconds": "0"})")).message(),
              testing::HasSubstr("Invalid value: 0: should be greater than 0"));
}

TEST_F(QueuedJob, ChangesQueueOnlyWhileSuspended) {
  const Outcome waiting = create(job_with(R"({"kueue.x-k8s.io/queue-name": "q"})"));
  constexpr std::string_view kMove =
      R"({"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "r"}}})";
  EXPECT_EQ(patch(waiting, kMove).message(), "");
  const Outcome running = patch(waiting, R"({"spec": {"suspend": false}})");
  ASSERT_EQ(running.message(), "");
  EXPECT_THAT(
      patch(running, kMove).message(),
      testing::HasSubstr("metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"r\": "
                         "field is immutable"));
}

TEST_F(QueuedJob, KeepsItsPriorityClassButMayChangeIt) {
  const Outcome waiting = create(job_with(R"({"kueue.x-k8s.io/queue-name": "q"})"));
  const Outcome with_class =
      patch(waiting, R"({"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "a"}}})");
  ASSERT_EQ(with_class.message(), "");
  EXPECT_EQ(patch(with_class, R"({"spec": {"suspend": false},
                "metadata": {"labels": {"kueue.x-k8s.io/priority-class": "b"}}})")
                .message(),
            "");
  EXPECT_NE(
      patch(with_class, R"({"metadata": {"labels": {"kueue.x-k8s.io/priority-class": null}}})")
          .message(),
      "");
}

}  // namespace kueue_job_test
}  // namespace muster::admission
