#include <gmock/gmock.h>

#include "api/views/meta.h"

namespace muster::api {
namespace decode_meta_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(DecodeMeta, ReadsWhatTheStoreLooksAt) {
  const Meta meta = decode_meta(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"7",)"
      R"("generation":3,"creationTimestamp":"2020-01-02T03:04:05Z","deletionTimestamp":"2020-01-02T03:04:06Z",)"
      R"("labels":{"a":"1","b\u0041":"\"2\""},"annotations":{"x":""},"ownerReferences":[{"apiVersion":"batch/v1",)"
      R"("kind":"Job","name":"j","uid":"ju"},{"apiVersion":"v1","kind":"K","name":"k","uid":"ku","controller":true,)"
      R"("blockOwnerDeletion":true}],"finalizers":["f/1","f/2"],"managedFields":[{"manager":"m"}]},"spec":{}})");
  EXPECT_EQ(meta.name, "p");
  EXPECT_EQ(meta.ns, "n");
  EXPECT_EQ(meta.uid, "u");
  EXPECT_EQ(meta.resource_version, "7");
  EXPECT_EQ(meta.generation, 3);
  EXPECT_EQ(format_time(*meta.creation_time), "2020-01-02T03:04:05Z");
  EXPECT_EQ(format_time(*meta.deletion_time), "2020-01-02T03:04:06Z");
  EXPECT_THAT(meta.labels, ElementsAre(Pair("a", "1"), Pair("bA", "\"2\"")));
  EXPECT_EQ(meta.annotation("x"), "");
  EXPECT_EQ(meta.label("zz"), std::nullopt);
  EXPECT_THAT(meta.finalizers, ElementsAre("f/1", "f/2"));
  ASSERT_NE(meta.controller(), nullptr);
  EXPECT_EQ(meta.controller()->uid, "ku");
  EXPECT_TRUE(meta.controller()->block_owner_deletion);
}

TEST(DecodeMeta, WhatIsAbsentIsEmpty) {
  // Custom resources have their metadata after other fields.
  const Meta meta = decode_meta(
      R"({"apiVersion":"a/v1","kind":"K","metadata":{"name":"x","creationTimestamp":null}})");
  EXPECT_EQ(meta.name, "x");
  EXPECT_EQ(meta.ns, "");
  EXPECT_EQ(meta.creation_time, std::nullopt);
  EXPECT_EQ(meta.controller(), nullptr);
  EXPECT_THAT(meta.labels, IsEmpty());
}

TEST(DecodeMetaDeathTest, BytesThatAreNoObjectStopTheProcess) {
  EXPECT_DEATH(decode_meta("[1,2]"), "stored object");
}

}  // namespace decode_meta_test
}  // namespace muster::api
