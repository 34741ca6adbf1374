#include "fields/managers.h"

#include <gmock/gmock.h>

#include "fields/testing.h"

namespace muster::fields {
namespace managers_test {

using json::Tree;
using json::Value;

std::string entry(std::string_view manager, std::string_view operation, std::string_view time,
                  std::string_view fields, std::string_view api_version = "v1",
                  std::string_view subresource = "") {
  const auto member = [](std::string_view key, std::string_view value) {
    return value.empty() ? "" : fmt::format(R"("{}":"{}",)", key, value);
  };
  std::string text = "{" + member("manager", manager) + member("operation", operation) +
                     member("apiVersion", api_version) + member("time", time) +
                     fmt::format(R"("fieldsType":"FieldsV1","fieldsV1":{},)", fields) +
                     member("subresource", subresource);
  text.back() = '}';
  return text;
}

std::string list(const std::vector<std::string>& entries) {
  return fmt::format("[{}]", fmt::join(entries, ","));
}

std::string rewritten(const std::string& text, bool custom = false) {
  const Tree tree(text);
  json::Arena arena;
  return json::write(write_managers(arena, *read_managers(arena, tree), custom));
}

constexpr std::string_view kTime = "2026-11-15T10:00:00Z";
constexpr std::string_view kLater = "2026-11-15T10:00:01Z";

TEST(Managers, AreWrittenInOrder) {
  const std::string a = entry("b", "Apply", "", R"({"f:a":{}})");
  const std::string b = entry("b", "Apply", kTime, R"({"f:a":{}})", "v1", "status");
  const std::string c = entry("a", "Apply", kLater, R"({"f:a":{}})");
  const std::string d = entry("z", "Update", "", R"({"f:a":{}})", "v1", "scale");
  const std::string e = entry("a", "Update", kTime, R"({"f:a":{}})");
  const std::string f = entry("a", "Update", kTime, R"({"f:a":{}})", "v2");
  const std::string g = entry("a", "Update", kTime, R"({"f:a":{}})", "v2", "status");
  const std::string h = entry("b", "Update", kTime, R"({"f:a":{}})");
  EXPECT_EQ(rewritten(list({h, g, f, e, d, c, b, a})), list({a, b, c, d, e, f, g, h}))
      << "operation, time, manager, version, subresource";
}

TEST(Managers, OfCustomResourcesHaveSortedKeys) {
  EXPECT_EQ(
      rewritten(list({entry("m", "Update", kTime, R"({"f:a":{}})", "v1", "status")}), true),
      R"([{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"manager":"m","operation":"Update",)"
      R"("subresource":"status","time":"2026-11-15T10:00:00Z"}])");
}

TEST(Managers, NoneIsNull) { EXPECT_EQ(rewritten("[]"), "null"); }

TEST(Managers, OneEntryPerIdentity) {
  EXPECT_EQ(rewritten(list({entry("m", "Apply", kTime, R"({"f:a":{}})", "v1"),
                            entry("m", "Apply", kLater, R"({"f:b":{}})", "v2")})),
            list({entry("m", "Apply", kLater, R"({"f:b":{}})", "v2")}))
      << "of an applier the version does not count; the later entry wins";
  const std::string both = list({entry("m", "Update", kTime, R"({"f:a":{}})", "v1"),
                                 entry("m", "Update", kTime, R"({"f:b":{}})", "v2")});
  EXPECT_EQ(rewritten(both), both) << "of an Update it does";
}

TEST(Managers, Identity) {
  ManagedEntry one{.manager = "m",
                   .operation = Operation::kUpdate,
                   .api_version = "v1",
                   .subresource = "status"};
  EXPECT_EQ(identity_of(one),
            R"({"manager":"m","operation":"Update","apiVersion":"v1","subresource":"status"})");
  EXPECT_EQ(describe(one), R"("m" with subresource "status" using v1)");
  one.operation = Operation::kApply;
  EXPECT_EQ(identity_of(one), R"({"manager":"m","operation":"Apply","subresource":"status"})");
  EXPECT_EQ(describe(one), R"("m" with subresource "status")");
  one.subresource = {};
  EXPECT_EQ(describe(one), R"("m")");
}

TEST(Managers, SayWhatTheyDoNotUnderstand) {
  json::Arena arena;
  const auto message = [&](std::string_view text) {
    const Tree tree(text);
    return read_managers(arena, tree).error().message;
  };
  EXPECT_EQ(message("[{}]"), "operation must be `Apply` or `Update`");
  EXPECT_EQ(message("[5]"), "operation must be `Apply` or `Update`");
  EXPECT_EQ(message(R"([{"operation":"Apply"}])"), "apiVersion must not be empty");
  EXPECT_EQ(message(R"([{"operation":"Apply","apiVersion":"v1"}])"),
            "missing fieldsType in managed fields entry 0");
  EXPECT_EQ(message(R"([{"operation":"Apply","apiVersion":"v1","fieldsType":"V2"}])"),
            R"(invalid fieldsType "V2" in managed fields entry 0)");
}

// 1.5.5
TEST(Managers, OldUpdatesAreJoinedBeyondTen) {
  std::vector<std::string> entries;
  const auto at = [](int second) { return fmt::format("2026-11-15T10:00:{:02}Z", second); };
  entries.push_back(entry("apply", "Apply", at(0), R"({"f:z":{}})"));
  for (int i = 0; i < 11; ++i) {
    entries.push_back(
        entry(fmt::format("m{:02}", i), "Update", at(i), fmt::format(R"({{"f:k{:02}":{{}}}})", i)));
  }
  const Tree tree(list(entries));
  json::Arena arena;
  Managers managers = *read_managers(arena, tree);
  cap_update_entries(managers);
  std::vector<std::string> expected = {
      entries[0], entry("ancient-changes", "Update", at(1), R"({"f:k00":{},"f:k01":{}})")};
  expected.insert(expected.end(), entries.begin() + 3, entries.end());
  EXPECT_EQ(json::write(write_managers(arena, managers, false)), list(expected));
}

TEST(Managers, OldUpdatesAreJoinedPerVersion) {
  std::vector<std::string> entries;
  const auto at = [](int second) { return fmt::format("2026-11-15T10:00:{:02}Z", second); };
  entries.push_back(entry("ancient-changes", "Update", at(0), R"({"f:a":{}})", "v1"));
  entries.push_back(entry("x", "Update", at(1), R"({"f:x":{}})", "v2"));
  for (int i = 2; i < 12; ++i) {
    entries.push_back(entry(fmt::format("m{:02}", i), "Update", at(i),
                            fmt::format(R"({{"f:k{:02}":{{}}}})", i), "v1"));
  }
  const Tree tree(list(entries));
  json::Arena arena;
  Managers managers = *read_managers(arena, tree);
  cap_update_entries(managers);
  std::vector<std::string> expected = {
      entries[1], entry("ancient-changes", "Update", at(3), R"({"f:a":{},"f:k02":{},"f:k03":{}})")};
  expected.insert(expected.end(), entries.begin() + 4, entries.end());
  EXPECT_EQ(json::write(write_managers(arena, managers, false)), list(expected))
      << "the bucket takes the oldest ones of its version, and the time of the last";
}

}  // namespace managers_test
}  // namespace muster::fields
