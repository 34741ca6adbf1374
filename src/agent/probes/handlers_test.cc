#include "agent/probes/handlers.h"

#include <gmock/gmock.h>

#include "agent/probes/http_get.h"
#include "json/parse.h"
#include "net/testing.h"
#include "runtime/fake_runtime.h"

namespace muster::agent {
namespace handlers_test {

using net::ScriptedServer;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kFine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// A port that nobody listens on.
std::uint16_t free_port() {
  const UniqueFd taken = net::listen_on({"127.0.0.1", 0}).value();
  return net::local_port(taken.get()).value();
}

std::uint16_t port_of(const ScriptedServer& server) {
  const std::string url = server.url();
  return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

std::string described(const ProbeOutcome& outcome) {
  constexpr std::array<std::string_view, 4> kNames = {"success", "warning", "failure", "unknown"};
  return fmt::format("{}{}: {}", kNames[static_cast<std::size_t>(outcome.result)],
                     outcome.errored ? " (errored)" : "", outcome.text);
}

class HandlersTest : public ::testing::Test {
 protected:
  json::Value parse(const std::string& text) { return json::parse(arena_, text).value(); }

  // Executes a probe to its end, however long a busy machine takes for that.
  std::string probe(const std::string& text) {
    const json::Value probe = parse(text);
    probe.set("timeoutSeconds", json::Value::of(300));
    ProbeOutcome result;
    const auto attempt = handlers_->start(target_, probe, [&](ProbeOutcome outcome) {
      result = std::move(outcome);
      loop_->stop();
    });
    loop_->run();
    return described(result);
  }
  std::string get(std::uint16_t port, const std::string& more = "") {
    return probe(fmt::format(R"({{"httpGet":{{"port":{}{}}}}})", port, more));
  }

  json::Arena arena_;
  std::unique_ptr<Loop> loop_ = make_real_loop();
  runtime::FakeMachine machine_{*loop_};
  std::unique_ptr<runtime::Runtime> runtime_ = machine_.connect();
  ProbeTarget target_{.run = {"pod", "main", 0},
                      .pod_ip = "127.0.0.1",
                      .container = parse(R"({"ports":[{"name":"web","containerPort":8080}],
                                             "env":[{"name":"A","value":"one"}]})")};
  std::unique_ptr<Handlers> handlers_ = make_handlers(*loop_, *runtime_);
};

TEST_F(HandlersTest, PortsHaveNumbersAndNames) {
  const auto port = [&](const std::string& text) {
    const auto found = probe_port(parse(text), target_.container);
    return found ? std::to_string(*found) : found.error().message;
  };
  EXPECT_EQ(port("80"), "80");
  EXPECT_EQ(port("\"web\""), "8080");
  EXPECT_EQ(port("\"81\""), "81");
  EXPECT_EQ(port("\"http\""), "strconv.Atoi: parsing \"http\": invalid syntax");
  EXPECT_EQ(port("70000"), "invalid port number: 70000");
  EXPECT_EQ(probe(R"({"tcpSocket":{"port":"http"}})"),
            "unknown (errored): strconv.Atoi: parsing \"http\": invalid syntax");
}

TEST_F(HandlersTest, HttpRequestsOfActions) {
  const auto request = [&](const std::string& action) {
    const HttpGet get = http_get_of(parse(action), target_.container, "10.0.0.1", "agent").value();
    std::string out = get.url + " " + get.host;
    for (const auto& [name, value] : get.headers) out += fmt::format(" {}:{}", name, value);
    return out;
  };
  EXPECT_EQ(request(R"({"port":"web"})"), "http://10.0.0.1:8080/  User-Agent:agent Accept:*/*");
  EXPECT_EQ(request(R"({"port":1,"path":"x?y=1","scheme":"HTTPS","host":"::1"})"),
            "https://[::1]:1/x?y=1  User-Agent:agent Accept:*/*");
  EXPECT_EQ(
      request(R"({"port":1,"httpHeaders":[{"name":"host","value":"h"},{"name":"X","value":"1"},
                        {"name":"accept","value":""},{"name":"user-agent","value":"me"}]})"),
      "http://10.0.0.1:1/ h X:1 user-agent:me");
}

TEST_F(HandlersTest, HttpStatusCodes) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"200 OK", "success: hello"},
      {"204 No Content", "success: "},
      {"304 Not Modified", "warning: Probe terminated redirects, Response body: "},
      {"302 Found", "warning: Probe terminated redirects, Response body: hello"},
      {"404 Not Found", "failure: HTTP probe failed with statuscode: 404"},
      {"503 Busy", "failure: HTTP probe failed with statuscode: 503"},
  };
  for (const auto& [status, outcome] : rows) {
    const ScriptedServer server(1, [&](int, const auto& read, const auto& write) {
      EXPECT_THAT(read(), StartsWith("GET / HTTP/1.1\r\n"));
      const bool bodiless = status.starts_with("204") || status.starts_with("304");
      write(fmt::format("HTTP/1.1 {}\r\n{}", status,
                        bodiless ? "\r\n" : "Content-Length: 5\r\n\r\nhello"));
    });
    EXPECT_EQ(get(port_of(server)), outcome);
  }
}

