// A node in virtual time: the real API server over a store in memory, the real agent, a machine
// whose processes are data. For tests only.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "base/metrics.h"
#include "json/parse.h"
#include "json/write.h"
#include "runtime/fake_runtime.h"
#include "server/api_server.h"
#include "server/bootstrap.h"
#include "store/durability.h"

namespace muster::agent::testing {

class FakeNames final : public Names {
 public:
  Result<std::string> add(const Pod& pod, std::string_view known) override {
    auto& address = addresses[pod.uid];
    if (address.empty())
      address = known.empty() ? fmt::format("127.9.0.{}", ++last_) : std::string(known);
    return address;
  }
  void remove(std::string_view uid) override { addresses.erase(std::string(uid)); }
  void settle() override { settled = true; }
  std::string hosts_file(std::string_view ns) const override {
    return fmt::format("/hosts/{}", ns);
  }
  std::string block() const override { return "127.9.0.0/16"; }

  std::map<std::string, std::string> addresses;
  bool settled = false;

 private:
  int last_ = 0;
};

class TestNode {
 public:
  static constexpr Time kStart{std::chrono::seconds(1'900'000'000)};

  explicit TestNode(std::unique_ptr<VirtualLoop> on = make_virtual_loop(kStart))
      : loop(std::move(on)) {
    std::string pattern = std::filesystem::temp_directory_path() / "agent-test-XXXXXX";
    MUSTER_ASSERT(::mkdtemp(pattern.data()) != nullptr, "a folder for the test");
    directory = pattern;
    auto opened = store::Store::open(store::make_memory_durability(), api::Registry::builtin(),
                                     loop->clock(), metrics_, {.commit_inline = true});
    store_ = *std::move(opened);
    server_ = std::make_unique<server::ApiServer>(*store_, api::Registry::builtin(), loop->clock(),
                                                  metrics_, server::Options{});
    MUSTER_ASSERT(server::bootstrap(*server_).has_value(), "an empty cluster begins");
    transport_ =
        client::make_in_process_transport(*loop, [this](std::shared_ptr<http::Exchange> exchange) {
          ++requests[exchange->request().method];
          server_->handle_as(std::move(exchange), server::master("test"));
        });
    client_ = std::make_unique<client::Client>(*transport_, "test", Rng(1));
    post(R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}})");
    options.facts = {.hostname = "here",
                     .address = "127.0.0.1",
                     .cpu_millis = 4000,
                     .memory_bytes = std::int64_t{8} << 30,
                     .disk_bytes = std::int64_t{100} << 30,
                     .gpus = {},
                     .architecture = "amd64"};
    options.data_directory = directory;
  }
  ~TestNode() {
    agent = nullptr;
    runtime_ = nullptr;
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }

  // An agent begins; one that was there is gone, as by kill -9.
  void start_agent() {
    agent = nullptr;
    names.addresses.clear();  // a new process has them from those that it adopts
    prepare_runtime();
    agent = std::make_unique<Agent>(*client_, api::Registry::builtin(), *runtime_, names, options);
    agent->start();
    settle();
  }
  void stop_agent() {
    agent = nullptr;
    runtime_ = nullptr;
  }

  // Runs what is due now, and what is gathered for a moment before it is told.
  void settle() { loop->run_for(std::chrono::milliseconds(300)); }
  void pass(Duration span) {
    loop->run_for(span);
    settle();
  }

