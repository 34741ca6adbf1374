// For tests only: a scheduler in virtual time, with the test as its server.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controllers/runtime/testing.h"
#include "scheduler/scheduler.h"

namespace muster::scheduler {

inline constexpr const char* kPods = "/api/v1/pods";
inline constexpr const char* kNodes = "/api/v1/nodes";
inline constexpr const char* kNamespaces = "/api/v1/namespaces";

class SchedulerTest : public controllers::testing::EngineTest {
 protected:
  SchedulerTest() { informers_.start(); }
  static controllers::Shared& with(controllers::Going& going, controllers::Shared& shared) {
    shared.going = &going;
    return shared;
  }

  void complete() { server_.complete_all(++revision_); }
  void node_of_forty_places() {
    server_.show(kNodes, "ADDED",
                 fmt::format(R"({{"metadata":{{"name":"a","uid":"u-a","resourceVersion":"{}"}},
                   "spec":{{}},"status":{{"allocatable":{{"pods":"40"}}}}}})",
                             ++revision_));
  }
  void node(std::string_view name, std::string_view cpu = "4", std::string_view more = "",
            std::string_view type = "ADDED") {
    server_.show(kNodes, type,
                 fmt::format(R"({{"metadata":{{"name":"{0}","uid":"u-{0}","resourceVersion":"{1}"}},
                   "spec":{{{3}}},"status":{{"allocatable":{{"cpu":"{2}","pods":"10"}}}}}})",
                             name, ++revision_, cpu, more));
  }
  void pod(std::string_view name, std::string_view cpu, std::string_view spec = "",
           std::string_view type = "ADDED", std::string_view status = "") {
    server_.show(kPods, type,
                 fmt::format(R"({{"metadata":{{"namespace":"d","name":"{0}","uid":"u-{0}",
                   "resourceVersion":"{1}","creationTimestamp":"2027-01-01T00:00:00Z"}},
                   "spec":{{{3}"containers":[{{"name":"c","resources":{{"requests":
                   {{"cpu":"{2}"}}}}}}]}},"status":{{"phase":"Pending"{4}}}}})",
                             name, ++revision_, cpu, spec, status));
  }
  // A pod of a JobSet.
  void member(std::string_view set, std::string_view name, std::string_view cpu) {
    server_.show(kPods, "ADDED",
                 fmt::format(R"({{"metadata":{{"namespace":"d","name":"{0}","uid":"u-{0}",
                   "labels":{{"jobset.sigs.k8s.io/jobset-name":"{3}"}},
                   "resourceVersion":"{1}","creationTimestamp":"2027-01-01T00:00:00Z"}},
                   "spec":{{"containers":[{{"name":"c","resources":{{"requests":
                   {{"cpu":"{2}"}}}}}}]}},"status":{{"phase":"Pending"}}}})",
                             name, ++revision_, cpu, set));
  }
  // Answers all bindings and refusals; returns the pods that were bound.
  std::vector<std::string> bound() {
    std::vector<std::string> pods;
    while (!writes().empty()) {
      const std::string text = server_.asked.front().text();
      if (text.ends_with("/binding")) {
        const auto from = text.find("/pods/") + 6;
        pods.push_back(text.substr(from, text.rfind('/') - from));
        accept();
      } else {
        server_.answer_object("x", 1);
      }
    }
    return pods;
  }
  void gone(std::string_view name) { pod(name, "1", "", "DELETED"); }
  // The Job "j" of the JobSet "s".
  void job(std::string_view type) {
    server_.show("/apis/batch/v1/jobs", type,
                 fmt::format(R"({{"metadata":{{"namespace":"d","name":"j","uid":"u-j",
                   "resourceVersion":"{}","ownerReferences":[
                   {{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":"s",
                   "uid":"u-s","controller":true}}]}},"spec":{{}}}})",
                             ++revision_));
  }
  void job_set(std::string_view type, std::string_view more = "") {
    server_.show("/apis/jobset.x-k8s.io/v1alpha2/jobsets", type,
                 fmt::format(R"({{"metadata":{{"namespace":"d","name":"s","uid":"u-s",
                   "resourceVersion":"{}"{}}},"spec":{{}}}})",
                             ++revision_, more));
  }
  // A pod of that Job.
  void child(std::string_view name, std::string_view type = "ADDED") {
    server_.show(kPods, type,
                 fmt::format(R"({{"metadata":{{"namespace":"d","name":"{0}","uid":"u-{0}",
                   "resourceVersion":"{1}","creationTimestamp":"2027-01-01T00:00:00Z",
                   "ownerReferences":[{{"apiVersion":"batch/v1","kind":"Job","name":"j",
                   "uid":"u-j","controller":true}}]}},
                   "spec":{{"containers":[{{"name":"c","resources":{{"requests":
                   {{"cpu":"1"}}}}}}]}},"status":{{"phase":"Pending"}}}})",
                             name, ++revision_));
  }
  // Six pods of the Job, four of which have a node.
  void begin_with_a_job() {
    node("a");  // 4 CPUs
    job_set("ADDED");
    job("ADDED");
    complete();
    for (int i = 0; i < 6; ++i) child(fmt::format("p{}", i));
    ASSERT_THAT(bound(), ::testing::ElementsAre("p0", "p1", "p2", "p3"));
  }

  // Requests other than events, which are answered and kept as "reason: note".
  std::vector<std::string> writes() {
    server_.settle();
    for (auto at = server_.asked.begin(); at != server_.asked.end();) {
      if (at->text().find("/events") == std::string::npos) {
        ++at;
        continue;
      }
      json::Arena arena;
      const json::Value event = at->json(arena);
      told_.push_back(
          fmt::format("{}: {}", event.get("reason").as_string(), event.get("note").as_string()));
      at->exchange->respond({.status = 201, .headers = {}, .body = {}});
      at = server_.asked.erase(at);
      server_.settle();
    }
    std::vector<std::string> texts;
    for (const auto& each : server_.asked) texts.push_back(each.text());
    return texts;
  }
  std::string target() {
    json::Arena arena;
    return std::string(server_.asked.front().json(arena).get({"target", "name"}).as_string());
  }
  void accept() { server_.answer(201, R"({"kind":"Status","metadata":{},"status":"Success"})"); }

  static std::string binding(std::string_view pod) {
    return fmt::format("POST /api/v1/namespaces/d/pods/{}/binding", pod);
  }
  static std::string status(std::string_view pod) {
    return fmt::format("PATCH /api/v1/namespaces/d/pods/{}/status", pod);
  }

  controllers::Going going_{informers_, true};
  Scheduler controller_{with(going_, shared_)};
  std::vector<std::string> told_;
  int revision_ = 0;
};

}  // namespace muster::scheduler