TEST_F(HandlersTest, OnlyTheBeginningOfALongBodyIsRead) {
  const ScriptedServer server(1, [&](int, const auto& read, const auto& write) {
    read();
    write("HTTP/1.1 200 OK\r\n\r\n" + std::string(kMaxProbeOutput + 1, 'x'));
  });
  EXPECT_EQ(get(port_of(server)).size(), std::string_view("success: ").size() + kMaxProbeOutput);
}

TEST_F(HandlersTest, RedirectsOfTheSameHostAreFollowed) {
  std::vector<std::string> seen;
  {
    const ScriptedServer server(3, [&](int number, const auto& read, const auto& write) {
      seen.push_back(read());
      if (number == 2) return write(kFine);
      write(fmt::format("HTTP/1.1 301 Moved\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n",
                        number == 0 ? "/a/b" : "c?d"));
    });
    EXPECT_EQ(get(port_of(server), R"(,"httpHeaders":[{"name":"Host","value":"mine"}])"),
              "success: ok");
  }
  EXPECT_THAT(seen[1], StartsWith("GET /a/b HTTP/1.1\r\nHost: mine\r\n"));
  EXPECT_THAT(seen[2], StartsWith("GET /a/c?d HTTP/1.1\r\n"));
}

TEST_F(HandlersTest, RedirectsElsewhereAreAWarningAndEndlessOnesAFailure) {
  {
    const ScriptedServer server(1, [&](int, const auto& read, const auto& write) {
      read();
      write("HTTP/1.1 302 Found\r\nLocation: http://example.org/\r\nContent-Length: 4\r\n\r\nmove");
    });
    EXPECT_EQ(get(port_of(server)), "warning: Probe terminated redirects, Response body: move");
  }
  const ScriptedServer server(11, [&](int, const auto& read, const auto& write) {
    read();
    write("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_THAT(get(port_of(server)), HasSubstr("stopped after 10 redirects"));
}

TEST_F(HandlersTest, NoAnswerIsAFailureWithItsReason) {
  const std::uint16_t port = free_port();
  EXPECT_EQ(get(port), fmt::format("failure: Get \"http://127.0.0.1:{0}/\": dial tcp "
                                   "127.0.0.1:{0}: connect: connection refused",
                                   port));
  const ScriptedServer rude(1, [](int, const auto& read, const auto&) { read(); });
  EXPECT_THAT(get(port_of(rude)), StartsWith("failure: Get "));
}

TEST_F(HandlersTest, AnAnswerThatBreaksOffIsAnError) {
  const ScriptedServer server(1, [](int, const auto& read, const auto& write) {
    read();
    write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
  });
  EXPECT_THAT(get(port_of(server)), StartsWith("failure (errored): "));
}

TEST_F(HandlersTest, HttpsIsNotVerified) {
  const auto server = net::serve(net::echo);
  EXPECT_EQ(get(server->port(), R"(,"scheme":"HTTPS","path":"/x")"), "success: GET /x []");
}

TEST_F(HandlersTest, TcpSucceedsWhenSomebodyListens) {
  const UniqueFd listener = net::listen_on({"127.0.0.1", 0}).value();
  const std::uint16_t open = net::local_port(listener.get()).value();
  EXPECT_EQ(probe(fmt::format(R"({{"tcpSocket":{{"port":{}}}}})", open)), "success: ");
  EXPECT_EQ(probe(fmt::format(R"({{"tcpSocket":{{"port":{},"host":"localhost"}}}})", open)),
            "success: ");
  const std::uint16_t shut = free_port();
  EXPECT_EQ(probe(fmt::format(R"({{"tcpSocket":{{"port":{}}}}})", shut)),
            fmt::format("failure: dial tcp 127.0.0.1:{}: connect: connection refused", shut));
}

TEST_F(HandlersTest, GrpcOverALiveConnection) {
  // SETTINGS; HEADERS :status 200; DATA SERVING; trailers grpc-status 0, its name compressed.
  const std::string answer(
      "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
      "\x00\x00\x01\x01\x04\x00\x00\x00\x01\x88"
      "\x00\x00\x07\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x02\x08\x01"
      "\x00\x00\x0c\x01\x05\x00\x00\x00\x01\x40\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f\x01\x30",
      9 + 10 + 16 + 21);
  const ScriptedServer server(1, [&](int, const auto& read, const auto& write) {
    EXPECT_THAT(read(), StartsWith("PRI * HTTP/2.0"));
    write(answer);
    read();
  });
  EXPECT_EQ(probe(fmt::format(R"({{"grpc":{{"port":{}}}}})", port_of(server))),
            "success: service healthy");
}

class ExecProbeTest : public HandlersTest {
 protected:
  // In virtual time: timeouts cost nothing.
  std::string exec(const runtime::FakeCommand& command) {
    const auto loop = make_virtual_loop(Time(seconds(0)));
    runtime::FakeMachine machine(*loop);
    const auto runtime = machine.connect();
    machine.set_commands([&](const runtime::ExecSpec& spec) {
      asked_ = spec;
      return command;
    });
    runtime->start_pod({.uid = target_.run.pod_uid}, [](const Status&) {});
    runtime->start(target_.run.pod_uid, {.container = target_.run.container}, [](const Status&) {});
    loop->run();
    const auto handlers = make_handlers(*loop, *runtime);
    std::string out = "nothing";
    const auto attempt = handlers->start(
        target_, parse(R"j({"exec":{"command":["cat","$(A)"]},"timeoutSeconds":90})j"),
        [&](const ProbeOutcome& outcome) { out = described(outcome); });
    loop->run();
    killed_ = machine.commands().at(0).killed;
    return out;
  }
  runtime::ExecSpec asked_;
  bool killed_ = false;
};

TEST_F(ExecProbeTest, TheExitCodeDecides) {
  EXPECT_EQ(exec({.output = "fine", .exit_code = 0}), "success: fine");
  EXPECT_EQ(exec({.output = "gone", .exit_code = 3}), "failure: gone");
  EXPECT_EQ(asked_.run, target_.run);
  EXPECT_THAT(asked_.argv, ::testing::ElementsAre("cat", "one"));
}

TEST_F(ExecProbeTest, OutputIsCut) {
  const std::string outcome = exec({.output = std::string(20'000, 'x'), .exit_code = 1});
  EXPECT_EQ(outcome.size(), std::string_view("failure: ").size() + kMaxProbeOutput);
}

TEST_F(ExecProbeTest, ATimeoutIsAFailureAndAnErrorIsNone) {
  EXPECT_EQ(exec({.lasts = std::nullopt}),
            "failure: command timed out: \"cat one\" timed out after 1m30s");
  EXPECT_TRUE(killed_);
  EXPECT_EQ(exec({.exit_code = fail(Code::kNotFound, "no such run")}),
            "unknown (errored): no such run");
  EXPECT_FALSE(killed_);
}

class HookTest : public HandlersTest {
 protected:
  Prober::HookOutcome hook(const std::string& action) {
    Prober::HookOutcome result;
    const auto attempt =
        handlers_->start_hook(parse(action), target_, seconds(30), [&](auto outcome) {
          result = std::move(outcome);
          loop_->stop();
        });
    loop_->run();
    return result;
  }
};

TEST_F(HookTest, AnyAnswerWillDo) {
  const ScriptedServer server(1, [&](int, const auto& read, const auto& write) {
    EXPECT_THAT(read(), HasSubstr("User-Agent: kube-lifecycle/1.36"));
    write("HTTP/1.1 500 Sorry\r\nContent-Length: 0\r\n\r\n");
  });
  const auto outcome = hook(fmt::format(R"({{"port":{}}})", port_of(server)));
  EXPECT_TRUE(outcome.status);
  EXPECT_EQ(outcome.fallback, "");
  EXPECT_FALSE(hook(fmt::format(R"({{"port":{}}})", free_port())).status);
  EXPECT_FALSE(hook(R"({"port":"nameless"})").status);
}

TEST_F(HookTest, TlsFallsBackToPlainTextWithoutCredentials) {
  std::vector<std::string> seen;
  std::uint16_t port = 0;
  Prober::HookOutcome outcome;
  {
    const ScriptedServer server(2, [&](int number, const auto& read, const auto& write) {
      seen.push_back(read());
      write(number == 0 ? "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" : kFine);
    });
    port = port_of(server);
    outcome = hook(fmt::format(
        R"({{"port":{},"scheme":"HTTPS","httpHeaders":[{{"name":"Authorization","value":"x"}}]}})",
        port));
  }
  EXPECT_TRUE(outcome.status) << outcome.status.error().message;
  EXPECT_EQ(outcome.fallback, fmt::format("request to HTTPS lifecycle hook 127.0.0.1:{} got HTTP "
                                          "response, retry with HTTP succeeded",
                                          port));
  EXPECT_THAT(seen[1], ::testing::Not(HasSubstr("Authorization")));
}

}  // namespace handlers_test
}  // namespace muster::agent
