// Stories of ownership, one per sentence of apimachinery 1.4 to 1.9.
#include "fields/managed_fields.h"

#include <gmock/gmock.h>

#include "fields/testing.h"

namespace muster::fields {
namespace managed_fields_test {

using json::Tree;
using json::Value;

// One object in a store, and requests that change it.
class ManagedFields : public testing::Test {
 protected:
  // PUT, or POST while there is no object. Without managedFields in `body`, as clients mostly send
  // it.
  void update(std::string_view manager, std::string_view body, std::string_view subresource = "") {
    const Value updated = parse(body);
    const std::string before = json::write(live_);
    track_update(arena_, writer(manager, subresource), live_, updated);
    EXPECT_EQ(json::write(live_), before) << "the live object is not to be touched";
    keep_times_if_unchanged(live_, updated);
    save(updated);
  }

  // PATCH apply; the message of the failure, or nothing.
  std::string apply(std::string_view manager, std::string_view document, bool force = false,
                    std::string_view subresource = "") {
    const std::string before = json::write(live_);
    const Result<Applied> applied =
        fields::apply(arena_, writer(manager, subresource), live_, parse(document), force);
    EXPECT_EQ(json::write(live_), before) << "the live object is not to be touched";
    if (!applied) return applied.error().message;
    changed_ = applied->changed;
    save(applied->object);
    return "";
  }

  // "one Apply v1 10:00:00 {...}" per entry.
  std::vector<std::string> owners() const {
    std::vector<std::string> lines;
    for (const Value entry : live_.get({"metadata", "managedFields"}).items()) {
      const std::string_view time = entry.get("time").as_string();
      lines.push_back(fmt::format(
          "{} {}{}{} {} {}", entry.get("manager").as_string(), entry.get("operation").as_string(),
          entry.has("subresource") ? "/" : "", entry.get("subresource").as_string(),
          time.empty() ? "-" : time.substr(11, 8), json::write(entry.get("fieldsV1"))));
    }
    return lines;
  }

  std::string live(std::initializer_list<std::string_view> path) const {
    return json::write(live_.get(path));
  }
  void set_managed_fields(std::string_view list) {
    live_.get("metadata").set("managedFields", parse(list));
  }
  void a_second_passes() { now_ += std::chrono::seconds(1); }
  Value parse(std::string_view text) {
    Result<Value> tree = json::parse(arena_, text);
    MUSTER_ASSERT(tree.has_value(), tree.error().message.c_str());
    return *tree;
  }
  Writer writer(std::string_view manager, std::string_view subresource) const {
    return {.manager = manager, .subresource = subresource, .resource = kind_, .now = now_};
  }

  const api::Resource* kind_ = &resource("v1", "ConfigMap");
  json::Arena arena_;
  Value live_;
  bool changed_ = false;

 private:
  void save(Value object) {
    live_ = json::clone(arena_, object);
    live_.object_at("metadata").set("uid", "u1");
  }

