#include "controllers/endpoints/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace muster::controllers::endpoints {
namespace selection_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Services and pods as caches have them.
class Selections : public ::testing::Test {
 protected:
  using Services = std::map<std::string, std::unique_ptr<const Service>, std::less<>>;

  void set_service(const std::string& ns, const std::string& name, Labels selector) {
    auto service = std::make_unique<Service>();
    service->ref = {.ns = ns, .name = name};
    service->selector = std::move(selector);
    const auto old = take(services_, ns + "/" + name);
    const Service* const now = (services_[ns + "/" + name] = std::move(service)).get();
    selection_.service_changed(old.get(), now);
  }
  void remove_service(const std::string& ns, const std::string& name) {
    if (const auto old = take(services_, ns + "/" + name))
      selection_.service_changed(old.get(), nullptr);
  }
  void set_pod(const std::string& ns, const std::string& name, Labels labels) {
    auto pod = std::make_unique<Pod>();
    pod->ref = {.ns = ns, .name = name};
    pod->labels = std::move(labels);
    const auto old = take(pods_, ns + "/" + name);
    const Pod* const now = (pods_[ns + "/" + name] = std::move(pod)).get();
    selection_.pod_changed(old.get(), now);
  }
  void remove_pod(const std::string& ns, const std::string& name) {
    if (const auto old = take(pods_, ns + "/" + name)) selection_.pod_changed(old.get(), nullptr);
  }

  std::vector<std::string> pods_of(const std::string& service) const {
    return names(selection_.pods_of(*services_.at(service)));
  }
  std::vector<std::string> services_of(const std::string& pod) const {
    return names(selection_.services_of(*pods_.at(pod)));
  }
  template <class View>
  static std::vector<std::string> names(const std::vector<const View*>& views) {
    std::vector<std::string> out;
    for (const View* view : views) out.push_back(view->ref.ns + "/" + view->ref.name);
    return out;
  }

  Selection::Pods pods_;
  Services services_;
  Selection selection_{pods_};

 private:
  template <class Map>
  static Map::mapped_type take(Map& map, const std::string& path) {
    auto node = map.extract(path);
    return node.empty() ? nullptr : std::move(node.mapped());
  }
};

TEST_F(Selections, BothFindEachOtherWhoeverComesFirst) {
  set_pod("d", "b", {{"app", "x"}, {"tier", "web"}});
  set_service("d", "s", {{"app", "x"}});
  set_pod("d", "a", {{"app", "x"}});
  EXPECT_THAT(pods_of("d/s"), ElementsAre("d/a", "d/b"));
  EXPECT_THAT(services_of("d/b"), ElementsAre("d/s"));
}

TEST_F(Selections, TheWholeSelectorAndTheNamespaceCount) {
  set_service("d", "s", {{"app", "x"}, {"tier", "web"}});
  set_pod("d", "only-one", {{"app", "x"}});
  set_pod("e", "elsewhere", {{"app", "x"}, {"tier", "web"}});
  set_pod("d", "other", {{"app", "y"}, {"tier", "web"}});
  EXPECT_THAT(pods_of("d/s"), IsEmpty());
  EXPECT_THAT(services_of("d/only-one"), IsEmpty());
  EXPECT_THAT(services_of("e/elsewhere"), IsEmpty());
}

TEST_F(Selections, AServiceWithoutASelectorSelectsNobody) {
  set_service("d", "s", {});
  set_pod("d", "a", {{"app", "x"}});
  EXPECT_THAT(pods_of("d/s"), IsEmpty());
  EXPECT_THAT(services_of("d/a"), IsEmpty());
}

TEST_F(Selections, AfterAnyChangesAreThoseOfALookAtAll) {
  Rng rng(7);
  const auto any_labels = [&] {
    Labels labels;
    for (const char* key : {"a", "b", "c"}) {
      if (rng.chance(0.5)) labels[key] = rng.chance(0.5) ? "x" : "y";
    }
    return labels;
  };
  for (int i = 0; i < 2'000; ++i) {
    const std::string ns = rng.chance(0.5) ? "d" : "e", name = std::to_string(rng.below(5));
    switch (rng.below(4)) {
      case 0:
        set_service(ns, name, any_labels());
        break;
      case 1:
        remove_service(ns, name);
        break;
      case 2:
        set_pod(ns, name, any_labels());
        break;
      default:
        remove_pod(ns, name);
    }
    std::map<std::string, std::vector<std::string>> pods, services;
    for (const auto& [path, service] : services_) {
      for (const auto& [at, pod] : pods_) {
        if (pod->ref.ns != service->ref.ns || service->selector.empty() ||
            !service->selects(pod->labels))
          continue;
        pods[path].push_back(at);
        services[at].push_back(path);
      }
    }
    for (const auto& [path, service] : services_) ASSERT_EQ(pods_of(path), pods[path]);
    for (const auto& [path, pod] : pods_)
      ASSERT_THAT(services_of(path), ::testing::UnorderedElementsAreArray(services[path]));
  }
}

}  // namespace selection_test
}  // namespace muster::controllers::endpoints
