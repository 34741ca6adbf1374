#include "agent/probes/grpc_probe.h"

#include <gmock/gmock.h>

#include "agent/probes/hpack.h"

namespace muster::agent {
namespace grpc_probe_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

std::string frame(int type, int flags, const std::string& payload, int stream = 1) {
  return bytes({0, static_cast<int>(payload.size()) / 256, static_cast<int>(payload.size()) % 256,
                type, flags, 0, 0, 0, stream}) +
         payload;
}
const std::string kSettings = frame(4, 0, "", 0);

std::string header_block(std::initializer_list<std::pair<std::string, std::string>> fields) {
  std::string block;
  for (const auto& [name, value] : fields) append_header(block, name, value);
  return block;
}
std::string message(std::initializer_list<int> body) {
  return bytes({0, 0, 0, 0, static_cast<int>(body.size())}) + bytes(body);
}

const std::string kHead = frame(1, 4, bytes({0x88}) + header_block({{"x", "y"}}));
const std::string kTrailers = frame(1, 5, header_block({{"grpc-status", "0"}}));
std::string answer_of(std::initializer_list<int> body) {
  return kSettings + kHead + frame(0, 0, message(body)) + kTrailers;
}
std::string refusal(const std::string& code, const std::string& text) {
  return kSettings +
         frame(1, 5, bytes({0x88}) + header_block({{"grpc-status", code}, {"grpc-message", text}}));
}

std::unique_ptr<Protocol> protocol() {
  return make_grpc_protocol({.address = "127.0.0.1:9", .service = "db", .user_agent = "me"});
}

std::string text_of(const std::optional<ProbeOutcome>& outcome) {
  if (!outcome) return "undecided";
  return (outcome->result == ProbeResult::kSuccess ? "+" : "-") + outcome->text;
}

// The outcome of a server that answers so, in pieces of that many bytes.
std::string judged(const std::string& answer, std::size_t piece) {
  const auto talk = protocol();
  std::string say;
  EXPECT_FALSE(talk->connected(say));
  for (std::size_t at = 0; at < answer.size(); at += piece) {
    if (const auto outcome = talk->heard(answer.substr(at, piece), say)) return text_of(outcome);
  }
  return "undecided";
}

TEST(GrpcProbe, AnswersAndWhatTheyMean) {
  const std::string rpc = "-error: health rpc probe failed: rpc error: code = ";
  const std::pair<std::string, std::string> rows[] = {
      {answer_of({8, 1}), "+service healthy"},
      {answer_of({8, 2}), "-service unhealthy (responded with \"NOT_SERVING\")"},
      {answer_of({8, 3}), "-service unhealthy (responded with \"SERVICE_UNKNOWN\")"},
      {answer_of({}), "-service unhealthy (responded with \"UNKNOWN\")"},
      {answer_of({8, 77}), "-service unhealthy (responded with \"77\")"},
      {answer_of({16, 1}), rpc + "Internal desc = the server sent no message that can be read"},
      {refusal("5", "unknown%20service"), rpc + "NotFound desc = unknown service"},
      {refusal("99", ""), rpc + "Code(99) desc = "},
      {refusal("12", "unknown method"),
       "-error: this server does not implement the grpc health protocol "
       "(grpc.health.v1.Health): unknown method"},
      {kSettings + frame(1, 5, bytes({0x8d})),
       "-error: this server does not implement the grpc health protocol "
       "(grpc.health.v1.Health): unexpected HTTP status code received from server: 404"},
      {kSettings + frame(3, 0, bytes({0, 0, 0, 1})),
       rpc + "Internal desc = the server has reset the call"},
      {kSettings + frame(7, 0, std::string(8, '\0'), 0),
       rpc + "Unavailable desc = the server is going away"},
      {kSettings + frame(1, 5, bytes({0xbe})), rpc + "Internal desc = malformed header block"},
      {"HTTP/1.1 400 Bad Request\r\n\r\n",
       "-error: failed to connect service at \"127.0.0.1:9\": the server does not speak HTTP/2"},
  };
  for (const auto& [answer, outcome] : rows) {
    EXPECT_EQ(judged(answer, 1), outcome);
    EXPECT_EQ(judged(answer, 100'000), outcome);
  }
}

TEST(GrpcProbe, PaddingPriorityAndSplitHeadersAreUnderstood) {
  const std::string status = header_block({{"grpc-status", "0"}});
  const std::string padded = bytes({2}) + message({8, 1}) + bytes({0, 0});
  const std::string odd = kSettings + frame(1, 0x24, bytes({0, 0, 0, 0, 9, 0x88})) +
                          frame(0, 8, padded) + frame(8, 0, bytes({0, 0, 0, 1})) +
                          frame(1, 1, status.substr(0, 4)) + frame(9, 4, status.substr(4));
  EXPECT_EQ(judged(odd, 100), "+service healthy");
}

TEST(GrpcProbe, AnEndlessAnswerEnds) {
  std::string endless = kSettings;
  for (int i = 0; i < 70'000 / 9; ++i) endless += frame(8, 0, "");
  EXPECT_THAT(judged(endless, 4096), HasSubstr("the answer is too long"));
}

TEST(GrpcProbe, SaysHelloAsksAndAcknowledges) {
  const auto talk = protocol();
  std::string say;
  talk->connected(say);
  EXPECT_THAT(say, StartsWith("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  EXPECT_THAT(say, HasSubstr("/grpc.health.v1.Health/Check"));
  EXPECT_THAT(say, EndsWith(bytes({0, 0, 0, 0, 4, 10, 2}) + "db"));
  say.clear();
  talk->heard(kSettings + frame(6, 0, "12345678", 0) + frame(4, 1, "", 0), say);
  EXPECT_EQ(say, frame(4, 1, "", 0) + frame(6, 1, "12345678", 0));
}

TEST(GrpcProbe, EndsWithoutAnAnswer) {
  const std::string address = "\"127.0.0.1:9\"";
  const auto never = protocol();
  EXPECT_EQ(
      never->ended(Protocol::End::kTimeout, "").text,
      "timeout: failed to connect service " + address + " within 1s: context deadline exceeded");
  EXPECT_EQ(never->ended(Protocol::End::kUnreachable, "connect: connection refused").text,
            "error: failed to connect service at " + address + ": connect: connection refused");
  std::string say;
  never->connected(say);
  EXPECT_EQ(never->ended(Protocol::End::kTimeout, "").text,
            "timeout: health rpc did not complete within 1s");
}

}  // namespace grpc_probe_test
}  // namespace muster::agent