  Time now_ = *parse_time("2026-11-15T10:00:00Z");
};

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(ManagedFields, ApplyReplacesWhatTheManagerAppliedBefore) {
  EXPECT_EQ(
      apply("one", R"({"kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","j":"1"}})"), "");
  EXPECT_THAT(owners(), ElementsAre(R"(one Apply 10:00:00 {"f:data":{"f:j":{},"f:k":{}}})"));
  a_second_passes();
  EXPECT_EQ(
      apply("one", R"({"kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","j":"1"}})"), "");
  EXPECT_FALSE(changed_);
  EXPECT_THAT(owners(), ElementsAre(R"(one Apply 10:00:00 {"f:data":{"f:j":{},"f:k":{}}})"))
      << "same again: no change";
  EXPECT_EQ(apply("one", R"({"metadata":{"name":"a"},"data":{"k":"2"}})"), "");
  EXPECT_TRUE(changed_);
  EXPECT_EQ(live({"data"}), R"({"k":"2"})") << "what is no longer applied is removed";
  EXPECT_THAT(owners(), ElementsAre(R"(one Apply 10:00:01 {"f:data":{"f:k":{}}})"));
}

TEST_F(ManagedFields, AppliersConflictUnlessTheyAgreeOrForce) {
  apply("one", R"({"data":{"k":"2"}})");
  EXPECT_EQ(apply("two", R"({"data":{"k":"3"}})"),
            R"(Apply failed with 1 conflict: conflict with "one": .data.k)");
  a_second_passes();
  EXPECT_EQ(apply("two", R"({"data":{"k":"2"}})"), "") << "same value: both own it";
  EXPECT_THAT(owners(), ElementsAre(R"(two Apply - {"f:data":{"f:k":{}}})",
                                    R"(one Apply 10:00:00 {"f:data":{"f:k":{}}})"))
      << "no change, no time";
  EXPECT_EQ(apply("two", R"({"data":{"k":"3"}})", true), "");
  EXPECT_THAT(owners(), ElementsAre(R"(two Apply 10:00:01 {"f:data":{"f:k":{}}})"));
}

TEST_F(ManagedFields, APlainPatchTakesOwnership) {
  apply("one", R"({"data":{"k":"2","y":"1"}})");
  update("corpus", R"({"data":{"k":"5","y":"1"}})");
  EXPECT_THAT(owners(), ElementsAre(R"(one Apply 10:00:00 {"f:data":{"f:y":{}}})",
                                    R"(corpus Update 10:00:00 {"f:data":{"f:k":{}}})"));
  EXPECT_EQ(apply("two", R"({"data":{"k":"6"}})"),
            R"(Apply failed with 1 conflict: conflict with "corpus" using v1: .data.k)");
}

// docs/apply.md
TEST_F(ManagedFields, TheExampleOfTheDocument) {
  apply("one", R"({"data":{"k":"1","j":"1"}})");
  update("edit", R"({"data":{"k":"2","j":"1"}})");
  EXPECT_THAT(owners(), ElementsAre(R"(one Apply 10:00:00 {"f:data":{"f:j":{}}})",
                                    R"(edit Update 10:00:00 {"f:data":{"f:k":{}}})"));
  EXPECT_EQ(apply("one", R"({"data":{"k":"1"}})"),
            R"(Apply failed with 1 conflict: conflict with "edit" using v1: .data.k)");
  EXPECT_EQ(apply("one", R"({"data":{"k":"1"}})", true), "");
  EXPECT_EQ(live({"data"}), R"({"k":"1"})");
  EXPECT_THAT(owners(), ElementsAre(R"(one Apply 10:00:00 {"f:data":{"f:k":{}}})"));
}

TEST_F(ManagedFields, ConflictsAreGroupedByManager) {
  apply("m2", R"({"metadata":{"labels":{"x":"1"}},"data":{"k":"1"}})");
  update("m1", R"({"metadata":{"labels":{"x":"1"}},"data":{"k":"1","q":"1"}})");
  const Result<Applied> refused =
      fields::apply(arena_, writer("m3", ""), live_,
                    parse(R"({"metadata":{"labels":{"x":"2"}},"data":{"k":"2","q":"2"}})"), false);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_EQ(refused.error().message,
            "Apply failed with 3 conflicts: conflicts with \"m1\" using v1:\n- .data.q\nconflicts "
            "with \"m2\":\n- .data.k\n"
            "- .metadata.labels.x");
  ASSERT_EQ(refused.error().causes.size(), 3U);
  EXPECT_EQ(refused.error().causes[0].reason, "FieldManagerConflict");
  EXPECT_EQ(refused.error().causes[0].message, R"(conflict with "m1" using v1)");
  EXPECT_EQ(refused.error().causes[0].field, ".data.q");
}

TEST_F(ManagedFields, AnApplierOfNothingDisappears) {
  apply("one", R"({"data":{"k":"2"}})");
  apply("two", R"({"data":{"k":"2","l":"1"}})");
  apply("one", R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(live({"data"}), R"({"k":"2","l":"1"})") << "the other one still owns it";
  EXPECT_THAT(owners(), ElementsAre(R"(two Apply 10:00:00 {"f:data":{"f:k":{},"f:l":{}}})"));
}

TEST_F(ManagedFields, UpdateTakesNoFieldsWhoseValueDidNotChange) {
  update("first", R"({"data":{"a":"1","b":"2"}})");
  a_second_passes();
  update("second", R"({"data":{"a":"1","b":"2"}})");
  update("second", R"({"data":{"a":"1","b":"3"}})");
  EXPECT_THAT(owners(), ElementsAre(R"(first Update 10:00:00 {"f:data":{".":{},"f:a":{}}})",
                                    R"(second Update 10:00:01 {"f:data":{"f:b":{}}})"));
  a_second_passes();
  update("second", R"({"data":{"a":"1","b":"3"}})");
  EXPECT_THAT(owners()[1], testing::HasSubstr("10:00:01"))
      << "nothing gained: the entry stays untouched";
  update("first", R"({"data":{"b":"3"}})");
  EXPECT_THAT(owners(), ElementsAre(R"(first Update 10:00:00 {"f:data":{}})",
                                    R"(second Update 10:00:01 {"f:data":{"f:b":{}}})"))
      << "what is removed has no owner";
}

TEST_F(ManagedFields, ServerFieldsHaveNoOwner) {
  update(
      "m",
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n","uid":"u","generation":1,
                  "creationTimestamp":"2026-11-15T10:00:00Z","resourceVersion":"1","generateName":"g-"}})");
  EXPECT_THAT(owners(), ElementsAre(R"(m Update 10:00:00 {"f:metadata":{"f:generateName":{}}})"));
}

TEST_F(ManagedFields, ABodyMayReplaceTheEntries) {
  update("m", R"({"data":{"a":"1"}})");
  const auto with_entries = [](std::string_view list) {
    return fmt::format(R"({{"metadata":{{"managedFields":{}}},"data":{{"a":"1","b":"2"}}}})", list);
  };
  update(
      "n",
      with_entries(
          R"([{"manager":"renamed","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}])"));
  EXPECT_THAT(owners(), ElementsAre(R"(renamed Apply - {"f:data":{"f:a":{}}})",
                                    R"(n Update 10:00:00 {"f:data":{"f:b":{}}})"));
  const std::vector<std::string> before = owners();
  update("o", with_entries(R"([{"manager":"x","operation":"Bad"}])"));
  EXPECT_EQ(owners(), before) << "what is not understood is ignored";
  update("o", with_entries("null"));
  EXPECT_EQ(owners(), before);
  update("o", with_entries("[{}]"));
  EXPECT_THAT(owners(), IsEmpty()) << "this asks for none";
}

