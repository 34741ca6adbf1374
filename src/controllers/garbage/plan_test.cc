#include "controllers/garbage/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"
#include "json/testing.h"

namespace muster::controllers::garbage {
namespace plan_test {

using json::IsJson;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Owner {
  std::string name;  // its uid is "u-<name>"
  bool blocks = true;
  std::string api_version = "v1";
  std::string kind = "ConfigMap";
};

struct Options {
  std::string ns = "d";
  std::string api_version = "v1";
  std::string kind = "ConfigMap";
  std::vector<std::string> finalizers = {};
  bool deleting = false;
};

// A small world of config maps that own each other.
class Garbage : public ::testing::Test {
 protected:
  const Item& add(const std::string& name, const std::vector<Owner>& owners = {},
                  const Options& options = {}) {
    const api::Resource& resource = testing::resource(options.api_version, options.kind);
    json::Arena arena;
    json::Value object = json::Value::object(arena);
    const json::Value metadata = object.object_at("metadata");
    metadata.set("name", name);
    if (resource.namespaced) metadata.set("namespace", options.ns);
    metadata.set("uid", "u-" + name);
    metadata.set("resourceVersion", std::to_string(++revision_));
    if (options.deleting) metadata.set("deletionTimestamp", "2027-01-15T08:00:00Z");
    for (const std::string& each : options.finalizers)
      metadata.array_at("finalizers").push_back(json::Value::string(arena, each));
    for (const Owner& owner : owners) {
      const json::Value reference = json::Value::object(arena);
      reference.set("apiVersion", owner.api_version);
      reference.set("kind", owner.kind);
      reference.set("name", owner.name);
      reference.set("uid", "u-" + owner.name);
      if (owner.blocks) reference.set("blockOwnerDeletion", json::Value::of(true));
      metadata.array_at("ownerReferences").push_back(reference);
    }
    const auto now = std::make_shared<const store::Object>(json::write(object), revision_);
    auto& slot = objects_[name];
    woken_.clear();
    for (const auto& key : graph_.observe(resource, slot.second, now)) woken_.push_back(key.name);
    slot = {&resource, now};
    return *graph_.find("u-" + name);
  }
  void gone(const std::string& name) {
    const auto [resource, object] = objects_.at(name);
    woken_.clear();
    for (const auto& key : graph_.observe(*resource, object, nullptr)) woken_.push_back(key.name);
    objects_.erase(name);
  }
  Verdict judged(const std::string& name) {
    const Item* const item = graph_.find("u-" + name);
    MUSTER_ASSERT(item != nullptr, "the test has added it");
    const Surroundings around{graph_, api::Registry::builtin()};
    std::vector<Answer> found(item->meta().owners.size(), Answer::kNotAsked);
    Verdict verdict = judge(around, *item, found);
    for (bool answered = true; answered;) {
      answered = false;
      for (const auto& [reference, place] : verdict.ask) {
        const auto at = answers_.find(place.name);
        if (at == answers_.end()) continue;
        found[reference] = at->second;
        answered = true;
      }
      if (answered) verdict = judge(around, *item, found);
    }
    return verdict;
  }
  // "delete configmaps d/a {…body…}", one per write.
  std::vector<std::string> writes(const std::string& name) {
    std::vector<std::string> out;
    for (const client::Operation& write : judged(name).plan.operations())
      out.push_back(write.summary() + " " + write.body.text());
    return out;
  }

