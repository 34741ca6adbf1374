#include <gmock/gmock.h>

#include "api/decode/decode.h"
#include "api/testing.h"
#include "base/base64.h"

namespace muster::api {
namespace decode_protobuf_test {

using json::Value;
using testing::HasSubstr;

std::string bytes_of(std::string_view base64) { return decode_base64(base64).value(); }

std::string varint(std::size_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  return out + static_cast<char>(value);
}

// A field of bytes on the wire.
std::string field(std::size_t number, std::string_view content) {
  return (varint(number << 3 | 2) + varint(content.size())).append(content);
}

std::string envelope(std::string_view api_version, std::string_view kind, std::string_view raw) {
  return std::string("k8s\0", 4) + field(1, field(1, api_version) + field(2, kind)) + field(2, raw);
}

// A protobuf body as JSON text after decode(), or the error.
std::string decoded(std::string_view body) {
  json::Arena arena;
  const Result<Value> tree = decode_protobuf(arena, body, Registry::builtin());
  if (!tree) return tree.error().message;
  const Schema* const type = Registry::builtin().type_of_kind(tree->get("apiVersion").as_string(),
                                                              tree->get("kind").as_string());
  DecodeReport report;
  const Result<Value> object = decode_type(arena, *tree, *type, false, report);
  EXPECT_THAT(report.unknown, testing::IsEmpty());
  return object ? json::write(*object) : object.error().message;
}

TEST(DecodeProtobuf, ReadsWhatAServerWrote) {
  const json::Tree samples(read_testdata("protobuf_samples.json"));
  ASSERT_EQ(samples.root.size(), 5U);
  for (const Value sample : samples.root.items()) {
    EXPECT_EQ(decoded(bytes_of(sample.get("protobufBase64").as_string())),
              json::write(sample.get("json")));
  }
}

TEST(DecodeProtobuf, ReadsARequestBody) {
  EXPECT_EQ(
      decoded(bytes_of("azhzAAoPCgJ2MRIJQ29uZmlnTWFwEp8BCpQBCgFhEgAaB2Nhc2UtMzkiACokNDY2NmRjZTgtZTB"
                       "jZi00NmQ2LTlhMzAtYTgyN2M0Y2"
                       "U0M2U3MgM0NjM4AEIICPG+5dcGEACKAUoKBmNvcnB1cxIGVXBkYXRlGgJ2MSIICPG+"
                       "5dcGEAAyCEZpZWxkc1YxOh4KHHsiZjpkYXRh"
                       "Ijp7Ii4iOnt9LCJmOmsiOnt9fX1CABIGCgFrEgF2GgAiAA==")),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"case-39","uid":)"
      R"("4666dce8-e0cf-46d6-9a30-a827c4ce43e7","resourceVersion":"463","creationTimestamp":"2026-11-15T07:29:53Z",)"
      R"("managedFields":[{"manager":"corpus","operation":"Update","apiVersion":"v1","time":"2026-11-15T07:29:53Z",)"
      R"("fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}}}}]},"data":{"k":"v"}})");
}

TEST(DecodeProtobuf, ReadsKindsThatAreNoResources) {
  // DeleteOptions{gracePeriodSeconds: 0, preconditions: {uid: "u"}}
  EXPECT_EQ(
      decoded(envelope("batch/v1", "DeleteOptions",
                       std::string("\x08\x00", 2) + field(2, field(1, "u")))),
      R"({"kind":"DeleteOptions","apiVersion":"batch/v1","gracePeriodSeconds":0,"preconditions":{"uid":"u"}})");
  // SubjectAccessReview{spec: {extra: {"k": ["a", "b"]}, user: "x"}}: the lists are messages of
  // their own.
  const std::string extra = field(5, field(1, "k") + field(2, field(1, "a") + field(1, "b")));
  EXPECT_THAT(decoded(envelope("authorization.k8s.io/v1", "SubjectAccessReview",
                               field(2, field(3, "x") + extra))),
              HasSubstr(R"("spec":{"user":"x","extra":{"k":["a","b"]}})"));
}

TEST(DecodeProtobuf, SkipsFieldsThatItDoesNotKnow) {
  EXPECT_EQ(decoded(envelope("v1", "ConfigMap",
                             field(1, field(1, "n") + field(15, "?")) + field(14, "?"))),
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n"}})");
}

TEST(DecodeProtobuf, RefusesWhatIsMalformed) {
  const std::string whole = envelope("v1", "ConfigMap", field(1, field(1, "name")));
  EXPECT_THAT(decoded("{}"), HasSubstr("expected prefix [107 56 115 0]"));
  EXPECT_THAT(decoded(""), HasSubstr("expected prefix"));
  EXPECT_THAT(decoded(envelope("v1", "Nothing", "")),
              HasSubstr(R"(no kind "Nothing" is registered for version "v1")"));
  EXPECT_THAT(decoded(envelope("jobset.x-k8s.io/v1alpha2", "JobSet", "")), HasSubstr("no kind"));
  // metadata as a number, a name that is no UTF-8, a group, a length past the end
  EXPECT_THAT(decoded(envelope("v1", "ConfigMap", std::string("\x08\x01", 2))),
              HasSubstr("malformed"));
  EXPECT_THAT(decoded(envelope("v1", "ConfigMap", field(1, field(1, "\xff")))),
              HasSubstr("invalid UTF-8"));
  EXPECT_THAT(decoded(envelope("v1", "ConfigMap", "\x0b")), HasSubstr("malformed"));
  EXPECT_THAT(decoded(envelope("v1", "ConfigMap", "\x0a\x7f")), HasSubstr("malformed"));
  EXPECT_EQ(decoded(whole), R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"name"}})");
}

TEST(DecodeProtobuf, EveryCutOfABodyIsRefusedOrShorterButSafe) {
  const json::Tree samples(read_testdata("protobuf_samples.json"));
  const std::string body = bytes_of(samples.root.item(0).get("protobufBase64").as_string());
  for (std::size_t length = 0; length < body.size(); ++length) {
    json::Arena arena;
    (void)decode_protobuf(arena, std::string_view(body).substr(0, length), Registry::builtin());
  }
}

TEST(DecodeProtobuf, NestingHasALimit) {
  std::string schema;
  for (int i = 0; i < 1000; ++i) schema = field(28, schema);  // JSONSchemaProps.not, in itself
  const std::string definition = field(2, field(7, field(4, field(1, schema))));
  EXPECT_EQ(decoded(envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition)),
            "exceeded max depth");
}

}  // namespace decode_protobuf_test
}  // namespace muster::api