TEST_F(ManagedFields, AfterAResetNothingIsTrackedUntilSomebodyApplies) {
  update("m", R"({"metadata":{"labels":{"l":"1"}},"data":{"a":"1"}})");
  update("m", R"({"metadata":{"labels":{"l":"1"},"managedFields":[]},"data":{"a":"1"}})");
  EXPECT_THAT(owners(), IsEmpty());
  update("m", R"({"metadata":{"labels":{"l":"1"}},"data":{"a":"2"}})");
  EXPECT_THAT(owners(), IsEmpty());
  EXPECT_EQ(
      apply("one", R"({"data":{"a":"3"}})"),
      R"(Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a)");
  apply("one", R"({"data":{"b":"1"}})");
  EXPECT_THAT(
      owners(),
      ElementsAre(
          R"(one Apply 10:00:00 {"f:data":{"f:b":{}}})",
          R"(before-first-apply Update 10:00:00 {"f:data":{".":{},"f:a":{}},"f:metadata":{"f:labels":{".":{},"f:l":{}}}})"));
}

TEST_F(ManagedFields, EntriesOfUnknownVersionsAreDropped) {
  update("m", R"({"data":{"a":"1"}})");
  set_managed_fields(
      R"([{"manager":"old","operation":"Update","apiVersion":"v0","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}])");
  update("n", R"({"data":{"a":"1","b":"1"}})");
  EXPECT_THAT(owners(), ElementsAre(R"(n Update 10:00:00 {"f:data":{"f:b":{}}})"));
}

TEST_F(ManagedFields, EventsHaveTwoVersions) {
  kind_ = &resource("v1", "Event");
  update("m", R"({"metadata":{"labels":{"a":"1"}},"message":"x"})");
  // The server hands over both objects in the version of the request.
  kind_ = &resource("events.k8s.io/v1", "Event");
  live_.erase("message");
  live_.set("note", "x");
  update("n", R"({"metadata":{"labels":{"a":"2"}},"note":"x"})");
  EXPECT_EQ(
      live({"metadata", "managedFields"}),
      R"([{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-11-15T10:00:00Z","fieldsType":"FieldsV1",)"
      R"("fieldsV1":{"f:message":{},"f:metadata":{"f:labels":{}}}},)"
      R"({"manager":"n","operation":"Update","apiVersion":"events.k8s.io/v1","time":"2026-11-15T10:00:00Z",)"
      R"("fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}}}}])");
}

