// For tests only: Jobs and pods written in few words.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "controllers/job/job_view.h"
#include "controllers/job/names.h"
#include "controllers/job/pod_view.h"
#include "controllers/runtime/testing.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"

namespace muster::controllers::job::testing {

inline const Time kStart = *parse_time("2026-03-01T00:00:00Z");

inline std::string stamp(std::chrono::seconds after_start) {
  return format_time(kStart + after_start);
}

// A pod of the Job "j" (uid "u-j"); without further words it is Pending and tracked.
class PodText {
 public:
  explicit PodText(std::string name) {
    tree_ = *json::parse(*arena_, R"({"metadata":{"namespace":"d","labels":{"job":"j"},
        "annotations":{},"creationTimestamp":"2026-03-01T00:00:00Z",
        "finalizers":["batch.kubernetes.io/job-tracking"],
        "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"u-j",
        "controller":true}]},"spec":{"nodeName":"n"},"status":{"phase":"Pending"}})");
    metadata().set("name", name);
    metadata().set("uid", "u-" + name);
  }
  PodText& index(std::int64_t index) { return annotation(kCompletionIndex, std::to_string(index)); }
  PodText& annotation(std::string_view key, std::string_view value) {
    metadata().get("annotations").set(key, value);
    return *this;
  }
  PodText& label(std::string_view key, std::string_view value) {
    metadata().get("labels").set(key, value);
    return *this;
  }
  PodText& unassigned() {
    tree_.get("spec").erase("nodeName");
    return *this;
  }
  PodText& untracked() {
    metadata().erase("finalizers");
    return *this;
  }
  PodText& uncontrolled() {
    metadata().erase("ownerReferences");
    return *this;
  }
  PodText& owner(std::string_view api_version, std::string_view kind) {
    const json::Value owner = metadata().get("ownerReferences").item(0);
    owner.set("apiVersion", api_version);
    owner.set("kind", kind);
    return *this;
  }
  PodText& deleted(std::chrono::seconds when = {}, int grace = 0) {
    metadata().set("deletionTimestamp", stamp(when + std::chrono::seconds(grace)));
    metadata().set("deletionGracePeriodSeconds", json::Value::of(grace));
    return *this;
  }
  PodText& created(std::chrono::seconds when) {
    metadata().set("creationTimestamp", stamp(when));
    return *this;
  }
  PodText& phase(std::string_view phase) {
    status().set("phase", phase);
    return *this;
  }
  PodText& ready(std::chrono::seconds since = {}) {
    phase("Running");
    return condition("Ready", "True", stamp(since));
  }
  PodText& condition(std::string_view type, std::string_view truth, std::string_view since = "") {
    json::Value condition = json::Value::object(*arena_);
    condition.set("type", type);
    condition.set("status", truth);
    if (!since.empty()) condition.set("lastTransitionTime", since);
    status().array_at("conditions").push_back(condition);
    return *this;
  }
  PodText& restarts(int count, std::string_view list = "containerStatuses") {
    json::Value container = container_status(list, "c");
    container.set("restartCount", json::Value::of(count));
    return *this;
  }
  PodText& sidecar(std::string_view name) {
    json::Value container = json::Value::object(*arena_);
    container.set("name", name);
    container.set("restartPolicy", "Always");
    tree_.get("spec").array_at("initContainers").push_back(container);
    return *this;
  }
  // A container that ended.
  PodText& exit(int code, std::string_view container = "c", std::chrono::seconds when = {},
                std::string_view list = "containerStatuses") {
    json::Value ended =
        container_status(list, container).object_at("state").object_at("terminated");
    ended.set("exitCode", json::Value::of(code));
    ended.set("finishedAt", stamp(when));
    return *this;
  }
  PodText& running(std::string_view container, std::string_view list = "containerStatuses") {
    container_status(list, container).object_at("state").object_at("running");
    return *this;
  }
  PodText& succeeded(std::chrono::seconds when = {}) {
    return phase("Succeeded").exit(0, "c", when);
  }
  PodText& failed(std::chrono::seconds when = {}, int code = 1) {
    return phase("Failed").exit(code, "c", when);
  }

  operator Pod() const {  // NOLINT
    return controllers::testing::read_as(read_pod, json::write(tree_));
  }

 private:
  json::Value metadata() const { return tree_.get("metadata"); }
  json::Value status() const { return tree_.get("status"); }
  json::Value container_status(std::string_view list, std::string_view name) {
    json::Value container = json::Value::object(*arena_);
    container.set("name", name);
    status().array_at(list).push_back(container);
    return container;
  }

  std::shared_ptr<json::Arena> arena_ = std::make_shared<json::Arena>();
  json::Value tree_;
};

inline PodText pod(std::string name) { return PodText(std::move(name)); }
// Of an Indexed Job.
inline PodText pod(std::int64_t index) { return PodText(fmt::format("j-{}", index)).index(index); }

// The Job "j": members of its spec and of its status, in JSON.
inline Job job(std::string_view spec, std::string_view status = "", std::string_view meta = "") {
  const auto comma = [](std::string_view text) { return text.empty() ? "" : ","; };
  return controllers::testing::read_as(
      read_job,
      fmt::format(R"({{"metadata":{{"name":"j","namespace":"d","uid":"u-j","resourceVersion":"1",)"
                  R"("generation":1{}{}}},"spec":{{"selector":{{"matchLabels":{{"job":"j"}}}},)"
                  R"("template":{{"metadata":{{"labels":{{"job":"j"}}}},)"
                  R"("spec":{{"restartPolicy":"Never","containers":[{{"name":"c"}}]}}}}{}{}}},)"
                  R"("status":{{{}}}}})",
                  comma(meta), meta, comma(spec), spec, status));
}

inline std::vector<const Pod*> pointers(const std::vector<Pod>& pods) {
  std::vector<const Pod*> out;
  for (const Pod& each : pods) out.push_back(&each);
  return out;
}

inline std::vector<std::string> names(const std::vector<const Pod*>& pods) {
  std::vector<std::string> out;
  for (const Pod* each : pods) out.push_back(each->ref.name);
  return out;
}

}  // namespace muster::controllers::job::testing
