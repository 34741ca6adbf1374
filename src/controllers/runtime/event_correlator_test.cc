#include "controllers/runtime/event_correlator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::controllers {
namespace event_correlator_test {

using std::chrono::minutes;
using std::chrono::seconds;

class Correlator : public ::testing::Test {
 protected:
  // "message xcount", or "cut".
  std::string see(std::string message, std::string reason = "Created", std::string object = "j") {
    const auto record =
        correlator_.observe({.regarding = {.kind = "Job", .ns = "d", .name = object},
                             .reason = std::move(reason),
                             .message = std::move(message)},
                            now_);
    if (!record) return "cut";
    name_ = record->name;
    return fmt::format("{} x{}", record->event.message, record->count);
  }

  EventCorrelator correlator_;
  Time now_{seconds(1'800'000'000)};
  std::string name_;
};

TEST_F(Correlator, RepetitionsAreOneObjectWithACount) {
  EXPECT_EQ(see("made p-1"), "made p-1 x1");
  const std::string first = name_;
  EXPECT_EQ(see("made p-1"), "made p-1 x2");
  EXPECT_EQ(name_, first);
}

TEST_F(Correlator, AnotherMessageReasonTypeOrObjectIsAnotherEvent) {
  see("made");
  const std::string first = name_;
  EXPECT_EQ(see("made it"), "made it x1");
  EXPECT_EQ(see("made", "Deleted"), "made x1");
  EXPECT_EQ(see("made", "Created", "k"), "made x1");
  const auto warning = correlator_.observe({.regarding = {.kind = "Job", .ns = "d", .name = "j"},
                                            .warning = true,
                                            .reason = "Created",
                                            .message = "made"},
                                           now_);
  EXPECT_EQ(warning->count, 1);
  EXPECT_NE(warning->name, first);
}

TEST_F(Correlator, AClockThatIsSetBackSilencesNobody) {
  EXPECT_EQ(see("made"), "made x1");
  now_ -= std::chrono::hours(24);
  EXPECT_EQ(see("made"), "made x2");
}

// Spec job 2.13: a Job that creates 40 pods at once tells nine single events and a combined one
// whose count is 16.
TEST_F(Correlator, FortyPodsAtOnce) {
  std::vector<std::string> told;
  for (int pod = 0; pod < 40; ++pod) told.push_back(see(fmt::format("made p-{}", pod)));
  for (int pod = 0; pod < 9; ++pod) EXPECT_EQ(told[pod], fmt::format("made p-{} x1", pod));
  for (int pod = 9; pod < 25; ++pod) {
    EXPECT_EQ(told[pod],
              fmt::format("(combined from similar events): made p-{} x{}", pod, pod - 8));
  }
  for (int pod = 25; pod < 40; ++pod) EXPECT_EQ(told[pod], "cut");
}

TEST_F(Correlator, AMessageOfTheFirstNineStaysItselfBesideTheCombinedOne) {
  for (int pod = 0; pod < 12; ++pod) see(fmt::format("made p-{}", pod));
  EXPECT_EQ(see("made p-3"), "made p-3 x2");
}

TEST_F(Correlator, AfterTenQuietMinutesMessagesAreSingleAgain) {
  for (int pod = 0; pod < 12; ++pod) see(fmt::format("made p-{}", pod));
  now_ += minutes(10);
  EXPECT_EQ(see("made x"), "(combined from similar events): made x x4");
  now_ += minutes(10) + seconds(1);
  EXPECT_EQ(see("made y"), "made y x1");
}

TEST_F(Correlator, TheBucketFillsByOneEveryFiveMinutesAndCountsWhatItCut) {
  for (int i = 0; i < 25; ++i) EXPECT_EQ(see("again"), fmt::format("again x{}", i + 1));
  EXPECT_EQ(see("again"), "cut");
  now_ += seconds(299);
  EXPECT_EQ(see("again"), "cut");
  EXPECT_EQ(see("made", "Created", "other"), "made x1");
  now_ += seconds(1);
  EXPECT_EQ(see("again"), "again x28");
  EXPECT_EQ(see("again"), "cut");
}

TEST_F(Correlator, NamesAreTheObjectAndNanosecondsAndNeverRepeat) {
  see("a");
  EXPECT_EQ(name_, fmt::format("j.{:x}", 1'800'000'000'000'000'000));
  see("b");
  EXPECT_EQ(name_, fmt::format("j.{:x}", 1'800'000'000'000'000'001));
  see("c", "Created", std::string(253, 'n'));
  EXPECT_EQ(name_.size(), 253u);
}

TEST_F(Correlator, RemembersABoundedNumber) {
  for (std::size_t i = 0; i <= EventCorrelator::kMaxRemembered; ++i)
    see("made", "Created", fmt::format("j-{}", i));
  EXPECT_EQ(see("made", "Created", "j-0"), "made x1") << "forgotten: it was not used for longest";
  EXPECT_EQ(see("made", "Created", "j-9"), "made x2");
}

}  // namespace event_correlator_test
}  // namespace muster::controllers
