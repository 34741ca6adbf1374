// A pod and its machine, with verbs: what happens is told, what is decided is read. For tests only.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "agent/lifecycle/machine.h"
#include "agent/lifecycle/pod_view.h"
#include "agent/lifecycle/status.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::agent::testing {

class Story {
 public:
  // The spec of a pod `p` in namespace `ns`, uid `u`.
  explicit Story(std::string_view spec, std::string_view annotations = "{}") {
    pod_ = *json::parse(
        arena_,
        fmt::format(R"({{"metadata":{{"name":"p","namespace":"ns","uid":"u","generation":1,)"
                    R"("annotations":{}}},"spec":{},"status":{{"phase":"Pending",)"
                    R"("qosClass":"BestEffort"}}}})",
                    annotations, spec));
    memory = fresh_memory(read_pod_view(pod_));
    memory.prepared = true;
    memory.start_time = now;
    memory.pod_ip = "127.1.0.7";
  }

  // Asks the machine until it has nothing to do; "start a", "hold a", "term a", "kill a" …
  std::vector<std::string> step() {
    std::vector<std::string> done;
    for (bool again = true; again;) {
      again = false;
      const PodView pod = view();
      const Decision decision = advance(pod, memory, backoff, now);
      look_again = decision.look_again;
      for (const Notice& notice : decision.notices)
        notices.push_back(notice.reason + ": " + notice.message);
      for (const Action& action : decision.actions) {
        done.push_back(carry_out(action, pod.containers[action.container].name));
        again = true;
      }
      again = again || (look_again && *look_again <= now);
    }
    tell();
    return done;
  }

  std::vector<std::string> starts(const std::string& container) {  // it was executed
    Run& run = run_of(container);
    run.held = false;
    run.started = now;
    return step();
  }
  std::vector<std::string> exits(const std::string& container, int code, std::string reason = "") {
    if (reason.empty()) reason = code == 0 ? "Completed" : "Error";
    run_of(container).end = End{.code = code, .reason = reason, .message = "", .finished = now};
    return step();
  }
  std::vector<std::string> passes(Duration span) {
    now += span;
    return step();
  }
  std::vector<std::string> is_deleted(int grace) {
    pod_.get("metadata").set("deletionTimestamp", format_time(now + std::chrono::seconds(grace)));
    pod_.get("metadata").set("deletionGracePeriodSeconds", json::Value::of(grace));
    return step();
  }

  Run& run_of(const std::string& container) {
    return *memory.containers[*view().find(container)].run;
  }
  PodView view() const { return read_pod_view(pod_); }
  json::Value status() const { return pod_.get("status"); }
  std::string phase() const { return std::string(status().get("phase").as_string()); }
  std::string condition(std::string_view type) const {  // "False ContainersNotReady"
    for (const json::Value each : status().get("conditions").items()) {
      if (each.get("type").as_string() != type) continue;
      std::string text(each.get("status").as_string());
      if (each.has("reason")) text += fmt::format(" {}", each.get("reason").as_string());
      return text;
    }
    return "";
  }
  // "waiting CrashLoopBackOff", "running", "terminated Error 1"
  std::string state(std::string_view container) const {
    const json::Value state = container_status(container).get("state");
    if (state.has("running")) return "running";
    if (const json::Value waiting = state.get("waiting"); waiting.is_object())
      return fmt::format("waiting {}", waiting.get("reason").as_string());
    const json::Value end = state.get("terminated");
    return fmt::format("terminated {} {}", end.get("reason").as_string(),
                       end.get("exitCode").as_int());
  }
  json::Value container_status(std::string_view container) const {
    for (const std::string_view part : {"initContainerStatuses", "containerStatuses"}) {
      for (const json::Value each : status().get(part).items()) {
        if (each.get("name").as_string() == container) return each;
      }
    }
    return {};
  }
  json::Value pod() const { return pod_; }

  PodMemory memory;
  Time now = Time(std::chrono::seconds(1'900'000'000));
  std::optional<Time> look_again;
  BackoffOptions backoff;
  std::vector<std::string> notices;
  bool gate_opens = true;

 private:
  std::string carry_out(const Action& action, const std::string& name) {
    switch (action.kind) {
      case Action::Kind::kStart: {
        Run& run = begin_run(memory, action.container, action.held);
        run.id = fmt::format("{}-{}", name, run.number);
        memory.containers[action.container].trouble.reset();
        return (action.held ? "hold " : "start ") + name;
      }
      case Action::Kind::kPostStart:
        return "post-start " + name;
      case Action::Kind::kPreStop:
        return "pre-stop " + name;
      case Action::Kind::kTerminate:
        return "term " + name;
      case Action::Kind::kKill:
        return "kill " + name;
      case Action::Kind::kOpenGate:
        if (gate_opens) {
          note_gate_open(memory);
        } else {
          note_gate_shut(memory, now + std::chrono::seconds(1));
        }
        return "open gate";
    }
    return "";
  }
  void tell() { pod_.set("status", write_status(arena_, view(), memory, pod_, now)); }

  json::Arena arena_;
  json::Value pod_;
};

}  // namespace muster::agent::testing
