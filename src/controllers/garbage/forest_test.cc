// Random forests, a small model of the server, and the collector's judgements in random order:
// whatever the order, what is left at the end is what should be left.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "controllers/garbage/plan.h"
#include "controllers/runtime/testing.h"

namespace muster::controllers::garbage {
namespace forest_test {

using json::Value;

struct Owner {
  std::string name;
  bool blocks = false;
};

struct Object {
  int revision = 0;
  std::vector<Owner> owners;
  std::vector<std::string> finalizers;
  bool deleting = false;
  client::ObjectPtr stored = nullptr;
};

class Forest {
 public:
  explicit Forest(std::uint64_t seed) : rng_(seed) {}

  void grow(int size) {
    for (int i = 0; i < size; ++i) {
      Object object;
      for (std::uint64_t owners = rng_.below(4); i > 0 && owners > 0; --owners) {
        const std::string owner = name(static_cast<int>(rng_.below(static_cast<std::uint64_t>(i))));
        const bool known = std::ranges::any_of(
            object.owners, [&](const Owner& each) { return each.name == owner; });
        if (!known) object.owners.push_back({owner, rng_.chance(0.5)});
      }
      objects_[name(i)] = object;
      store(name(i));
    }
  }

  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& [name, object] : objects_) out.insert(name);
    return out;
  }

