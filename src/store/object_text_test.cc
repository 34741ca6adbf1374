// A row whose checksum fits may still hold what nothing can serve: it is named before it is served.
#include "store/object_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/schema/registry.h"
#include "store/testing/store_fixture.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace object_text_test {

using namespace muster::store::testing;  // NOLINT: verbs of the tests
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default","resourceVersion":"2"}})";

Record row(std::string_view text) { return {2, "pods", "default", "a", text}; }

TEST(ObjectText, IsAnObjectOfTheNameThatItsRowHas) {
  EXPECT_EQ(fault_in_text(row(kPod)), "");
  EXPECT_EQ(
      fault_in_text({2, "nodes", "", "n",
                     R"({"kind":"Node","metadata":{"name":"n","resourceVersion":"2"},"x":1})"}),
      "");
}

TEST(ObjectText, AnythingElseIsAFault) {
  for (const char* text :
       {"", "7", "null", "[]", "\"text\"", "{}", "{", "not JSON", R"({"metadata":7})",
        R"({"metadata":{"name":7}})", R"({"metadata":{"name":"a","namespace":"default"})",
        R"({"metadata":{"name":"b","namespace":"default","resourceVersion":"2"}})",
        R"({"metadata":{"name":"a","resourceVersion":"2"}})",
        R"({"metadata":{"name":"a","namespace":"default"}})"}) {
    EXPECT_THAT(fault_in_text(row(text)), HasSubstr("revision 2 (pods default/a) is damaged: "))
        << text;
  }
}

class StoredText : public ::testing::Test {
 protected:
  void write(std::string_view text) {
    auto disk = open_sqlite(dir.path(), {.vfs = "", .reserved_log_bytes = 0});
    ASSERT_TRUE(disk) << disk.error().message;
    ASSERT_TRUE((*disk)->load([](const Record&) {}));
    ASSERT_TRUE((*disk)->append(std::vector<Record>{row(text)}));
  }
  Status open() {
    MUSTER_TRY(auto disk, open_sqlite(dir.path(), {.vfs = "", .reserved_log_bytes = 0}));
    MUSTER_TRY(const auto store, Store::open(std::move(disk), api::Registry::builtin(), clock,
                                             metrics, {.commit_inline = true}));
    return {};
  }
  std::vector<std::string> faults() {
    return *check_sqlite(dir.path(), {.vfs = "", .rule = fault_in_text});
  }

  TempDirectory dir;
  ManualClock clock{Time{}};
  Metrics metrics;
};

TEST_F(StoredText, AnObjectIsServed) {
  write(kPod);
  EXPECT_TRUE(open());
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(StoredText, WhatIsNoObjectIsFoundByACheckAndRefusedByAStart) {
  write("[]");
  EXPECT_THAT(faults(), ElementsAre("revision 2 (pods default/a) is damaged: its text is not an "
                                    "object with metadata"));
  const Status opened = open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("revision 2 (pods default/a) is damaged"));
  EXPECT_THAT(opened.error().message, HasSubstr("muster check"));
}

// Both ends and the metadata are as they should be.
TEST_F(StoredText, WhatLooksLikeAnObjectIsParsedBeforeItIsServed) {
  write(
      R"({"metadata":{"name":"a","namespace":"default","resourceVersion":"2"},"spec":{"containers":[}})");
  const Status opened = open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message,
            "revision 2 (pods default/a) is damaged: its text is not JSON; `muster check` lists "
            "all that is wrong");
}

TEST_F(StoredText, MetadataThatNothingCouldReadIsRefused) {
  write(
      R"({"metadata":{"name":"a","namespace":"default","resourceVersion":"2","labels":{"a":1}}})");
  const Status opened = open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("its text is not an object with metadata"));
}

}  // namespace object_text_test
}  // namespace muster::store