  Graph graph_;
  std::map<std::string, Answer> answers_;  // by the name of the owner
  std::vector<std::string> woken_;         // by the last change
  store::Revision revision_ = 0;
  std::map<std::string, std::pair<const api::Resource*, client::ObjectPtr>> objects_;
};

TEST_F(Garbage, WhatHasNoOwnerStays) {
  add("a");
  EXPECT_THAT(woken_, IsEmpty());
  EXPECT_THAT(writes("a"), IsEmpty());
}

TEST_F(Garbage, WhatHasItsOwnerStays) {
  add("owner");
  add("a", {{"owner"}});
  EXPECT_THAT(woken_, ElementsAre("u-a"));
  EXPECT_THAT(writes("a"), IsEmpty());
}

TEST_F(Garbage, AnOwnerThatWasNeverSeenIsAskedForFirst) {
  add("a", {{"owner"}});
  Verdict verdict = judged("a");
  EXPECT_FALSE(verdict.plan.has_writes());
  ASSERT_THAT(verdict.ask, SizeIs(1));
  EXPECT_EQ(verdict.ask[0].place,
            (Place{&testing::resource("v1", "ConfigMap"), "d", "owner", "u-owner"}));

  answers_["owner"] = Answer::kPresent;
  verdict = judged("a");
  EXPECT_FALSE(verdict.plan.has_writes());
  EXPECT_EQ(verdict.plan.look_again, std::chrono::minutes(1)) << "it may go unseen, too";

  answers_["owner"] = Answer::kAbsent;
  EXPECT_THAT(writes("a"),
              ElementsAre("delete configmaps d/a {\"propagationPolicy\":\"Background\","
                          "\"preconditions\":{\"uid\":\"u-a\",\"resourceVersion\":\"1\"}}"));
}

TEST_F(Garbage, NobodyAsksForAnOwnerThatWasSeenToGo) {
  add("owner");
  add("a", {{"owner"}});
  gone("owner");
  EXPECT_THAT(judged("a").ask, IsEmpty());
  EXPECT_THAT(writes("a"), ElementsAre(HasSubstr("delete configmaps d/a")));
  add("b", {{.name = "owner", .kind = "Secret"}});
  EXPECT_THAT(judged("b").ask, SizeIs(1)) << "another place";
}

TEST_F(Garbage, ARootWaitsUntilAllKindsAreKnownUpToItsDeletionOrForAMoment) {
  constexpr Duration kHalf = std::chrono::milliseconds(500), kTenth = kHalf / 5;
  const Options going{.finalizers = {"foregroundDeletion"}, .deleting = true};
  const Item& root = add("root", {}, going);
  const store::Revision deletion = root.object->revision();
  EXPECT_EQ(unsettled(root, deletion - 1, {}), kHalf);
  EXPECT_EQ(unsettled(root, deletion - 1, kTenth), kHalf - kTenth);
  EXPECT_EQ(unsettled(root, deletion - 1, kHalf), std::nullopt);
  EXPECT_EQ(unsettled(root, deletion, {}), std::nullopt) << "nothing is on its way";
  EXPECT_EQ(unsettled(add("branch", {{"root"}}, going), 0, {}), std::nullopt);
  EXPECT_EQ(unsettled(add("stays"), 0, {}), std::nullopt);
}

TEST_F(Garbage, WhenAnOwnerGoesItsDependentsAreLookedAt) {
  add("owner");
  add("b", {{"owner"}});
  add("a", {{"owner"}});
  add("stranger", {{"other"}});
  gone("owner");
  EXPECT_THAT(woken_, ElementsAre("u-a", "u-b"));
}

TEST_F(Garbage, AnOwnerOfTheSameNameAndAnotherUidIsAnother) {
  add("owner");
  add("a", {{"owner"}});
  // Deleted and made again while nobody watched: the informer tells one change.
  const api::Resource& maps = testing::resource("v1", "ConfigMap");
  const auto again = std::make_shared<const store::Object>(
      R"({"metadata":{"namespace":"d","name":"owner","uid":"u-2","resourceVersion":"9"}})", 9);
  const auto keys = graph_.observe(maps, objects_.at("owner").second, again);
  ASSERT_THAT(keys, SizeIs(1));
  EXPECT_EQ(keys[0].name, "u-a");
  EXPECT_EQ(graph_.find("u-owner"), nullptr);
  answers_["owner"] = Answer::kAbsent;
  EXPECT_THAT(writes("a"), SizeIs(1));
}

TEST_F(Garbage, OneSolidOwnerKeepsItAndTheOtherReferencesGo) {
  add("solid");
  add("waiting", {}, {.finalizers = {"foregroundDeletion"}, .deleting = true});
  answers_["absent"] = Answer::kAbsent;
  add("a", {{"absent"}, {"solid", false}, {"waiting"}});
  ASSERT_THAT(writes("a"), SizeIs(1));
  const client::Operation write = judged("a").plan.operations().front();
  EXPECT_EQ(write.summary(), "patch configmaps d/a");
  EXPECT_THAT(json::Tree(write.body.text()).root, IsJson(R"({"metadata":{
    "ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"solid","uid":"u-solid"}],
    "uid":"u-a","resourceVersion":"3"}})"));
}

TEST_F(Garbage, AnOwnerThatIsDeletedInBackgroundButHeldIsSolid) {
  add("owner", {}, {.finalizers = {"x.io/hold"}, .deleting = true});
  add("a", {{"owner"}});
  EXPECT_THAT(writes("a"), IsEmpty());
}

TEST_F(Garbage, WhatIsBeingDeletedIsLeftAlone) {
  answers_["absent"] = Answer::kAbsent;
  add("a", {{"absent"}}, {.finalizers = {"x.io/hold"}, .deleting = true});
  EXPECT_THAT(writes("a"), IsEmpty());
}

TEST_F(Garbage, ItsOwnFinalizersSayHowItIsDeleted) {
  answers_["absent"] = Answer::kAbsent;
  add("a", {{"absent"}}, {.finalizers = {"orphan"}});
  EXPECT_THAT(writes("a"), ElementsAre(HasSubstr("\"Orphan\"")));
  add("b", {{"absent"}}, {.finalizers = {"foregroundDeletion"}});
  EXPECT_THAT(writes("b"), ElementsAre(HasSubstr("\"Foreground\"")));
}

// Foreground: leaves first, the root last.

TEST_F(Garbage, ForegroundDeletionWakesTheDependents) {
  add("root");
  add("leaf", {{"root"}});
  add("root", {}, {.finalizers = {"foregroundDeletion"}, .deleting = true});
  EXPECT_THAT(woken_, ElementsAre("u-root", "u-leaf"));
  EXPECT_THAT(writes("root"), IsEmpty()) << "a dependent blocks";
  EXPECT_THAT(writes("leaf"), ElementsAre(HasSubstr("delete configmaps d/leaf")));
}

TEST_F(Garbage, AMiddleOfATreeIsDeletedInForegroundToo) {
  add("root", {}, {.finalizers = {"foregroundDeletion"}, .deleting = true});
  add("middle", {{"root"}});
  add("leaf", {{"middle"}});
  EXPECT_THAT(writes("middle"), ElementsAre(HasSubstr("\"Foreground\"")));
  EXPECT_THAT(writes("leaf"), IsEmpty()) << "its own owner stays for now";
}

TEST_F(Garbage, TheRootIsReleasedWhenTheLastBlockingDependentIsGone) {
  add("root", {}, {.finalizers = {"x.io/hold", "foregroundDeletion"}, .deleting = true});
  add("blocks", {{"root", true}});
  add("does-not", {{"root", false}});
  EXPECT_THAT(writes("root"), IsEmpty());
  gone("blocks");
  EXPECT_THAT(woken_, ElementsAre("u-root"));
  ASSERT_THAT(writes("root"), SizeIs(1));
  EXPECT_THAT(json::Tree(judged("root").plan.operations()[0].body.text()).root,
              IsJson(R"({"metadata":{"finalizers":["x.io/hold"],"uid":"u-root",
                "resourceVersion":"1"}})"));
}

