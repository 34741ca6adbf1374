// exec and attach: what is refused before the upgrade, and the channels after it.
#include "server/channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace channels_test {

using testing::at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TestExchangePtr;
using testing::TestServer;

// What a program is told.
struct FakeProgram final : Program {
  explicit FakeProgram(std::vector<std::string>& the_seen) : seen(the_seen) {}
  ~FakeProgram() override { seen.emplace_back("gone"); }
  void input(std::string bytes) override {
    seen.push_back(fmt::format("in {}", bytes.substr(0, 10)));
  }
  void end_input() override { seen.emplace_back("end of input"); }
  void resize(int columns, int rows) override {
    seen.push_back(fmt::format("{}x{}", columns, rows));
  }
  void hold_output(bool hold) override { seen.emplace_back(hold ? "hold" : "go on"); }
  std::vector<std::string>& seen;
};

struct FakePrograms final : ProgramSource {
  void exec(Wanted the_wanted, std::shared_ptr<ProgramClient> the_client) override {
    wanted = std::move(the_wanted);
    client = std::move(the_client);
    if (refusal) return client->refuse(*refusal);
    client->begin(std::make_shared<FakeProgram>(seen));
  }
  void attach(Wanted the_wanted, std::shared_ptr<ProgramClient> the_client) override {
    attached = true;
    exec(std::move(the_wanted), std::move(the_client));
  }
  Wanted wanted;
  bool attached = false;
  std::optional<Error> refusal;
  std::shared_ptr<ProgramClient> client;
  std::vector<std::string> seen;
};

class Channels : public ::testing::Test {
 protected:
  Channels() : server(options()) {
    server.make_namespace("a");
    make_pod("p", R"("nodeName":"n",)");
  }
  Options options() {
    Options with;
    with.programs = &programs;
    return with;
  }
  void make_pod(const std::string& name, const std::string& more) {
    const auto made = server.admin("POST", kPods,
                                   R"({"metadata":{"name":")" + name + R"("},"spec":{)" + more +
                                       R"("containers":[{"name":"c","image":"i"}]}})");
    ASSERT_EQ(made->status, 201) << made->body;
    set_state(name, "running");
  }
  void set_state(const std::string& pod, const std::string& state) {
    server.patch(kPods + "/" + pod + "/status",
                 R"({"status":{"containerStatuses":[{"name":"c","ready":true,"restartCount":0,)"
                 R"("image":"","imageID":"","state":{")" +
                     state + R"(":{}}}]}})");
  }
  static http::Headers upgrade(const std::string& protocols = "v5.channel.k8s.io") {
    return {{"Connection", "Upgrade"},
            {"Upgrade", "websocket"},
            {"Sec-WebSocket-Version", "13"},
            {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
            {"Sec-WebSocket-Protocol", protocols}};
  }
  TestExchangePtr open(const std::string& query, http::Headers headers = upgrade()) {
    auto exchange = server.admin("GET", kPods + "/p/exec?" + query, "", std::move(headers));
    return exchange;
  }
  static void say(TestExchangePtr& exchange, std::string_view message) {
    exchange->upgraded->message(message);
  }
  std::string refused(const std::string& target, http::Headers headers = upgrade()) {
    return at(*server.admin("GET", kPods + target, "", std::move(headers)), {"message"});
  }

  const std::string kPods = "/api/v1/namespaces/a/pods";
  FakePrograms programs;
  TestServer server;
};

TEST_F(Channels, ACommandRunsWithItsStreams) {
  auto exchange = open("command=sh&command=-c&command=a+b&stdin=true&stdout=true&stderr=true");
  EXPECT_EQ(exchange->status, 101);
  EXPECT_EQ(exchange->upgraded->protocol, "v5.channel.k8s.io");
  EXPECT_THAT(programs.wanted.command, ElementsAre("sh", "-c", "a b"));
  EXPECT_EQ(programs.wanted.container, "c");
  EXPECT_FALSE(programs.wanted.uid.empty());
  EXPECT_FALSE(programs.attached);
  say(exchange, std::string_view("\0hello", 6));
  say(exchange, "\4{\"Width\":80,\"Height\":24}");
  say(exchange, std::string_view("\xff\0", 2));
  say(exchange, std::string_view("\0too late", 9));
  EXPECT_THAT(programs.seen, ElementsAre("in hello", "80x24", "end of input"));
  programs.client->output(false, "out");
  programs.client->output(true, "err");
  programs.client->end(0);
  EXPECT_THAT(exchange->messages,
              ElementsAre("\1out", "\2err", "\3{\"metadata\":{},\"status\":\"Success\"}"));
  EXPECT_TRUE(exchange->complete);
  EXPECT_EQ(programs.seen.back(), "gone");
}

TEST_F(Channels, TheExitCodeIsInTheStatus) {
  EXPECT_EQ(
      exit_status({"sh", "-c", "exit 3"}, 3),
      R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: error executing command [sh -c exit 3], exit code 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}})");
  EXPECT_EQ(
      exit_status({"x"}, fail(Code::kNotFound, "x: not found")),
      R"({"metadata":{},"status":"Failure","message":"Internal error occurred: error executing command in container: x: not found","reason":"InternalError","details":{"causes":[{"message":"error executing command in container: x: not found"}]},"code":500})");
}

TEST_F(Channels, ATerminalHasOneOutput) {
  auto exchange = open("command=sh&stdin=true&stdout=true&tty=true");
  EXPECT_TRUE(programs.wanted.tty);
  programs.client->output(true, "err");
  EXPECT_THAT(exchange->messages, ElementsAre("\1err"));
}

