// For tests only: a real API server over a store in memory, the Job controllers, and virtual time.
// The test plays the scheduler and the kubelet, and makes the server refuse things.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "controllers/job/controller.h"
#include "controllers/job/names.h"
#include "json/parse.h"
#include "json/write.h"
#include "server/api_server.h"
#include "store/durability.h"

namespace muster::controllers::job::testing {

class World {
 public:
  explicit World(const PodLimits& limits = {}, bool collects_garbage = false)
      : limits_(limits), collects_garbage_(collects_garbage) {
    log::configure(log::Level::kError, log::Format::kText);  // refusals are part of the story
    auto opened = store::Store::open(store::make_memory_durability(), api::Registry::builtin(),
                                     loop_->clock(), metrics, {.commit_inline = true});
    MUSTER_ASSERT(opened.has_value(), "a store in memory opens");
    store_ = *std::move(opened);
    api_ = std::make_unique<server::ApiServer>(*store_, api::Registry::builtin(), loop_->clock(),
                                               metrics, server::Options{});
    must("POST", "/api/v1/namespaces", R"({"metadata":{"name":"d"}})");
    must("POST", "/api/v1/namespaces/d/serviceaccounts",
         R"({"metadata":{"name":"default"},"automountServiceAccountToken":false})");
    start_controller();
  }

