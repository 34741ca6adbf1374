#include "controllers/serviceaccount/controller.h"

#include <gmock/gmock.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers::serviceaccount {
namespace controller_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kNamespaces = "/api/v1/namespaces";
const std::string kAccounts = "/api/v1/serviceaccounts";
const std::string kCreation = "POST /api/v1/namespaces/d/serviceaccounts";

class AccountController : public controllers::testing::ControllerTest<Controller> {
 protected:
  AccountController() {
    informers_.start();
    server_.complete_all(1);
  }
  void show_namespace(int revision, std::string_view more = "") {
    server_.show(kNamespaces, "ADDED",
                 fmt::format(R"({{"metadata":{{"name":"d","uid":"u","resourceVersion":"{}"{}}}}})",
                             revision, more));
  }
};

TEST_F(AccountController, ANewNamespaceGetsItsAccount) {
  show_namespace(2);
  ASSERT_THAT(server_.waiting(), ElementsAre(kCreation));
  json::Arena arena;
  EXPECT_EQ(server_.asked[0].json(arena).get({"metadata", "name"}).as_string(), "default");
  server_.answer_object("default", 3);
  server_.show_named(kAccounts, "ADDED", "default", 3);
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(AccountController, OneThatSomebodyElseMadeWillDo) {
  show_namespace(2);
  server_.refuse(409, "AlreadyExists");
  server_.pass_time(std::chrono::minutes(1));
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(AccountController, ADeletedAccountIsMadeAgain) {
  server_.show_named(kAccounts, "ADDED", "default", 2);
  show_namespace(3);
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.show_named(kAccounts, "DELETED", "default", 4);
  EXPECT_THAT(server_.waiting(), ElementsAre(kCreation));
}

TEST_F(AccountController, NothingIsMadeInANamespaceThatGoes) {
  show_namespace(2, R"(,"deletionTimestamp":"2030-01-01T00:00:00Z")");
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

}  // namespace controller_test
}  // namespace muster::controllers::serviceaccount