TEST_F(Channels, StreamsThatWereNotAskedForStaySilent) {
  auto exchange = open("command=sh&stdout=true");
  programs.client->output(true, "err");
  say(exchange, std::string_view("\0hello", 6));
  say(exchange, std::string_view("\xff\0", 2));
  EXPECT_THAT(exchange->messages, IsEmpty());
  EXPECT_THAT(programs.seen, IsEmpty());
}

TEST_F(Channels, TheOlderProtocolKnowsNoEndOfInput) {
  auto exchange = open("command=sh&stdin=true", upgrade("v4.channel.k8s.io"));
  EXPECT_EQ(exchange->upgraded->protocol, "v4.channel.k8s.io");
  say(exchange, std::string_view("\xff\0", 2));
  EXPECT_THAT(programs.seen, IsEmpty());
}

TEST_F(Channels, NonsenseIsIgnored) {
  auto exchange = open("command=sh&stdin=true");
  for (const std::string_view message :
       {"", "\1x", "\3x", "\4no json", "\4[]", "\4{\"Width\":0,\"Height\":1}",
        "\4{\"Width\":1e9,\"Height\":1}", "\xff", "\xff\1", "\x7fx"})
    say(exchange, message);
  EXPECT_THAT(programs.seen, IsEmpty());
}

TEST_F(Channels, AProgramHearsThatItsClientHasGone) {
  auto exchange = open("command=sh&stdout=true");
  exchange->hang_up();
  EXPECT_THAT(programs.seen, ElementsAre("gone"));
  programs.client->output(false, "too late");
  programs.client->end(0);
}

TEST_F(Channels, ASlowClientHoldsTheProgramBack) {
  auto exchange = open("command=yes&stdout=true");
  exchange->stuck = true;
  for (int i = 0; i < 3; ++i) programs.client->output(false, std::string(600'000, 'y'));
  EXPECT_THAT(programs.seen, ElementsAre("hold"));
  exchange->catch_up();
  EXPECT_THAT(programs.seen, ElementsAre("hold", "go on"));
}

TEST_F(Channels, ASlowProgramHoldsTheClientBack) {
  auto exchange = open("command=sleep&stdin=true");
  const std::string piece = std::string(1, '\0') + std::string(200'000, 'x');
  say(exchange, piece);
  EXPECT_FALSE(exchange->holds_messages);
  say(exchange, piece);
  EXPECT_TRUE(exchange->holds_messages);
  programs.client->input_taken(100'000);
  EXPECT_TRUE(exchange->holds_messages);
  programs.client->input_taken(100'000);
  EXPECT_FALSE(exchange->holds_messages);
}

TEST_F(Channels, AttachJoinsWithoutInput) {
  auto exchange = server.admin("GET", kPods + "/p/attach?stdout=true&stderr=true", "", upgrade());
  EXPECT_EQ(exchange->status, 101);
  EXPECT_TRUE(programs.attached);
  EXPECT_EQ(refused("/p/attach?stdin=true&stdout=true"),
            "nothing can be sent to the standard input of container c: attach without stdin");
}

TEST_F(Channels, WhatIsWrongIsSaidBeforeTheUpgrade) {
  make_pod("unbound", "");
  EXPECT_EQ(refused("/none/exec?command=ls&stdout=true"), "pods \"none\" not found");
  EXPECT_EQ(refused("/unbound/exec?command=ls&stdout=true"),
            "pod unbound does not have a host assigned");
  EXPECT_EQ(refused("/p/exec?command=ls&stdout=true&container=x"),
            "container x is not valid for pod p");
  EXPECT_EQ(refused("/p/exec?stdout=true"),
            "you must specify at least one command for the container");
  EXPECT_EQ(refused("/p/exec?command=ls"),
            "you must specify at least one of stdin, stdout, stderr");
  EXPECT_EQ(refused("/p/exec?command=ls&stdout=true", {}), "Upgrade request required");
  EXPECT_EQ(refused("/p/exec?command=ls&stdout=true",
                    {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}}),
            "channels into pods are WebSockets here, not SPDY");
  EXPECT_THAT(refused("/p/exec?command=ls&stdout=true", upgrade("channel.k8s.io")),
              HasSubstr("v5.channel.k8s.io"));
  set_state("p", "waiting");
  EXPECT_EQ(refused("/p/exec?command=ls&stdout=true",
                    {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}}),
            "container not found (\"c\")");
  set_state("p", "running");
  programs.refusal = Error{.code = Code::kUntranslated, .message = "container not found (\"c\")"};
  const auto exchange = open("command=ls&stdout=true");
  EXPECT_EQ(exchange->status, 500);
  EXPECT_EQ(at(*exchange, {"message"}), "container not found (\"c\")");
}

TEST_F(Channels, WhoMayOnlyReadOpensNone) {
  server.admin("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/a/roles",
               R"({"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods/exec"],)"
               R"("verbs":["get"]}]})");
  server.admin("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings",
               R"({"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
               R"("kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"bob"}]})");
  const auto exchange = server.send("GET", kPods + "/p/exec?command=ls&stdout=true", "", upgrade(),
                                    {.address = "127.0.0.1",
                                     .common_name = "bob",
                                     .organizations = {},
                                     .certificate_sha256 = {}});
  EXPECT_EQ(exchange->status, 403);
  EXPECT_THAT(at(*exchange, {"message"}),
              HasSubstr("User \"bob\" cannot create resource \"pods/exec\""));
}

}  // namespace channels_test
}  // namespace muster::server