  std::string any() {
    auto at = objects_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(objects_.size())));
    return at->first;
  }

  // What should be left when `gone` was deleted; `orphan` leaves its dependents alone.
  std::set<std::string> expected(const std::string& gone, bool orphan) const {
    std::set<std::string> alive;
    for (const auto& [name, object] : objects_) {  // owners come before what they own
      if (name == gone) continue;
      bool is_owned = false, has_owner = false;
      for (const Owner& owner : object.owners) {
        if (orphan && owner.name == gone) continue;
        is_owned = true;
        has_owner = has_owner || alive.contains(owner.name);
      }
      if (!is_owned || has_owner) alive.insert(name);
    }
    return alive;
  }

  void remove(const std::string& name, std::string_view policy) {
    Object& object = objects_.at(name);
    std::erase_if(object.finalizers, [](const std::string& each) {
      return each == kForegroundFinalizer || each == kOrphanFinalizer;
    });
    if (policy == "Foreground") object.finalizers.emplace_back(kForegroundFinalizer);
    if (policy == "Orphan") object.finalizers.emplace_back(kOrphanFinalizer);
    object.deleting = true;
    settle(name);
  }

  // Judges until nobody is left to be judged; false if that takes too long.
  bool collect() {
    for (int turn = 0; turn < 10'000; ++turn) {
      if (woken_.empty()) return true;
      auto at = woken_.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(woken_.size())));
      const std::string uid = *at;
      woken_.erase(at);
      if (const Item* item = graph_.find(uid)) carry_out(uid, judged(*item).plan);
    }
    return false;
  }

 private:
  static std::string name(int number) { return fmt::format("m-{:03}", number); }

  Verdict judged(const Item& item) const {
    std::vector<Answer> found;
    for (const api::OwnerReference& owner : item.meta().owners)
      found.push_back(objects_.contains(owner.name) ? Answer::kPresent : Answer::kAbsent);
    return judge({graph_, api::Registry::builtin()}, item, found);
  }

  // A write that comes too late ends the plan, which is then made again.
  void carry_out(const std::string& uid, const Plan& plan) {
    for (const client::Operation& write : plan.operations()) {
      const auto at = objects_.find(write.name);
      json::Arena arena;
      const Value body = *json::parse(arena, write.body.text());
      const bool removal = write.verb == client::Verb::kDelete;
      const Value version = removal ? body.get({"preconditions", "resourceVersion"})
                                    : body.get({"metadata", "resourceVersion"});
      if (at == objects_.end() ||
          (!version.is_null() && version.as_string() != std::to_string(at->second.revision))) {
        woken_.insert(uid);
        return;
      }
      removal ? remove(write.name, body.get("propagationPolicy").as_string())
              : patch(write.name, body.get("metadata"));
    }
  }

  void patch(const std::string& name, Value metadata) {
    Object& object = objects_.at(name);
    if (metadata.has("finalizers")) {
      object.finalizers.clear();
      for (const Value each : metadata.get("finalizers").items())
        object.finalizers.emplace_back(each.as_string());
    }
    if (metadata.has("ownerReferences")) {
      object.owners.clear();
      for (const Value each : metadata.get("ownerReferences").items()) {
        object.owners.push_back(
            {std::string(each.get("name").as_string()), each.get("blockOwnerDeletion").as_bool()});
      }
    }
    settle(name);
  }

  // Stores the object, or lets it go if nothing holds it.
  void settle(const std::string& name) {
    const Object& object = objects_.at(name);
    if (!object.deleting || !object.finalizers.empty()) return store(name);
    const client::ObjectPtr last = object.stored;
    if (foreground_.contains(name)) expect_no_blocker(name);
    objects_.erase(name);
    tell(last, nullptr);
  }

  void expect_no_blocker(const std::string& owner) const {
    for (const auto& [name, object] : objects_) {
      for (const Owner& each : object.owners)
        EXPECT_FALSE(each.name == owner && each.blocks) << name << " still blocks " << owner;
    }
  }

  void store(const std::string& name) {
    Object& object = objects_.at(name);
    object.revision = ++revision_;
    json::Arena arena;
    Value tree = Value::object(arena);
    const Value metadata = tree.object_at("metadata");
    metadata.set("namespace", "d");
    metadata.set("name", name);
    metadata.set("uid", "u-" + name);
    metadata.set("resourceVersion", std::to_string(object.revision));
    if (object.deleting) metadata.set("deletionTimestamp", "2027-01-15T08:00:00Z");
    for (const std::string& each : object.finalizers) {
      metadata.array_at("finalizers").push_back(Value::string(arena, each));
      if (each == kForegroundFinalizer && object.deleting) foreground_.insert(name);
    }
    for (const Owner& owner : object.owners) {
      const Value reference = Value::object(arena);
      reference.set("apiVersion", "v1");
      reference.set("kind", "ConfigMap");
      reference.set("name", owner.name);
      reference.set("uid", "u-" + owner.name);
      reference.set("blockOwnerDeletion", Value::of(owner.blocks));
      metadata.array_at("ownerReferences").push_back(reference);
    }
    const client::ObjectPtr before = object.stored;
    object.stored = std::make_shared<const store::Object>(json::write(tree), object.revision);
    tell(before, object.stored);
  }

  void tell(const client::ObjectPtr& before, const client::ObjectPtr& after) {
    for (const auto& key : graph_.observe(testing::resource("v1", "ConfigMap"), before, after))
      woken_.insert(key.name);
  }

  Rng rng_;
  Graph graph_;
  std::map<std::string, Object> objects_;
  std::set<std::string> foreground_;  // were deleted so
  std::set<std::string> woken_;
  int revision_ = 0;
};

TEST(Forests, WhateverTheOrderWhatIsLeftIsWhatShouldBeLeft) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Forest forest(seed);
    Rng rng(seed);
    forest.grow(30);
    ASSERT_TRUE(forest.collect());
    ASSERT_EQ(forest.names().size(), 30u);
    while (!forest.names().empty()) {
      const std::string victim = forest.any();
      constexpr std::array<std::string_view, 3> kPolicies = {"Background", "Foreground", "Orphan"};
      const std::string_view policy = kPolicies[rng.below(3)];
      const std::set<std::string> expected = forest.expected(victim, policy == "Orphan");
      forest.remove(victim, policy);
      ASSERT_TRUE(forest.collect()) << victim << " " << policy;
      ASSERT_EQ(forest.names(), expected) << victim << " " << policy;
    }
  }
}

}  // namespace forest_test
}  // namespace muster::controllers::garbage