TEST_F(Garbage, NothingInAnotherNamespaceBlocks) {
  add("root", {}, {.finalizers = {"foregroundDeletion"}, .deleting = true});
  add("stranger", {{"root", true}}, {.ns = "e", .finalizers = {"x.io/hold"}, .deleting = true});
  EXPECT_THAT(writes("root"), ElementsAre(HasSubstr("\"finalizers\":null")));
  add("shared", {},
      {.api_version = "v1",
       .kind = "Node",
       .finalizers = {"foregroundDeletion"},
       .deleting = true});
  add("on-it", {{"shared", true, "v1", "Node"}});
  EXPECT_THAT(writes("shared"), IsEmpty()) << "an owner without a namespace has dependents in all";
}

TEST_F(Garbage, OneOfSeveralReferencesToTheSameOwnerIsEnoughToBlock) {
  add("root", {}, {.finalizers = {"foregroundDeletion"}, .deleting = true});
  add("twice", {{"root", false}, {"root", true}});
  EXPECT_THAT(writes("root"), IsEmpty());
}

TEST_F(Garbage, AReferenceThatNoLongerBlocksWakesTheOwner) {
  add("root", {}, {.finalizers = {"foregroundDeletion"}, .deleting = true});
  add("a", {{"root", true}});
  add("a", {{"root", false}});
  EXPECT_THAT(woken_, ElementsAre("u-a", "u-root"));
  EXPECT_THAT(writes("root"), ElementsAre(HasSubstr("\"finalizers\":null")));
}

