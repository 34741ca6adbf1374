#include "controllers/runtime/in_flight.h"

#include <gtest/gtest.h>

namespace muster::controllers {
namespace in_flight_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

const QueueKey kPod{"d", "p"};
constexpr Duration kLongestRest = seconds(10);

// What happens to a decision about the object "u", which was made from revision 10 of it.
enum class Happens {
  kDecide,
  kDecideForVersion10,  // its write succeeds at that version only
  kSend,
  kAccept,    // without a revision in the answer
  kAccept12,  // the write made revision 12
  kRefuse,
  kLose,    // the answer
  kShow10,  // the informer, without the effect
  kShow11,
  kShow12,
  kShow13WithEffect,
  kShowAnother,  // of the same name
  kVanish,
  kRestart,  // of the process
  kRestEnds,
  kPatienceEnds,
};

enum class Stands {
  kNowhere,  // nothing is kept, another decision may be made
  kRests,    // it does not count, and no other is made
  kCounts,   // until something else happens
  kIsDue,    // it counts, and is to be sent
};

struct Row {
  std::string what;
  std::vector<Happens> story;
  Stands end;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.what; }

class Play {
 public:
  Stands stands() const {
    const bool counts = in_flight_->find(kPod) != nullptr;
    if (!in_flight_->contains(kPod)) return counts ? Stands::kCounts : Stands::kNowhere;
    if (!counts) return Stands::kRests;
    return in_flight_->due(kPod) != nullptr ? Stands::kIsDue : Stands::kCounts;
  }

  void go(Happens event) {
    using enum Happens;
    switch (event) {
      case kDecide:
        id_ = in_flight_->decide(kPod, "u", "node");
        break;
      case kDecideForVersion10:
        id_ = in_flight_->decide(kPod, "u", "node", 10);
        break;
      case kSend:
        in_flight_->sent(kPod, id_);
        break;
      case kAccept:
        in_flight_->answered(kPod, id_, Outcome::kAccepted, 0, now_);
        break;
      case kAccept12:
        in_flight_->answered(kPod, id_, Outcome::kAccepted, 12, now_);
        break;
      case kRefuse:
        in_flight_->answered(kPod, id_, Outcome::kRefused, 0, now_);
        break;
      case kLose:
        in_flight_->answered(kPod, id_, Outcome::kUnknown, 0, now_);
        break;
      case kShow10:
        in_flight_->observed(kPod, {.uid = "u", .revision = 10});
        break;
      case kShow11:
        in_flight_->observed(kPod, {.uid = "u", .revision = 11});
        break;
      case kShow12:
        in_flight_->observed(kPod, {.uid = "u", .revision = 12});
        break;
      case kShow13WithEffect:
        in_flight_->observed(kPod, {.uid = "u", .revision = 13, .shows_effect = true});
        break;
      case kShowAnother:
        in_flight_->observed(kPod, {.uid = "v", .revision = 13});
        break;
      case kVanish:
        in_flight_->forget(kPod);
        break;
      case kRestart:
        in_flight_.emplace(kLongestRest);
        break;
      case kRestEnds:
        pass(InFlight<std::string>::kFirstRest);
        break;
      case kPatienceEnds:
        pass(InFlight<std::string>::kPatience);
        break;
    }
  }

 private:
  void pass(Duration span) {
    now_ += span;
    in_flight_->expire(kPod, now_);
  }