  Result<std::string> send(client::Operation operation) {
    std::optional<Result<std::string>> answer;
    client_->write(operation, [&](Result<std::string> came) { answer = std::move(came); });
    while (!answer) loop->run_for(Duration::zero());
    return *std::move(answer);
  }
  // Without waiting for the answer, which must be a good one.
  void submit(const client::Operation& operation) {
    client_->write(operation, [](const Result<std::string>& answer) {
      MUSTER_ASSERT(answer.has_value(), answer.error().message.c_str());
    });
  }
  static client::Operation creation(std::string body) {
    json::Arena arena;
    const json::Value tree = *json::parse(arena, body);
    const auto* const resource = api::Registry::builtin().find_kind(
        tree.get("apiVersion").as_string(), tree.get("kind").as_string());
    return {.verb = client::Verb::kCreate,
            .resource = resource,
            .ns = resource->namespaced ? "default" : "",
            .body = std::move(body)};
  }
  void post(std::string body) {
    const auto made = send(creation(std::move(body)));
    MUSTER_ASSERT(made.has_value(), made.error().message.c_str());
  }
  // A pod in namespace default that is bound already.
  static std::string pod_text(std::string_view name, std::string_view spec,
                              std::string_view node = "here", std::string_view annotations = "{}") {
    json::Arena arena;
    const json::Value pod = *json::parse(
        arena, fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}",)"
                           R"("namespace":"default","annotations":{}}},"spec":{}}})",
                           name, annotations, spec));
    pod.get("spec").set("nodeName", node);
    for (const std::string_view part : {"initContainers", "containers"}) {
      for (const json::Value container : pod.get({"spec", part}).items()) {
        if (!container.has("image")) container.set("image", "none");
        if (!container.has("command"))
          container.array_at("command").push_back(json::Value::view("x"));
      }
    }
    return json::write(pod);
  }
  void make_pod(std::string_view name, std::string_view spec, std::string_view node = "here",
                std::string_view annotations = "{}") {
    post(pod_text(name, spec, node, annotations));
    settle();
  }
  client::Operation deletion(std::string_view name, int grace) const {
    return {.verb = client::Verb::kDelete,
            .resource = &pods,
            .ns = "default",
            .name = std::string(name),
            .body = fmt::format(R"({{"gracePeriodSeconds":{}}})", grace)};
  }
  void delete_pod(std::string_view name, int grace) {
    static_cast<void>(send(deletion(name, grace)));
    settle();
  }
  void make_config_map(std::string_view name, std::string_view data) {
    post(fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":)"
                     R"({{"name":"{}","namespace":"default"}},"data":{}}})",
                     name, data));
    settle();
  }
  static client::Operation config_map_patch(std::string_view name, std::string_view data) {
    return {.verb = client::Verb::kPatch,
            .resource = api::Registry::builtin().find("", "v1", "configmaps"),
            .ns = "default",
            .name = std::string(name),
            .body = fmt::format(R"({{"data":{}}})", data)};
  }
  void patch_config_map(std::string_view name, std::string_view data) {
    static_cast<void>(send(config_map_patch(name, data)));
    settle();
  }

  json::Value pod(std::string_view name) { return object(pods, "default", name); }
  json::Value object(const api::Resource& resource, std::string_view ns, std::string_view name) {
    const auto found = store_->snapshot()->get({resource.id, std::string(ns), std::string(name)});
    return found ? *json::parse(arena_, found->bytes()) : json::Value();
  }
  std::string uid(std::string_view name) {
    return std::string(pod(name).get({"metadata", "uid"}).as_string());
  }
  std::string phase(std::string_view name) {
    return std::string(pod(name).get({"status", "phase"}).as_string());
  }
  json::Value container(std::string_view pod_name, std::string_view name) {
    for (const std::string_view part : {"initContainerStatuses", "containerStatuses"}) {
      for (const json::Value each : pod(pod_name).get({"status", part}).items()) {
        if (each.get("name").as_string() == name) return each;
      }
    }
    return {};
  }
  // "Warning BackOff: …" of everything that was told about a pod, in the order told.
  std::vector<std::string> events(std::string_view pod_name) {
    std::map<std::string, std::string> sorted;
    store_->snapshot()->scan(api::Registry::builtin().find("", "v1", "events")->id, {},
                             [&](const store::ObjectPtr& object) {
                               const json::Value event = *json::parse(arena_, object->bytes());
                               if (event.get({"involvedObject", "name"}).as_string() == pod_name)
                                 sorted[object->meta().name] =
                                     fmt::format("{} {}: {}", event.get("type").as_string(),
                                                 event.get("reason").as_string(),
                                                 event.get("message").as_string());
                               return true;
                             });
    std::vector<std::string> out;
    for (auto& [name, text] : sorted) out.push_back(std::move(text));
    return out;
  }
  runtime::RunId run(std::string_view pod_name, std::string container_name, int number = 0) {
    return {uid(pod_name), std::move(container_name), number};
  }
  void ends(std::string_view pod_name, std::string container_name, int code, int number = 0) {
    machine.end(run(pod_name, std::move(container_name), number), {.code = code});
    settle();
  }
  bool runs(std::string_view pod_name, std::string container_name, int number = 0) {
    const auto* const found = machine.find(run(pod_name, std::move(container_name), number));
    return found != nullptr && found->state.phase == runtime::RunPhase::kRunning;
  }

  std::string directory;
  std::unique_ptr<VirtualLoop> loop;
  runtime::FakeMachine machine{*loop};
  FakeNames names;
  AgentOptions options;
  std::map<std::string, int> requests;  // by method
  const api::Resource& pods = *api::Registry::builtin().find("", "v1", "pods");
  std::unique_ptr<Agent> agent;

 private:
  void prepare_runtime() {
    runtime_ = nullptr;
    runtime_ = machine.connect();
  }

  Metrics metrics_;
  json::Arena arena_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<server::ApiServer> server_;
  std::unique_ptr<client::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<runtime::Runtime> runtime_;
};

}  // namespace muster::agent::testing
