// Many clients at once, against the store with its own commit thread: no update is lost, no name is
// given twice.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "server/blocking_exchange.h"
#include "server/testing.h"

namespace muster::server {
namespace concurrency_test {

using testing::TestServer;

constexpr int kClients = 64;

Reply send(TestServer& server, std::string method, std::string target, std::string body,
           std::string type = "application/json") {
  return ask(*server.api,
             {std::move(method),
              std::move(target),
              {{"Content-Type", std::move(type)}, {"User-Agent", "test/1"}},
              std::move(body),
              {}},
             master("test"));
}

json::Value parse(json::Arena& arena, const Reply& reply) {
  return *json::parse(arena, reply.body);
}

void in_parallel(const std::function<void(int client)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kClients; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

class Concurrency : public ::testing::Test {
 protected:
  Concurrency() {
    send(server, "POST", "/api/v1/namespaces", R"({"metadata":{"name":"a"}})");
    send(server, "POST", kMaps, R"({"metadata":{"name":"counter"},"data":{"n":"0"}})");
  }
  std::string counter() {
    json::Arena arena;
    return std::string(
        parse(arena, send(server, "GET", kMaps + "/counter", "")).get({"data", "n"}).as_string());
  }
  const std::string kMaps = "/api/v1/namespaces/a/configmaps";
  TestServer server{{}, /*commit_inline=*/false};
};

// R6: read, add one, write with the version that was read; on a conflict again. The sum is exact.
TEST_F(Concurrency, NoUpdateIsLost) {
  constexpr int kRounds = 10;
  std::atomic<int> conflicts = 0;
  in_parallel([&](int) {
    for (int done = 0; done < kRounds;) {
      json::Arena arena;
      const json::Value object = parse(arena, send(server, "GET", kMaps + "/counter", ""));
      object.get("data").set(
          "n", std::to_string(std::stoi(std::string(object.get({"data", "n"}).as_string())) + 1));
      const Reply reply = send(server, "PUT", kMaps + "/counter", json::write(object));
      if (reply.status == 200) {
        ++done;
      } else {
        ASSERT_EQ(reply.status, 409) << reply.body;
        ++conflicts;
      }
    }
  });
  EXPECT_EQ(counter(), std::to_string(kClients * kRounds));
  EXPECT_GT(conflicts, 0) << "nobody was in anybody's way: the test shows nothing";
}

// Patches without a version never conflict for the client: the server tries again.
TEST_F(Concurrency, UnconditionalPatchesAllSucceed) {
  in_parallel([&](int client) {
    for (int i = 0; i < 5; ++i) {
      const std::string patch = fmt::format(R"({{"data":{{"c{}-{}":"x"}}}})", client, i);
      const Reply reply =
          send(server, "PATCH", kMaps + "/counter", patch, "application/merge-patch+json");
      ASSERT_EQ(reply.status, 200) << reply.body;
    }
  });
  json::Arena arena;
  EXPECT_EQ(parse(arena, send(server, "GET", kMaps + "/counter", "")).get("data").size(),
            kClients * 5u + 1);
}

TEST_F(Concurrency, OneOfManyCreatesTheObject) {
  std::atomic<int> created = 0;
  in_parallel([&](int) {
    const Reply reply = send(server, "POST", kMaps, R"({"metadata":{"name":"one"}})");
    created += reply.status == 201 ? 1 : 0;
    if (reply.status != 201) {
      EXPECT_EQ(reply.status, 409);
    }
  });
  EXPECT_EQ(created, 1);
}

TEST_F(Concurrency, GeneratedNamesAreAllDifferent) {
  in_parallel([&](int) {
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(send(server, "POST", kMaps, R"({"metadata":{"generateName":"g-"}})").status, 201);
    }
  });
  json::Arena arena;
  EXPECT_EQ(parse(arena, send(server, "GET", kMaps, "")).get("items").size(), kClients * 5u + 1);
}

TEST_F(Concurrency, APodIsBoundOnce) {
  send(server, "POST", "/api/v1/namespaces/a/serviceaccounts",
       R"({"metadata":{"name":"default"},"automountServiceAccountToken":false})");
  const std::string pods = "/api/v1/namespaces/a/pods";
  ASSERT_EQ(send(server, "POST", pods,
                 R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})")
                .status,
            201);
  std::atomic<int> bound = 0;
  in_parallel([&](int client) {
    const std::string binding = fmt::format(
        R"({{"metadata":{{"name":"p"}},"target":{{"kind":"Node","name":"n{}"}}}})", client);
    bound += send(server, "POST", pods + "/p/binding", binding).status == 201 ? 1 : 0;
  });
  EXPECT_EQ(bound, 1);
}

}  // namespace concurrency_test
}  // namespace muster::server