TEST_F(Garbage, ADependentThatIsOnItsWayOutStillBlocks) {
  add("root", {}, {.finalizers = {"foregroundDeletion"}, .deleting = true});
  add("leaf", {{"root"}}, {.finalizers = {"x.io/hold"}, .deleting = true});
  EXPECT_THAT(writes("root"), IsEmpty());
  EXPECT_THAT(writes("leaf"), IsEmpty());
}

TEST_F(Garbage, ACircleIsBrokenBeforeItIsDeleted) {
  add("a", {{"b"}}, {.finalizers = {"foregroundDeletion"}, .deleting = true});
  add("b", {{"a"}});
  const std::vector<std::string> steps = writes("b");
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_THAT(steps[0], HasSubstr("patch configmaps d/b"));
  EXPECT_THAT(steps[0], ::testing::Not(HasSubstr("blockOwnerDeletion")));
  EXPECT_THAT(steps[1], HasSubstr("\"Foreground\""));
  EXPECT_THAT(steps[1], ::testing::Not(HasSubstr("resourceVersion")))
      << "the patch before made a new one";
}

TEST_F(Garbage, WhatOwnsItselfDoesNotWaitForItself) {
  add("a", {{"a"}}, {.finalizers = {"foregroundDeletion"}, .deleting = true});
  EXPECT_THAT(writes("a"), ElementsAre(HasSubstr("\"finalizers\":null")));
}

TEST_F(Garbage, InACircleThatGoesInTheForegroundNobodyWaitsForTheOthers) {
  const Options going{.finalizers = {"foregroundDeletion"}, .deleting = true};
  add("a", {{"c"}}, going);
  add("b", {{"a"}}, going);
  add("c", {{"b"}}, going);
  for (const char* each : {"a", "b", "c"})
    EXPECT_THAT(writes(each), ElementsAre(HasSubstr("\"finalizers\":null"))) << each;
  add("outside", {{"b"}});
  EXPECT_THAT(writes("b"), IsEmpty()) << "this one is not in the circle";
  EXPECT_THAT(writes("a"), SizeIs(1));
}

TEST_F(Garbage, ADependentThatWaitsForItsOwnIsNoCircle) {
  const Options going{.finalizers = {"foregroundDeletion"}, .deleting = true};
  add("root", {}, going);
  add("middle", {{"root"}}, going);
  add("leaf", {{"middle"}});
  EXPECT_THAT(writes("root"), IsEmpty());
  EXPECT_THAT(writes("middle"), IsEmpty());
}

TEST_F(Garbage, AFewOwnersAreAskedForAtATime) {
  std::vector<Owner> owners;
  for (int i = 0; i < 10; ++i) owners.push_back({fmt::format("owner-{}", i)});
  const Item& item = add("a", owners);
  const Surroundings around{graph_, api::Registry::builtin()};
  std::vector<Answer> found(owners.size(), Answer::kNotAsked);
  std::size_t asked = 0;
  Verdict verdict = judge(around, item, found);
  for (; !verdict.ask.empty() && asked <= owners.size(); verdict = judge(around, item, found)) {
    EXPECT_LE(verdict.ask.size(), kMostQuestions);
    for (const Question& question : verdict.ask) found[question.reference] = Answer::kAbsent;
    asked += verdict.ask.size();
  }
  EXPECT_EQ(asked, owners.size());
  EXPECT_THAT(verdict.plan.operations(), SizeIs(1));
}

// Orphans.

TEST_F(Garbage, OrphaningTakesTheReferenceOutOfAllAndThenTheFinalizer) {
  add("root", {}, {.finalizers = {"orphan"}, .deleting = true});
  add("other");
  add("a", {{"root"}});
  add("b", {{"other", false}, {"root"}});
  const Plan plan = judged("root").plan;
  ASSERT_THAT(plan.steps, SizeIs(2));
  ASSERT_THAT(plan.steps[0].writes, SizeIs(2));
  EXPECT_THAT(json::Tree(plan.steps[0].writes[0].operation.body.text()).root,
              IsJson(R"({"metadata":{"ownerReferences":null,"uid":"u-a","resourceVersion":"3"}})"));
  EXPECT_THAT(plan.steps[0].writes[1].operation.body.text(), HasSubstr("u-other"));
  EXPECT_EQ(plan.steps[1].writes[0].operation.summary(), "patch configmaps d/root");
}

