#include "server/media_type.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace media_type_test {

TEST(Negotiate, TakesTheFirstOfTheBestThatCanBeGiven) {
  EXPECT_EQ(negotiate("", {})->encoding, Encoding::kJson);
  EXPECT_EQ(negotiate("*/*", {})->encoding, Encoding::kJson);
  EXPECT_EQ(negotiate("application/yaml", {})->encoding, Encoding::kYaml);
  EXPECT_EQ(negotiate("text/html, application/json;q=0.5", {})->encoding, Encoding::kJson);
  EXPECT_EQ(negotiate("application/json;q=0.1,application/yaml", {})->encoding, Encoding::kYaml);
}

TEST(Negotiate, KnowsTablesAndPartialMetadata) {
  const auto table = negotiate("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", {});
  EXPECT_EQ(table->shape, Shape::kTable);
  const auto old_table = negotiate("application/json;as=Table;v=v1beta1;g=meta.k8s.io", {});
  EXPECT_EQ(old_table->meta_version, "v1beta1");
  EXPECT_EQ(
      negotiate("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", {})->shape,
      Shape::kPartial);
}

TEST(Negotiate, SkipsWhatItCannotGive) {
  EXPECT_EQ(negotiate("application/json;as=Poem;v=v1;g=meta.k8s.io,application/json", {})->shape,
            Shape::kObject);
  EXPECT_EQ(
      negotiate("application/vnd.kubernetes.protobuf,application/json", {.custom = true})->encoding,
      Encoding::kJson);
}

TEST(Negotiate, RefusesWithTheListOfWhatThereIs) {
  const Error unknown = negotiate("text/html", {.watchable = true}).error();
  EXPECT_EQ(unknown.code, Code::kNotAcceptable);
  EXPECT_TRUE(unknown.message.starts_with(
      "406: Not Acceptable\n\nAvailable representations: application/json,"));
  EXPECT_TRUE(unknown.message.ends_with("application/vnd.kubernetes.protobuf;stream=watch"));
  const Error custom = negotiate("application/vnd.kubernetes.protobuf", {.custom = true}).error();
  EXPECT_TRUE(
      custom.message.starts_with("only the following media types are accepted: application/json"));
}

TEST(BodyEncoding, IsJsonUnlessToldOtherwise) {
  EXPECT_EQ(*body_encoding("", false), Encoding::kJson);
  EXPECT_EQ(*body_encoding("Application/JSON; charset=utf-8", false), Encoding::kJson);
  EXPECT_EQ(*body_encoding("application/vnd.kubernetes.protobuf", false), Encoding::kProtobuf);
  EXPECT_EQ(body_encoding("application/vnd.kubernetes.protobuf", true).error().code,
            Code::kUnsupportedMediaType);
  EXPECT_EQ(body_encoding("*/*", false).error().code, Code::kUnsupportedMediaType);
}

}  // namespace media_type_test
}  // namespace muster::server
