// For tests only: a server that the test plays by hand, in virtual time. Watches stay open and show
// what the test says; writes wait until the test answers them.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/schema/registry.h"
#include "client/client.h"
#include "controllers/runtime/controller.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"

namespace muster::controllers::testing {

// resource("v1", "Pod"); asserts that it is served.
inline const api::Resource& resource(std::string_view api_version, std::string_view kind) {
  const api::Resource* const found = api::Registry::builtin().find_kind(api_version, kind);
  MUSTER_ASSERT(found != nullptr, "no such kind");
  return *found;
}

// What a Cache would make of an object.
template <class View>
View read_as(View (*read)(const store::Object&, json::Value), std::string text) {
  const store::Object object(std::move(text), 1);
  json::Arena arena;
  return read(object, *json::parse(arena, object.bytes()));
}

class FakeServer {
 public:
  // A request that has no answer yet.
  struct Asked {
    std::shared_ptr<http::Exchange> exchange;
    std::string text() const {  // "POST /api/v1/namespaces/d/pods"
      const http::Request& request = exchange->request();
      return request.method + " " + request.target.substr(0, request.target.find('?'));
    }
    std::string body() const { return json::body_text(exchange->request()); }
    json::Value json(json::Arena& arena) const { return *json::parse(arena, body()); }
  };

  // Runs what is due now; time does not pass.
  void settle() { loop->run_for(Duration::zero()); }
  void pass_time(Duration span) { loop->run_for(span); }

  // Everything that was asked and not answered, in order.
  std::vector<std::string> waiting() {
    settle();
    std::vector<std::string> texts;
    for (const Asked& each : asked) texts.push_back(each.text());
    return texts;
  }

  void answer(int status, std::string body) {  // the oldest
    settle();
    MUSTER_ASSERT(!asked.empty(), "nothing was asked");
    http::Response response{.status = status, .headers = {}, .body = {}};
    response.body.push_back(http::Chunk::own(std::move(body)));
    asked.front().exchange->respond(std::move(response));
    asked.pop_front();
    settle();
  }
  void answer_object(std::string_view name, int revision) {
    answer(
        200,
        fmt::format(
            R"({{"metadata":{{"namespace":"d","name":"{}","uid":"u-{}","resourceVersion":"{}"}}}})",
            name, name, revision));
  }
  void answer_deleted(std::string_view name) {
    answer(200,
           fmt::format(
               R"({{"kind":"Status","status":"Success","details":{{"name":"{}","uid":"u-{}"}}}})",
               name, name));
  }
  void refuse(int status, std::string_view reason, std::string_view message = "no") {
    answer(status,
           fmt::format(R"({{"kind":"Status","reason":"{}","message":"{}"}})", reason, message));
  }

  // What a watch shows, or will show first when it is opened. `path` as in "/api/v1/pods".
  void show(const std::string& path, std::string_view type, std::string_view object) {
    settle();
    json::Arena arena;
    const std::string line = json::write(*json::parse(arena, object));  // an event is one line
    shown_[path] += fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, line);
    send_shown(path);
    settle();
  }
  void show_named(const std::string& path, std::string_view type, std::string_view name,
                  int revision) {
    show(
        path, type,
        fmt::format(
            R"({{"metadata":{{"namespace":"d","name":"{}","uid":"u-{}","resourceVersion":"{}"}}}})",
            name, name, revision));
  }
  void show_complete(const std::string& path, int revision) {
    show(
        path, "BOOKMARK",
        fmt::format(
            R"({{"metadata":{{"resourceVersion":"{}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}})",
            revision));
  }
  // All lists are complete, also those that are opened only then.
  void complete_all(int revision) {
    settle();
    std::set<std::string> complete;
    for (std::size_t before = 1; before != complete.size();) {
      before = complete.size();
      const auto open = watches;
      for (const auto& [path, watch] : open) {
        if (complete.insert(path).second) show_complete(path, revision);
      }
    }
  }

  std::unique_ptr<VirtualLoop> loop = make_virtual_loop(Time(std::chrono::seconds(1'800'000'000)));
  std::deque<Asked> asked;
  std::map<std::string, std::shared_ptr<http::Exchange>> watches;  // by path
  std::unique_ptr<client::Transport> transport = client::make_in_process_transport(
      *loop, [this](std::shared_ptr<http::Exchange> exchange) { take(std::move(exchange)); });
  client::Client client{*transport, "test"};

 private:
  void send_shown(const std::string& path) {
    const auto at = watches.find(path);
    std::string& text = shown_[path];
    if (at == watches.end() || text.empty()) return;
    std::vector<http::Chunk> chunks;
    chunks.push_back(http::Chunk::own(std::exchange(text, {})));
    at->second->send(std::move(chunks));
  }

  void take(std::shared_ptr<http::Exchange> exchange) {
    const std::string& target = exchange->request().target;
    if (target.find("watch=true") == std::string::npos) {
      asked.push_back({std::move(exchange)});
      return;
    }
    exchange->start_stream({.status = 200, .headers = {}, .body = {}});
    const std::string path = target.substr(0, target.find('?'));
    watches[path] = exchange;
    send_shown(path);
  }

  std::map<std::string, std::string> shown_;  // by path, until somebody watches it
};

// What a controller is made with, over such a server. The informers are started by the fixture, or
// by the test.
class EngineTest : public ::testing::Test {
 protected:
  FakeServer server_;
  Informers informers_{server_.client, api::Registry::builtin()};
  DecisionLog decisions_;
  Metrics metrics_;
  Shared shared_{server_.client, api::Registry::builtin(), informers_, decisions_, metrics_, {}};
};

template <class Kind>
class ControllerTest : public EngineTest {
 protected:
  Kind controller_{shared_};
};

}  // namespace muster::controllers::testing