TEST_F(Garbage, OrphaningNobodyReleasesAtOnce) {
  add("root", {}, {.finalizers = {"orphan"}, .deleting = true});
  EXPECT_THAT(writes("root"), ElementsAre(HasSubstr("\"finalizers\":null")));
}

// References that point nowhere.

TEST_F(Garbage, AnOwnerInAnotherNamespaceIsToldAndTheDependentGoes) {
  add("owner", {}, {.ns = "elsewhere"});
  add("a", {{"owner"}});
  EXPECT_THAT(judged("a").ask, SizeIs(1)) << "it is verified in the namespace of the dependent";
  EXPECT_THAT(judged("a").plan.events, IsEmpty());
  answers_["owner"] = Answer::kAbsent;
  const Plan plan = judged("a").plan;
  EXPECT_THAT(plan.operations(), SizeIs(1));
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_TRUE(plan.events[0].warning);
  EXPECT_EQ(plan.events[0].reason, "OwnerRefInvalidNamespace");
  EXPECT_EQ(plan.events[0].message,
            "ownerRef [v1/ConfigMap, namespace: d, name: owner, uid: u-owner] does not exist in "
            "namespace \"d\"");
  EXPECT_EQ(plan.events[0].regarding.name, "a");
}

TEST_F(Garbage, ADependentThatComesBeforeItsForeignOwnerIsJudgedTheSame) {
  add("a", {{"owner"}});
  add("owner", {}, {.ns = "elsewhere"});
  answers_["owner"] = Answer::kAbsent;
  EXPECT_THAT(judged("a").plan.operations(), SizeIs(1));
  EXPECT_THAT(judged("a").plan.events, SizeIs(1));
}

TEST_F(Garbage, AnOwnerWithoutNamespaceMayOwnAnything) {
  add("n1", {}, {.kind = "Node"});
  add("a", {{.name = "n1", .kind = "Node"}});
  EXPECT_THAT(judged("a").ask, IsEmpty());
  EXPECT_THAT(writes("a"), IsEmpty());
}

TEST_F(Garbage, WhatHasNoNamespaceIsNeverCollectedForAnOwnerInOne) {
  add("owner");
  add("n1", {{"owner"}}, {.kind = "Node"});
  const Verdict verdict = judged("n1");
  EXPECT_FALSE(verdict.plan.has_writes());
  EXPECT_THAT(verdict.ask, IsEmpty());
  EXPECT_THAT(verdict.plan.error, IsEmpty()) << "not retried";
}

TEST_F(Garbage, AReferenceWithAWrongKindIsVerifiedWhereItPoints) {
  add("owner");
  add("a", {{.name = "owner", .kind = "Secret"}});
  ASSERT_THAT(judged("a").ask, SizeIs(1));
  EXPECT_EQ(judged("a").ask[0].place.resource->plural, "secrets");
}

TEST_F(Garbage, AnUnknownKindIsAnErrorThatIsTriedAgain) {
  add("a", {{.name = "owner", .api_version = "nowhere.io/v1", .kind = "Thing"}});
  const Verdict verdict = judged("a");
  EXPECT_FALSE(verdict.plan.has_writes());
  EXPECT_THAT(verdict.plan.error, HasSubstr("nowhere.io/v1/Thing"));
}

TEST_F(Garbage, CustomKindsAreCollectedLikeOthers) {
  add("set", {}, {.api_version = "jobset.x-k8s.io/v1alpha2", .kind = "JobSet"});
  add("job", {{.name = "set", .api_version = "jobset.x-k8s.io/v1alpha2", .kind = "JobSet"}},
      {.api_version = "batch/v1", .kind = "Job"});
  EXPECT_THAT(writes("job"), IsEmpty());
  gone("set");
  answers_["set"] = Answer::kAbsent;
  EXPECT_THAT(writes("job"), ElementsAre(HasSubstr("delete jobs.batch d/job")));
}

TEST_F(Garbage, ChangesThatAreNoneOfItsBusinessWakeNobody) {
  add("owner");
  add("a", {{"owner"}});
  add("a", {{"owner"}});
  EXPECT_THAT(woken_, IsEmpty());
}

}  // namespace plan_test
}  // namespace muster::controllers::garbage
