#include "server/policy_rule.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace policy_rule_test {

TEST(PolicyRule, AllowsWhatItNames) {
  const PolicyRule rule{.verbs = {"get", "list"}, .groups = {"", "batch"}, .resources = {"pods"}};
  EXPECT_TRUE(allows(rule, {.verb = "get", .resource = "pods", .name = "a"}));
  EXPECT_TRUE(allows(rule, {.verb = "list", .group = "batch", .resource = "pods"}));
  EXPECT_FALSE(allows(rule, {.verb = "delete", .resource = "pods"}));
  EXPECT_FALSE(allows(rule, {.verb = "get", .resource = "secrets"}));
  EXPECT_FALSE(allows(rule, {.verb = "get", .group = "apps", .resource = "pods"}));
  EXPECT_FALSE(allows(rule, {.verb = "get", .resource = "pods", .subresource = "log"}))
      << "a subresource is a resource of its own";
  EXPECT_FALSE(allows(rule, {.verb = "get", .path = "/metrics"}));
}

TEST(PolicyRule, KnowsStars) {
  const PolicyRule all{.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}};
  EXPECT_TRUE(allows(all, {.verb = "patch", .group = "g", .resource = "r", .subresource = "s"}));
  const PolicyRule scales{.verbs = {"get"}, .groups = {"*"}, .resources = {"*/scale"}};
  EXPECT_TRUE(allows(scales, {.verb = "get", .resource = "deployments", .subresource = "scale"}));
  EXPECT_FALSE(allows(scales, {.verb = "get", .resource = "deployments"}));
  const PolicyRule paths{.verbs = {"get"}, .paths = {"/healthz", "/apis/*"}};
  EXPECT_TRUE(allows(paths, {.verb = "get", .path = "/apis/batch"}));
  EXPECT_FALSE(allows(paths, {.verb = "get", .path = "/healthz/x"}));
}

TEST(PolicyRule, MayBeForSomeNamesOnly) {
  const PolicyRule rule{.verbs = {"get"}, .groups = {""}, .resources = {"pods"}, .names = {"mine"}};
  EXPECT_TRUE(allows(rule, {.verb = "get", .resource = "pods", .name = "mine"}));
  EXPECT_FALSE(allows(rule, {.verb = "get", .resource = "pods", .name = "yours"}));
  EXPECT_FALSE(allows(rule, {.verb = "get", .resource = "pods"}));
}

}  // namespace policy_rule_test
}  // namespace muster::server