TEST_F(ManagedFields, AnEndpointOwnsOnlyWhatItMayWrite) {
  kind_ = &ThingKind::resource();
  update("m", R"({"metadata":{"name":"t"},"spec":{"text":"a"},"status":{"phase":"x"}})");
  EXPECT_THAT(owners(), ElementsAre(R"(m Update 10:00:00 {"f:spec":{".":{},"f:text":{}}})"));
  update(
      "m",
      R"({"metadata":{"name":"t","labels":{"a":"b"}},"spec":{"text":"b"},"status":{"phase":"y"}})",
      "status");
  EXPECT_THAT(owners(), ElementsAre(R"(m Update 10:00:00 {"f:spec":{".":{},"f:text":{}}})",
                                    R"(m Update/status 10:00:00 {"f:status":{"f:phase":{}}})"));
  EXPECT_EQ(
      apply("a", R"({"metadata":{"labels":{"q":"r"}},"spec":{"text":"zz"},"status":{"phase":"y"}})",
            false, "status"),
      "")
      << "other fields are ignored, not refused";
  EXPECT_THAT(owners()[0], R"(a Apply/status 10:00:00 {"f:status":{"f:phase":{}}})");
}

TEST_F(ManagedFields, ABodysEntriesAreIgnoredOnSubresources) {
  kind_ = &ThingKind::resource();
  update("m", R"({"spec":{"text":"a"}})");
  update("n", R"({"metadata":{"managedFields":[]},"spec":{"text":"a"},"status":{"phase":"x"}})",
         "status");
  EXPECT_THAT(owners(),
              ElementsAre(R"(m Update 10:00:00 {"f:spec":{".":{},"f:text":{}}})",
                          R"(n Update/status 10:00:00 {"f:status":{".":{},"f:phase":{}}})"));
}

// 1.6.5
TEST_F(ManagedFields, PruningLeavesWhatOthersOwnOrNobodyOwns) {
  kind_ = &ThingKind::resource();
  apply(
      "one",
      R"({"spec":{"items":[{"name":"x","value":"1","count":1},{"name":"y","value":"2"}],"nested":{"deep":{"x":"a"}}}})");
  update(
      "two",
      R"({"spec":{"items":[{"name":"x","value":"1","count":1,"flag":true},{"name":"y","value":"2"}],
                    "nested":{"deep":{"x":"a","y":2}},"number":1}})");
  apply("three", R"({"spec":{"items":[{"name":"x","count":1}]}})");
  apply("one", R"({"spec":{"text":"t"}})");
  EXPECT_EQ(
      live({"spec"}),
      R"({"items":[{"name":"x","count":1,"flag":true}],"nested":{"deep":{"y":2}},"number":1,"text":"t"})")
      << "x is three's, too; y goes with all it has; nested.deep.y is two's";
  apply("three", R"({"spec":{"text":"t"}})");
  EXPECT_EQ(live({"spec"}), R"({"items":null,"nested":{"deep":{"y":2}},"number":1,"text":"t"})")
      << "the item goes with its last owner, although two owns a field in it; an emptied list is "
         "null";
}

TEST_F(ManagedFields, ADocumentMustFitItsSchema) {
  EXPECT_EQ(apply("one", R"({"metadata":{"name":"a"},"bogus":1})"),
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .bogus: field not "
            "declared in schema");
  kind_ = &ThingKind::resource();
  EXPECT_EQ(apply("one", R"({"metadata":{"name":"a","namespace":"n"},"spec":{"text":1}})"),
            "failed to create typed patch object (n/a; test.io/v1, Kind=Thing): .spec.text: "
            "expected string, got "
            "&value.valueUnstructured{Value:1}");
}

TEST_F(ManagedFields, ALiveObjectMustFitToo) {
  kind_ = &ThingKind::resource();
  live_ = parse(R"({"metadata":{"name":"a","uid":"u"},"spec":{"tags":[null]}})");
  EXPECT_EQ(apply("one", R"({"spec":{"text":"a"}})"),
            "failed to create typed live object (/a; test.io/v1, Kind=Thing): .spec.tags: element "
            "0: associative list "
            "without keys has an element that's an explicit null");
}