  std::optional<InFlight<std::string>> in_flight_{std::in_place, kLongestRest};
  DecisionId id_ = 0;
  Duration now_{};
};

class InFlightTest : public ::testing::TestWithParam<Row> {};

TEST_P(InFlightTest, EndsAsItsStorySays) {
  Play play;
  for (const Happens event : GetParam().story) play.go(event);
  EXPECT_EQ(play.stands(), GetParam().end);
}

using enum Happens;

INSTANTIATE_TEST_SUITE_P(
    Sent, InFlightTest,
    ::testing::Values(
        Row{"it counts from the moment when it is made", {kDecide}, Stands::kIsDue},
        Row{"it is sent once", {kDecide, kSend}, Stands::kCounts},
        Row{"accepted: it counts until it is seen", {kDecide, kSend, kAccept}, Stands::kCounts},
        Row{"accepted: an old version proves nothing",
            {kDecide, kSend, kAccept12, kShow11},
            Stands::kCounts},
        Row{"accepted: its own version without the effect was overwritten",
            {kDecide, kSend, kAccept12, kShow12},
            Stands::kNowhere},
        Row{"accepted and seen", {kDecide, kSend, kAccept, kShow13WithEffect}, Stands::kNowhere},
        Row{"seen before the answer", {kDecide, kSend, kShow13WithEffect}, Stands::kNowhere},
        Row{"seen before the answer, which comes later",
            {kDecide, kSend, kShow13WithEffect, kAccept},
            Stands::kNowhere}));

INSTANTIATE_TEST_SUITE_P(
    Refused, InFlightTest,
    ::testing::Values(
        Row{"it counts no more, and rests", {kDecide, kSend, kRefuse}, Stands::kRests},
        Row{"news of the object do not end the rest",
            {kDecide, kSend, kRefuse, kShow11},
            Stands::kRests},
        Row{"another decision may be made afterwards",
            {kDecide, kSend, kRefuse, kRestEnds},
            Stands::kNowhere},
        Row{"somebody else did it", {kDecide, kSend, kRefuse, kShow13WithEffect}, Stands::kNowhere},
        Row{"the refusal of an earlier decision is ignored",
            {kDecide, kSend, kDecide, kRefuse},
            Stands::kIsDue}));

INSTANTIATE_TEST_SUITE_P(
    AnswerLost, InFlightTest,
    ::testing::Values(Row{"it counts, and is sent again", {kDecide, kSend, kLose}, Stands::kIsDue},
                      Row{"it had been carried out",
                          {kDecide, kSend, kLose, kShow13WithEffect},
                          Stands::kNowhere},
                      Row{"it had not, and the second one succeeds",
                          {kDecide, kSend, kLose, kSend, kAccept},
                          Stands::kCounts},
                      Row{"the second one is refused: the first may have succeeded",
                          {kDecide, kSend, kLose, kSend, kRefuse},
                          Stands::kCounts},
                      Row{"and has succeeded",
                          {kDecide, kSend, kLose, kSend, kRefuse, kShow13WithEffect},
                          Stands::kNowhere},
                      Row{"an unrelated change proves nothing",
                          {kDecide, kSend, kLose, kSend, kRefuse, kShow11},
                          Stands::kCounts},
                      Row{"nothing is ever seen of it",
                          {kDecide, kSend, kLose, kSend, kRefuse, kPatienceEnds},
                          Stands::kNowhere},
                      Row{"lost twice", {kDecide, kSend, kLose, kSend, kLose}, Stands::kIsDue}));

INSTANTIATE_TEST_SUITE_P(
    ChangedMeanwhile, InFlightTest,
    ::testing::Values(
        Row{"of any version: the owner knows", {kDecide, kSend, kShow11}, Stands::kCounts},
        Row{"the version that it was made from",
            {kDecideForVersion10, kSend, kShow10},
            Stands::kCounts},
        Row{"of one version: not sent yet", {kDecideForVersion10, kShow11}, Stands::kNowhere},
        Row{"of one version: it cannot succeed any more",
            {kDecideForVersion10, kSend, kShow11},
            Stands::kNowhere},
        Row{"of one version: the lost answer was a refusal",
            {kDecideForVersion10, kSend, kLose, kShow11},
            Stands::kNowhere},
        Row{"of one version: accepted before the informer shows the version between",
            {kDecideForVersion10, kSend, kAccept12, kShow11},
            Stands::kCounts}));

INSTANTIATE_TEST_SUITE_P(
    DeletedOrReplaced, InFlightTest,
    ::testing::Values(
        Row{"deleted before it is sent", {kDecide, kVanish}, Stands::kNowhere},
        Row{"deleted while it is sent", {kDecide, kSend, kVanish}, Stands::kNowhere},
        Row{"the answer comes later", {kDecide, kSend, kVanish, kAccept}, Stands::kNowhere},
        Row{"another object of that name", {kDecide, kSend, kShowAnother}, Stands::kNowhere},
        Row{"decided anew for the other object: the old answer is not its own",
            {kDecide, kSend, kShowAnother, kDecide, kAccept},
            Stands::kIsDue}));

INSTANTIATE_TEST_SUITE_P(
    ProcessRestarted, InFlightTest,
    ::testing::Values(Row{"nothing is in flight", {kDecide, kSend, kRestart}, Stands::kNowhere},
                      Row{"the state shows what was sent",
                          {kDecide, kSend, kRestart, kShow13WithEffect},
                          Stands::kNowhere},
                      // The new process decides before the old write has taken effect; the server
                      // refuses the second one, and the state shows the first.
                      Row{"decided again too soon: it counts once",
                          {kDecide, kSend, kRestart, kDecide, kSend, kRefuse},
                          Stands::kRests},
                      Row{"and is then seen",
                          {kDecide, kSend, kRestart, kDecide, kSend, kRefuse, kShow13WithEffect},
                          Stands::kNowhere}));

TEST(InFlight, EachRefusalInARowMeansALongerRest) {
  InFlight<std::string> in_flight(milliseconds(12));
  Duration now{};
  const auto rest_after_refusal = [&] {
    const DecisionId id = in_flight.decide(kPod, "u", "node");
    in_flight.sent(kPod, id);
    in_flight.answered(kPod, id, Outcome::kRefused, 0, now);
    const Duration rest = *in_flight.all().at(kPod).until - now;
    EXPECT_FALSE(in_flight.expire(kPod, now + rest - Duration(1)));
    EXPECT_TRUE(in_flight.expire(kPod, now += rest));
    return rest;
  };
  EXPECT_EQ(rest_after_refusal(), milliseconds(5));
  EXPECT_EQ(rest_after_refusal(), milliseconds(10));
  EXPECT_EQ(rest_after_refusal(), milliseconds(12)) << "the longest";
  in_flight.forget(kPod);
  EXPECT_EQ(rest_after_refusal(), milliseconds(5));
}

TEST(InFlight, WhatMayHaveHappenedIsNoRefusal) {
  for (const Code code : {Code::kUnavailable, Code::kTimeout, Code::kInternal, Code::kUntranslated,
                          Code::kTooManyRequests})
    EXPECT_EQ(outcome_of(Error{code, "?"}), Outcome::kUnknown);
  for (const Code code : {Code::kConflict, Code::kNotFound, Code::kForbidden, Code::kInvalid})
    EXPECT_EQ(outcome_of(Error{code, "no"}), Outcome::kRefused);
}

}  // namespace in_flight_test
}  // namespace muster::controllers
