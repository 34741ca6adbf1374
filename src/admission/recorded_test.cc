// Requests that a real API server was sent, with its answers (testdata/recorded.json,
// testdata/probed.json). Each entry holds the object as it was before (null: a create), the whole
// object that the request asks for, and the answer: the stored object in the bytes of the server
// (but for managedFields and resourceVersion), or the refusal.
#include <gtest/gtest.h>

#include <algorithm>

#include "admission/testing.h"

namespace muster::admission {
namespace recorded_test {

using json::Value;

int http_status(Code code) {
  switch (code) {
    case Code::kForbidden:
      return 403;
    case Code::kNotFound:
      return 404;
    case Code::kInvalid:
      return 422;
    default:
      return 500;
  }
}

// Texts that show Go's own form of an object (names in capitals), or a diff, are not for us to
// repeat.
bool is_quoting_go(std::string_view message) {
  for (auto at = message.find("{\""); at != std::string_view::npos;
       at = message.find("{\"", at + 1))
    if (at + 2 < message.size() && std::isupper(static_cast<unsigned char>(message[at + 2])) != 0)
      return true;
  return message.find("<diff>") != std::string_view::npos ||
         message.find("\n@@ ") != std::string_view::npos;
}

// One line for each cause; without its text where that quotes Go.
std::vector<std::string> causes_of(const Error& error, Value details) {
  std::vector<std::string> causes;
  for (std::size_t i = 0; i < error.causes.size(); ++i) {
    const Cause& cause = error.causes[i];
    const bool quotes = is_quoting_go(details.get("causes").item(i).get("message").as_string());
    causes.push_back(
        fmt::format("{} {} {}", cause.reason, cause.field, quotes ? "" : cause.message));
  }
  return causes;
}

std::vector<std::string> causes_of(Value details) {
  std::vector<std::string> causes;
  for (const Value cause : details.get("causes").items()) {
    const std::string_view message = cause.get("message").as_string();
    causes.push_back(fmt::format("{} {} {}", cause.get("reason").as_string(),
                                 cause.get("field").as_string(),
                                 is_quoting_go(message) ? "" : message));
  }
  return causes;
}

// Only what differs: lists of causes are long.
std::string difference(std::vector<std::string> expected, std::vector<std::string> found) {
  if (expected == found) return "";
  std::string text;
  for (const std::string& line : expected) {
    const auto same = std::ranges::find(found, line);
    if (same == found.end())
      text += "\n  missing: " + line;
    else
      found.erase(same);
  }
  for (const std::string& line : found) text += "\n  extra:   " + line;
  return text.empty() ? "another order" : text;
}

// What the server made up: an address, a part of a name.
std::string without_chance(std::string text, Value object, const std::string& marked) {
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (auto at = text.find(from); !from.empty() && at != std::string::npos;
         at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  const std::string_view address = object.get({"spec", "clusterIP"}).as_string();
  if (address.starts_with("10.96.") && marked.find("clusterIP\\u003e") != std::string::npos)
    replace(address, "\\u003cclusterIP\\u003e");
  if (object.get("metadata").has("generateName")) replace("-abcde", "-\\u003cgenerated-1\\u003e");
  for (const Value volume : object.get({"spec", "volumes"}).items()) {
    const std::string_view name = volume.get("name").as_string();
    if (name.starts_with("kube-api-access-")) replace(name, "kube-api-access-\\u003crandom\\u003e");
  }
  return text;
}

Outcome send(const World& world, Value entry) {
  const std::string_view api_version = entry.get("apiVersion").as_string();
  const std::string_view kind = entry.get("kind").as_string();
  const Options options{.subresource = entry.get("subresource").as_string(),
                        .dry_run = entry.get("dryRun").as_bool(),
                        .ns = entry.get("namespace").as_string(),
                        .uid = entry.get("uid").as_string()};
  if (entry.get("live").is_null())
    return world.create(api_version, kind, json::write(entry.get("sent")), options);
  Outcome live;
  live.object = json::clone(*live.arena, entry.get("live"));
  return world.update(api_version, kind, live, json::write(entry.get("sent")), options);
}

void expect_object(const Outcome& outcome, Value answer) {
  ASSERT_EQ(outcome.message(), "");
  const std::string expected = json::write(answer);
  EXPECT_EQ(without_chance(outcome.text(), outcome.object, expected), expected);
}

void expect_refusal(const Outcome& outcome, Value entry) {
  const Value answer = entry.get("answer");
  ASSERT_TRUE(outcome.error) << "accepted: " << outcome.text();
  EXPECT_EQ(http_status(outcome.error->code), entry.get("status").as_int());
  const std::string_view message = answer.get("message").as_string();
  if (!is_quoting_go(message) && answer.get({"details", "causes"}).size() < 2) {
    EXPECT_EQ(outcome.error->message, message);
  }
  EXPECT_EQ(outcome.error->name, answer.get({"details", "name"}).as_string());
  EXPECT_EQ(outcome.error->group, answer.get({"details", "group"}).as_string());
  EXPECT_EQ(outcome.error->kind, answer.get({"details", "kind"}).as_string());
  std::vector<std::string> expected = causes_of(answer.get("details"));
  std::vector<std::string> found = causes_of(*outcome.error, answer.get("details"));
  if (entry.get("anyOrder").as_bool()) {  // upstream walks through maps as it comes
    std::ranges::sort(expected);
    std::ranges::sort(found);
  }
  EXPECT_EQ(difference(expected, found), "");
}

std::string warning_header(const std::vector<std::string>& warnings) {
  std::string header;
  for (const std::string& warning : warnings)
    header += fmt::format("{}299 - {}", header.empty() ? "" : ", ", api::quote(warning));
  return header;
}

void expect_answers(const std::string& file) {
  const json::Tree entries(read_testdata(file));
  ASSERT_GT(entries.root.size(), 100U);
  for (const Value entry : entries.root.items()) {
    SCOPED_TRACE(fmt::format(
        "case {}: {} {} {}", entry.get("case").as_string(), entry.get("kind").as_string(),
        entry.get({"sent", "metadata", "name"}).as_string(), entry.get("note").as_string()));
    World world;
    world.add("v1", "Namespace", R"({"metadata": {"name": "probe"}})");
    world.add("v1", "ServiceAccount", R"({"metadata": {"name": "default", "namespace": "probe"},
                                          "automountServiceAccountToken": false})");
    for (const Value other : entry.get("world").items())
      world.add(other.get("apiVersion").as_string(), other.get("kind").as_string(),
                json::write(other));
    const Outcome outcome = send(world, entry);
    if (entry.get("status").as_int() < 300)
      expect_object(outcome, entry.get("answer"));
    else
      expect_refusal(outcome, entry);
    EXPECT_EQ(warning_header(outcome.warnings), entry.get("warning").as_string());
  }
}

// A walk through the API as clients take it.
TEST(Recorded, EveryRequestIsAnsweredAsByARealServer) { expect_answers("recorded.json"); }

// What is wrong with an object, rule by rule; all as dry runs in a namespace "probe".
TEST(Recorded, EveryFaultIsToldAsByARealServer) { expect_answers("probed.json"); }

}  // namespace recorded_test
}  // namespace muster::admission