TEST_F(ManagedFields, UpdatesThatCannotBeUnderstoodKeepTheEntries) {
  kind_ = &ThingKind::resource();
  update("m", R"({"spec":{"text":"a"}})");
  update("n", R"({"spec":{"text":"b","tags":[null]}})");
  EXPECT_THAT(owners(), ElementsAre(R"(m Update 10:00:00 {"f:spec":{".":{},"f:text":{}}})"));
}

TEST_F(ManagedFields, NoEntriesMakePruningTakeTheKeyOutOfAnItem) {
  kind_ = &ThingKind::resource();
  apply("one", R"({"spec":{"items":[{"name":"x","value":"1"}]}})");
  set_managed_fields(
      R"([{"manager":"one","operation":"Apply","apiVersion":"test.io/v1","fieldsType":"FieldsV1",
           "fieldsV1":{"f:spec":{"f:items":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}}}}}},
          {"manager":"two","operation":"Apply","apiVersion":"test.io/v1","fieldsType":"FieldsV1",
           "fieldsV1":{"f:spec":{"f:items":{"k:{\"name\":\"x\"}":{".":{}}}}}}])");
  EXPECT_EQ(apply("one", R"({"spec":{"text":"t"}})"), "");
  EXPECT_EQ(live({"spec"}), R"({"text":"t"})") << "two's claim of an item without its name is void";
}

TEST_F(ManagedFields, TheAppliedObjectSharesNothing) {
  apply("one", R"({"data":{"a":"1"}})");
  const Value config = parse(R"({"data":{"b":"2"}})");
  const Result<Applied> applied = fields::apply(arena_, writer("two", ""), live_, config, false);
  ASSERT_TRUE(applied.has_value());
  applied->object.get("data").set("a", "changed");
  applied->object.get("data").set("b", "changed");
  EXPECT_EQ(live({"data", "a"}), R"("1")");
  EXPECT_EQ(json::write(config), R"({"data":{"b":"2"}})");
}

TEST_F(ManagedFields, KubectlDropsAnAnnotationThatGrowsTooLarge) {
  const std::string_view key = "kubectl.kubernetes.io/last-applied-configuration";
  update("m", fmt::format(R"({{"metadata":{{"annotations":{{"{}":"{{}}","big":"{}"}}}}}})", key,
                          std::string(262000, 'x')));
  apply("kubectl", fmt::format(R"({{"data":{{"k":"{}"}}}})", std::string(200, 'y')));
  EXPECT_FALSE(live_.get({"metadata", "annotations"}).has(key));
  EXPECT_TRUE(live_.get({"metadata", "annotations"}).has("big"));
}

// 1.9
TEST(KeepTimes, WhenNothingElseChanged) {
  const std::string_view before =
      R"({"metadata":{"name":"a","managedFields":[{"manager":"m","time":"1","fieldsV1":{"f:a":{}}},{"manager":"n"}]},"data":{"a":"1"}})";
  const Tree live(before);
  const Tree same(
      R"({"data":{"a":"1"},"metadata":{"managedFields":[{"manager":"m","time":"2","fieldsV1":{"f:a":{}}},{"manager":"n","time":"2"}],"name":"a"}})");
  keep_times_if_unchanged(live, same);
  EXPECT_THAT(same.root, json::IsJson(before));
  for (
      const std::string other :
      {R"({"metadata":{"name":"a","managedFields":[{"manager":"m","time":"2","fieldsV1":{"f:a":{}}},{"manager":"n"}]},"data":{"a":"2"}})",
       R"({"metadata":{"name":"b","managedFields":[{"manager":"m","time":"2","fieldsV1":{"f:a":{}}},{"manager":"n"}]},"data":{"a":"1"}})",
       R"({"metadata":{"name":"a","managedFields":[{"manager":"m","time":"2","fieldsV1":{"f:b":{}}},{"manager":"n"}]},"data":{"a":"1"}})",
       R"({"metadata":{"name":"a","managedFields":[{"manager":"m","time":"2","fieldsV1":{"f:a":{}}}]},"data":{"a":"1"}})"}) {
    const Tree changed(other);
    keep_times_if_unchanged(live, changed);
    EXPECT_EQ(json::write(changed.root), other);
  }
}

TEST(CheckManagedFields, SaysWhatIsWrong) {
  EXPECT_TRUE(check_managed_fields(Value()).has_value());
  const Tree broken(
      R"([{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"a":{}}}])");
  const Status status = check_managed_fields(broken);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::kBadRequest);
}

}  // namespace managed_fields_test
}  // namespace muster::fields