  // The Job "j". `spec`: members in JSON.
  void create_job(std::string_view spec, std::string_view restart_policy = "Never",
                  std::string_view name = "j") {
    must("POST", "/apis/batch/v1/namespaces/d/jobs",
         fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}{}"template":{{"spec":{{)"
                     R"("restartPolicy":"{}","terminationGracePeriodSeconds":30,)"
                     R"("containers":[{{"name":"c","image":"i"}}]}}}}}}}})",
                     name, spec, spec.empty() ? "" : ",", restart_policy));
    settle();
  }
  void patch_job(std::string_view change, std::string_view subresource = "") {
    must("PATCH", fmt::format("/apis/batch/v1/namespaces/d/jobs/j{}", subresource),
         std::string(change));
    settle();
  }
  int delete_job(std::string_view propagation) {
    const int status = ask("DELETE", "/apis/batch/v1/namespaces/d/jobs/j",
                           fmt::format(R"({{"propagationPolicy":"{}"}})", propagation));
    settle();
    return status;
  }

  // Pods, by name in the order of their indexes and then of their creation.
  std::vector<std::string> pods(std::string_view phase = "") {
    std::vector<std::tuple<std::string, std::string, std::string>> found;
    json::Arena arena;
    for (const json::Value pod : list(arena, "/api/v1/namespaces/d/pods").items()) {
      const std::string name(pod.get({"metadata", "name"}).as_string());
      const std::string_view index =
          pod.get({"metadata", "labels"}).get(kCompletionIndex).as_string();
      if (!phase.empty() && pod.get({"status", "phase"}).as_string() != phase) continue;
      order_.try_emplace(name, order_.size());
      found.emplace_back(fmt::format("{:>8}", index), fmt::format("{:>8}", order_[name]), name);
    }
    std::ranges::sort(found);
    std::vector<std::string> names;
    for (const auto& each : found) names.push_back(std::get<2>(each));
    return names;
  }
  // Active ones: neither ended nor going.
  std::vector<std::string> active() {
    std::vector<std::string> names;
    for (const std::string& name : pods()) {
      const std::string phase = pod(name, {"status", "phase"});
      if (phase != "Succeeded" && phase != "Failed" &&
          pod(name, {"metadata", "deletionTimestamp"}) == "null")
        names.push_back(name);
    }
    return names;
  }
  // Text at a path of a pod.
  std::string pod(const std::string& name, std::initializer_list<std::string_view> path) {
    json::Arena arena;
    const json::Value value = get(arena, "/api/v1/namespaces/d/pods/" + name).get(path);
    return value.is_string() ? std::string(value.as_string()) : json::write(value);
  }
  bool tracked(const std::string& name) {
    return pod(name, {"metadata", "finalizers"}).find(kTrackingFinalizer) != std::string::npos;
  }

  // The kubelet's part.
  void bind(const std::string& name) {
    must("POST", "/api/v1/namespaces/d/pods/" + name + "/binding",
         R"({"metadata":{},"target":{"kind":"Node","name":"n"}})");
  }
  void make_ready(const std::string& name) {
    set_status(name,
               fmt::format(R"({{"phase":"Running","conditions":[{{"type":"Ready","status":"True",)"
                           R"("lastTransitionTime":"{}"}}]}})",
                           now()));
  }
  void succeed(const std::string& name) { end(name, "Succeeded", 0); }
  void fail(const std::string& name, int code = 1) { end(name, "Failed", code); }
  void end(const std::string& name, std::string_view phase, int code) {
    set_status(name,
               fmt::format(R"({{"phase":"{}","conditions":[{{"type":"Ready","status":"False",)"
                           R"("lastTransitionTime":"{}"}}],"containerStatuses":[{{"name":"c",)"
                           R"("image":"i","imageID":"","ready":false,"restartCount":0,)"
                           R"("state":{{"terminated":{{"exitCode":{},"finishedAt":"{}"}}}}}}]}})",
                           phase, now(), code, now()));
  }
  void set_status(const std::string& name, const std::string& status) {
    must("PATCH", "/api/v1/namespaces/d/pods/" + name + "/status",
         fmt::format(R"({{"status":{}}})", status));
  }
  // What the test does in here happens before the controller looks.
  void at_once(const std::function<void()>& changes) {
    together(changes);
    settle();
  }
  void together(const std::function<void()>& changes) {
    together_ = true;
    changes();
    together_ = false;
  }
  int delete_pod(const std::string& name, std::string_view options = "{}") {
    const int status = ask("DELETE", "/api/v1/namespaces/d/pods/" + name, std::string(options));
    settle();
    return status;
  }

  // How the Job stands, in one line: what is 0 or absent is left out.
  std::string status() { return newest_; }
  // Every status that was stored since the last call.
  std::vector<std::string> statuses() { return std::exchange(statuses_, {}); }
  // Told about the Job, as "reason: message".
  std::vector<std::string> events() {
    std::vector<std::string> out;
    json::Arena arena;
    for (const json::Value event : list(arena, "/api/v1/namespaces/d/events").items()) {
      out.push_back(
          fmt::format("{}: {}", event.get("reason").as_string(), event.get("message").as_string()));
    }
    return out;
  }
  std::string at(std::initializer_list<std::string_view> path) {
    return text("/apis/batch/v1/namespaces/d/jobs/j", path);
  }
  // Text at a path of any object.
  std::string text(const std::string& target, std::initializer_list<std::string_view> path) {
    json::Arena arena;
    const json::Value value = get(arena, target).get(path);
    return value.is_string() ? std::string(value.as_string()) : json::write(value);
  }

  void settle() {
    if (!together_) loop_->run_for(Duration::zero());
  }
  void pass(Duration span) { loop_->run_for(span); }
  std::string now() const { return format_time(loop_->clock().now()); }

  void stop_controller() {
    controller_ = nullptr;
    shared_ = nullptr;
    going_ = nullptr;
    informers_ = nullptr;
  }
  void start_controller() {
    start();
    settle();
  }
  void start() {
    informers_ = std::make_unique<Informers>(client, api::Registry::builtin());
    shared_ = std::make_unique<Shared>(
        Shared{client, api::Registry::builtin(), *informers_, decisions, metrics, {}});
    shared_->pod_limits = limits_;
    going_ = std::make_unique<Going>(*informers_, collects_garbage_);
    shared_->going = going_.get();
    controller_ = std::make_unique<Controller>(*shared_);
    informers_->of("batch", "v1", "jobs").on_change([this](const auto& before, const auto& after) {
      if (!after || after->meta().name != "j") return;
      std::string line = describe(*after);
      if (before && line != newest_) statuses_.push_back(line);
      newest_ = std::move(line);
    });
    informers_->start();
  }
  bool idle() const { return controller_->idle(); }

  // The controller dies at its write number `at`, counted from 0, after that was stored or before;
  // another one takes its place.
  void die_at(int at, bool stored) {
    writes_to_live_ = at;
    dies_after_ = stored;
  }
  bool died() const { return died_; }

  // One request of the test's own; 2xx or it is a mistake in the test.
  void must(std::string method, std::string target, std::string body) {
    const int status = ask(std::move(method), target, std::move(body));
    MUSTER_ASSERT(status / 100 == 2, (target + ": " + answer_).c_str());
  }
  int ask(std::string method, std::string target, std::string body) {
    http::Request request{.method = std::move(method), .target = std::move(target)};
    const bool patch = request.method == "PATCH";
    request.headers.emplace_back("Content-Type",
                                 patch ? "application/merge-patch+json" : "application/json");
    request.body = std::move(body);
    own_request_ = true;
    transport_->send(std::move(request), [this](Result<client::Answer> answer) {
      status_ = answer->status;
      answer_ = answer->text();
    });
    own_request_ = false;
    settle();
    return together_ ? 200 : status_;
  }

  // Says what the server refuses of the controller's requests: an HTTP status, or 0.
  std::function<int(const http::Request&)> refuse = [](const http::Request&) { return 0; };
  std::vector<std::string> requests;  // the controller's writes: "POST /api/v1/…"

  Metrics metrics;
  DecisionLog decisions;

 private:
  json::Value get(json::Arena& arena, const std::string& target) {
    ask("GET", target, "");
    return *json::parse(arena, answer_);
  }
  json::Value list(json::Arena& arena, const std::string& target) {
    return get(arena, target).get("items");
  }

  void take(std::shared_ptr<http::Exchange> exchange) {
    const http::Request& request = exchange->request();
    const bool events = request.target.find("/events") != std::string::npos;
    if (!own_request_ && request.method != "GET" && !events) {
      requests.push_back(request.method + " " + request.target.substr(0, request.target.find('?')));
      if (die_if_due(exchange)) return;
      if (const int status = refuse(request); status != 0) {
        http::Response response{.status = status};
        response.body.push_back(http::Chunk::own(fmt::format(
            R"({{"kind":"Status","status":"Failure","reason":"{}","message":"refused","code":{}}})",
            status == 409 ? "Conflict" : "Forbidden", status)));
        return exchange->respond(std::move(response));
      }
    }
    api_->handle_as(std::move(exchange), server::master("test"));
  }

  // A dead controller sends nothing and hears nothing, but what it sent last may have arrived.
  bool die_if_due(const std::shared_ptr<http::Exchange>& exchange) {
    if (died_ || writes_to_live_ < 0 || writes_to_live_-- > 0) return false;
    died_ = true;
    if (dies_after_) api_->handle_as(exchange, server::master("test"));
    loop_->post([this] {
      stop_controller();
      loop_->post([this] { start(); });
    });
    return true;
  }

  static std::string describe(const store::Object& object) {
    json::Arena arena;
    const json::Value status = json::parse(arena, object.bytes())->get("status");
    std::string out;
    const auto add = [&](std::string text) { out += (out.empty() ? "" : " ") + text; };
    for (const std::string_view key : {"active", "ready", "terminating", "succeeded", "failed"}) {
      if (const auto count = status.get(key).as_int(); count != 0)
        add(fmt::format("{}={}", key, count));
    }
    for (const std::string_view key : {"succeeded", "failed"}) {
      const auto count = status.get({"uncountedTerminatedPods", key}).size();
      if (count != 0) add(fmt::format("uncounted.{}={}", key, count));
    }
    for (const std::string_view key : {"completedIndexes", "failedIndexes"}) {
      if (status.has(key)) add(fmt::format("{}={}", key, status.get(key).as_string()));
    }
    for (const json::Value condition : status.get("conditions").items()) {
      const bool holds = condition.get("status").as_string() == "True";
      add(fmt::format("{}{}", holds ? "" : "not-", condition.get("type").as_string()));
    }
    if (!status.has("startTime")) add("not-started");
    return out;
  }

  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(Time(std::chrono::seconds(1'800'000'000)));
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<server::ApiServer> api_;
  std::unique_ptr<client::Transport> transport_ = client::make_in_process_transport(
      *loop_, [this](std::shared_ptr<http::Exchange> exchange) { take(std::move(exchange)); });

 public:
  client::Client client{*transport_, "test"};

 private:
  PodLimits limits_;
  bool collects_garbage_;
  std::unique_ptr<Informers> informers_;
  std::unique_ptr<Going> going_;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Controller> controller_;
  bool own_request_ = false;
  bool together_ = false;
  int writes_to_live_ = -1;
  bool dies_after_ = false;
  bool died_ = false;
  int status_ = 0;
  std::string answer_;
  std::string newest_;
  std::vector<std::string> statuses_;
  std::map<std::string, std::size_t> order_;
};

}  // namespace muster::controllers::job::testing
