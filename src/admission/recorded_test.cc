// Requests that a real API server was sent, with its answers (testdata/recorded.json). Each entry
// holds the object as it was before (null: a create), the whole object that the request asks for,
// and the answer: the stored object in the bytes of the server (but for managedFields and
// resourceVersion), or the refusal.
#include <gtest/gtest.h>

#include "admission/testing.h"

namespace muster::admission {
namespace {

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

// Texts that show Go's own form of an object, or a diff, are not for us to repeat.
bool is_quoting_go(std::string_view message) {
  for (const std::string_view mark : {"<diff>", "\"Spec\":{", "{\"APIGroup\""})
    if (message.find(mark) != std::string_view::npos) return true;
  return false;
}

std::vector<std::string> causes_of(const Error& error) {
  std::vector<std::string> causes;
  for (const Cause& cause : error.causes) causes.push_back(cause.reason + " " + cause.field);
  return causes;
}

std::vector<std::string> causes_of(Value details) {
  std::vector<std::string> causes;
  for (const Value cause : details.get("causes").items())
    causes.push_back(
        fmt::format("{} {}", cause.get("reason").as_string(), cause.get("field").as_string()));
  return causes;
}

// What the server made up: an address, a part of a name.
std::string without_chance(std::string text, Value object) {
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (auto at = text.find(from); !from.empty() && at != std::string::npos;
         at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  const std::string_view address = object.get({"spec", "clusterIP"}).as_string();
  if (address.starts_with("10.96.")) replace(address, "\\u003cclusterIP\\u003e");
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
  EXPECT_EQ(without_chance(outcome.text(), outcome.object), json::write(answer));
}

void expect_refusal(const Outcome& outcome, Value entry) {
  const Value answer = entry.get("answer");
  ASSERT_TRUE(outcome.error) << "accepted: " << outcome.text();
  EXPECT_EQ(http_status(outcome.error->code), entry.get("status").as_int());
  const std::string_view message = answer.get("message").as_string();
  if (!is_quoting_go(message)) {
    EXPECT_EQ(outcome.error->message, message);
  }
  EXPECT_EQ(outcome.error->name, answer.get({"details", "name"}).as_string());
  EXPECT_EQ(outcome.error->group, answer.get({"details", "group"}).as_string());
  EXPECT_EQ(outcome.error->kind, answer.get({"details", "kind"}).as_string());
  EXPECT_EQ(causes_of(*outcome.error), causes_of(answer.get("details")));
}

TEST(Recorded, EveryRequestIsAnsweredAsByARealServer) {
  const json::Tree entries(read_testdata("recorded.json"));
  ASSERT_GT(entries.root.size(), 100U);
  for (const Value entry : entries.root.items()) {
    SCOPED_TRACE(fmt::format(
        "case {}: {} {} {}", entry.get("case").as_string(), entry.get("kind").as_string(),
        entry.get({"sent", "metadata", "name"}).as_string(), entry.get("note").as_string()));
    World world;
    for (const Value other : entry.get("world").items())
      world.add(other.get("apiVersion").as_string(), other.get("kind").as_string(),
                json::write(other));
    const Outcome outcome = send(world, entry);
    if (entry.get("status").as_int() < 300)
      expect_object(outcome, entry.get("answer"));
    else
      expect_refusal(outcome, entry);
    if (const Value warning = entry.get("warning"); warning.is_string()) {
      EXPECT_EQ(fmt::format("299 - \"{}\"", fmt::join(outcome.warnings, "")), warning.as_string());
    }
  }
}

}  // namespace
}  // namespace muster::admission
