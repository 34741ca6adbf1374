#include "controllers/runtime/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"
#include "json/testing.h"

namespace muster::controllers {
namespace events_test {

using json::IsJson;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Events : public ::testing::Test {
 protected:
  std::unique_ptr<EventRecorder> recorder(EventRecorder::Form form, std::string reporter) {
    return make_event_recorder(server_.client, api::Registry::builtin(), std::move(reporter), form);
  }
  static Event event(std::string message, std::string ns = "d") {
    return {.regarding = {.api_version = "batch/v1",
                          .kind = "Job",
                          .ns = std::move(ns),
                          .name = "j",
                          .uid = "u-1",
                          .resource_version = "7"},
            .warning = true,
            .reason = "Failed",
            .message = std::move(message)};
  }
  json::Value body(std::size_t at = 0) {
    server_.settle();
    return server_.asked.at(at).json(arena_);
  }

  testing::FakeServer server_;
  json::Arena arena_;
};

TEST_F(Events, TheCoreFormHasSourceCountAndTimes) {
  const auto events = recorder(EventRecorder::Form::kCore, "job-controller");
  events->record(event("broke"));
  EXPECT_THAT(server_.waiting(), ElementsAre("POST /api/v1/namespaces/d/events"));
  EXPECT_THAT(body(), IsJson(R"({"apiVersion":"v1","kind":"Event",
    "metadata":{"name":"j.18fae27693b40000","namespace":"d"},
    "reason":"Failed","type":"Warning","message":"broke",
    "involvedObject":{"kind":"Job","namespace":"d","name":"j","uid":"u-1","apiVersion":"batch/v1","resourceVersion":"7"},
    "source":{"component":"job-controller"},"reportingComponent":"job-controller","reportingInstance":"",
    "firstTimestamp":"2027-01-15T08:00:00Z","lastTimestamp":"2027-01-15T08:00:00Z","count":1})"));
}

TEST_F(Events, ANodeNamesItselfAndThePartThatIsMeant) {
  const auto events = make_event_recorder(server_.client, api::Registry::builtin(), "kubelet",
                                          EventRecorder::Form::kCore, "node-0");
  Event first = event("Container started"), second = first;
  first.regarding.field_path = "spec.containers{a}";
  second.regarding.field_path = "spec.containers{b}";
  events->record(first);
  events->record(second);
  EXPECT_EQ(server_.waiting().size(), 2u) << "the same words about another part are another event";
  EXPECT_EQ(body().get({"source", "host"}).as_string(), "node-0");
  EXPECT_EQ(body().get({"involvedObject", "fieldPath"}).as_string(), "spec.containers{a}");
}

TEST_F(Events, ARepetitionOfTheCoreFormGrowsTheCount) {
  const auto events = recorder(EventRecorder::Form::kCore, "job-controller");
  events->record(event("broke"));
  server_.answer_object("j.1", 5);
  server_.pass_time(std::chrono::seconds(2));
  events->record(event("broke"));
  EXPECT_THAT(server_.waiting(),
              ElementsAre("PATCH /api/v1/namespaces/d/events/j.18fae27693b40000"));
  EXPECT_THAT(body(), IsJson(R"({"count":2,"lastTimestamp":"2027-01-15T08:00:02Z",
    "message":"broke","metadata":{}})"));
}

TEST_F(Events, TheSeriesFormHasRegardingNoteAndAction) {
  const auto events = recorder(EventRecorder::Form::kSeries, "jobset");
  events->record(event("broke"));
  EXPECT_THAT(server_.waiting(), ElementsAre("POST /apis/events.k8s.io/v1/namespaces/d/events"));
  EXPECT_THAT(body(), IsJson(R"({"apiVersion":"events.k8s.io/v1","kind":"Event",
    "metadata":{"name":"j.18fae27693b40000","namespace":"d"},
    "reason":"Failed","type":"Warning","note":"broke","action":"Reconciling",
    "regarding":{"kind":"Job","namespace":"d","name":"j","uid":"u-1","apiVersion":"batch/v1","resourceVersion":"7"},
    "reportingController":"jobset","reportingInstance":"jobset-muster",
    "eventTime":"2027-01-15T08:00:00.000000Z"})"));
  server_.answer_object("j.1", 5);
  server_.pass_time(std::chrono::seconds(2));
  events->record(event("broke"));
  server_.settle();
  EXPECT_THAT(body(), IsJson(R"({"series":{"count":2,
    "lastObservedTime":"2027-01-15T08:00:02.000000Z"},"metadata":{}})"));
}

TEST_F(Events, ANoteIsCutAtAWholeLetter) {
  const auto events = recorder(EventRecorder::Form::kSeries, "jobset");
  const std::string fits(1'023, 'a');
  events->record(event(fmt::format("{}ä and more", fits)));
  EXPECT_EQ(body().get("note").as_string(), fits);
}

TEST_F(Events, OneObjectHasOneWriteUnderWayAndCatchesUpAfterwards) {
  const auto events = recorder(EventRecorder::Form::kCore, "job-controller");
  for (int i = 0; i < 4; ++i) events->record(event("broke"));
  EXPECT_EQ(server_.waiting().size(), 1u);
  EXPECT_EQ(body().get("count").as_int(), 1);
  server_.answer_object("j.1", 5);
  EXPECT_EQ(server_.waiting().size(), 1u);
  EXPECT_EQ(body().get("count").as_int(), 4);
  server_.answer_object("j.1", 6);
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(Events, EightWritesAreUnderWayOverall) {
  const auto events = recorder(EventRecorder::Form::kCore, "job-controller");
  for (int i = 0; i < 20; ++i) {
    Event one = event("broke");
    one.regarding.name = fmt::format("j-{}", i);
    events->record(one);
  }
  EXPECT_EQ(server_.waiting().size(), 8u);
  for (int i = 0; i < 20; ++i) server_.answer_object("j", 5);
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(Events, AnObjectWithoutNamespaceIsToldInDefault) {
  const auto events = recorder(EventRecorder::Form::kCore, "job-controller");
  events->record(event("broke", ""));
  EXPECT_THAT(server_.waiting(), ElementsAre("POST /api/v1/namespaces/default/events"));
}

TEST_F(Events, AnExpiredEventIsCreatedAgainWithItsCount) {
  const auto events = recorder(EventRecorder::Form::kCore, "job-controller");
  events->record(event("broke"));
  server_.answer_object("j.1", 5);
  events->record(event("broke"));
  server_.refuse(404, "NotFound");
  EXPECT_THAT(server_.waiting(), ElementsAre("POST /api/v1/namespaces/d/events"));
  EXPECT_EQ(body().get("count").as_int(), 2);
}

TEST_F(Events, ANameThatIsTakenIsChangedAFewTimes) {
  const auto events = recorder(EventRecorder::Form::kCore, "job-controller");
  events->record(event("broke"));
  std::string last;
  for (int i = 0; i < 4; ++i) {
    const std::string name(body().get({"metadata", "name"}).as_string());
    EXPECT_NE(name, last);
    last = name;
    server_.refuse(409, "AlreadyExists");
  }
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(Events, ARefusedEventIsLostAndTheNextOneIsTriedAgain) {
  const auto events = recorder(EventRecorder::Form::kCore, "job-controller");
  events->record(event("broke"));
  server_.refuse(403, "Forbidden");
  EXPECT_THAT(server_.waiting(), IsEmpty());
  events->record(event("broke"));
  EXPECT_THAT(server_.waiting(), ElementsAre("POST /api/v1/namespaces/d/events"));
}

TEST_F(Events, AnAnswerAfterTheRecorderIsGoneHurtsNobody) {
  auto events = recorder(EventRecorder::Form::kCore, "job-controller");
  events->record(event("broke"));
  server_.settle();
  events = nullptr;
  server_.answer_object("j.1", 5);
}

}  // namespace events_test
}  // namespace muster::controllers
