#include "api/decode/decode.h"

#include <gmock/gmock.h>

#include "api/testing.h"

namespace muster::api {
namespace decode_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A pod's spec as it comes back; metadata and status around it are always there.
std::string pod(std::string_view spec) {
  return decode_text(fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{}}})", spec),
                     resource("v1", "Pod"))
      .text;
}

std::string decoded_pod(std::string_view spec) {
  return fmt::format(
      R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"p"}},"spec":{},"status":{{}}}})",
      spec);
}

std::string error_of(std::string_view text, std::string_view api_version, std::string_view kind) {
  return decode_text(text, resource(api_version, kind)).error;
}

TEST(Decode, WritesFieldsInSchemaOrderWithKindFirst) {
  const Decoded out = decode_text(
      R"({"data":{"b":"2","a":"1"},"metadata":{"uid":"u","name":"n"},"apiVersion":"v1","kind":"ConfigMap"})",
      resource("v1", "ConfigMap"));
  EXPECT_EQ(
      out.text,
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","uid":"u"},"data":{"a":"1","b":"2"}})");
}

TEST(Decode, FillsInKindAndVersionOfABuiltInKind) {
  EXPECT_EQ(decode_text(R"({"metadata":{"name":"n"}})", resource("batch/v1", "CronJob"))
                .text.substr(0, 41),
            R"({"kind":"CronJob","apiVersion":"batch/v1")");
}

TEST(Decode, DropsWhatIsEmptyUnlessItIsWrittenAlways) {
  // Strings, numbers, booleans, lists and maps; `resources` and `containers` are written always.
  EXPECT_EQ(pod(R"({"nodeName":"","hostNetwork":false,"nodeSelector":{},"volumes":[],
                    "containers":[{"name":"c","command":[],"stdin":false}]})"),
            decoded_pod(R"({"containers":[{"name":"c","resources":{}}]})"));
  EXPECT_EQ(pod("{}"), decoded_pod(R"({"containers":null})"));
  EXPECT_EQ(pod(R"({"containers":[]})"), decoded_pod(R"({"containers":null})"));
}

TEST(Decode, KeepsTheEmptyListThatForgetsOwners) {
  const auto decoded = [](std::string_view text, const Resource& of) {
    return decode_text(text, of).text;
  };
  EXPECT_EQ(decoded(R"({"metadata":{"name":"n","managedFields":[]}})", resource("v1", "ConfigMap")),
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","managedFields":[]}})");
  // Upstream reads a custom resource's metadata twice, and loses it; a template's means nothing.
  EXPECT_EQ(decoded(R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet",)"
                    R"("metadata":{"name":"n","managedFields":[]}})",
                    resource("jobset.x-k8s.io/v1alpha2", "JobSet")),
            R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"n"}})");
  EXPECT_EQ(
      decoded(R"({"template":{"metadata":{"managedFields":[]}}})", resource("v1", "PodTemplate"))
          .find("managedFields"),
      std::string::npos);
}

TEST(Decode, KeepsZeroBehindAPointer) {
  EXPECT_EQ(
      pod(R"({"containers":[],"terminationGracePeriodSeconds":0,"automountServiceAccountToken":false,
                    "securityContext":{},"priority":0})"),
      decoded_pod(
          R"({"containers":null,"terminationGracePeriodSeconds":0,"automountServiceAccountToken":)"
          R"(false,"securityContext":{},"priority":0})"));
}

TEST(Decode, NullIsAbsentAndZeroInsideLists) {
  EXPECT_EQ(
      pod(R"({"containers":null,"nodeName":null,"securityContext":null,"tolerations":[null]})"),
      decoded_pod(R"({"containers":null,"tolerations":[{}]})"));
  const Decoded config =
      decode_text(R"({"metadata":{"name":"n"},"data":{"a":null}})", resource("v1", "ConfigMap"));
  EXPECT_EQ(config.text,
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n"},"data":{"a":""}})");
}

TEST(Decode, UnknownFieldsAreDroppedAndReportedInOrder) {
  const Decoded out = decode_text(
      R"({"metadata":{"name":"a","lables":{"a":"b"}},"spec":{"containers":[{"name":"c","imagePullPolcy":"x"}],
          "bogus":1},"Spec":{}})",
      resource("v1", "Pod"));
  EXPECT_THAT(out.unknown, ElementsAre("metadata.lables", "spec.containers[0].imagePullPolcy",
                                       "spec.bogus", "Spec"));
  EXPECT_EQ(out.text,
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"containers":)"
            R"([{"name":"c","resources":{}}]},"status":{}})");
}

TEST(Decode, ReportsNoMoreUnknownFieldsThanUpstream) {
  std::string text = R"({"metadata":{"name":"n")";
  for (int i = 0; i < 200; ++i) text += fmt::format(R"(,"x{}":1)", i);
  EXPECT_THAT(decode_text(text + "}}", resource("v1", "ConfigMap")).unknown, SizeIs(100));
}

TEST(Decode, QuantitiesBecomeCanonical) {
  EXPECT_EQ(
      pod(R"({"containers":[{"name":"c","resources":{"limits":{"memory":"1024Mi","cpu":1.5}}}]})"),
      decoded_pod(
          R"({"containers":[{"name":"c","resources":{"limits":{"cpu":"1500m","memory":"1Gi"}}}]})"));
}

TEST(Decode, TimesBecomeUtcSeconds) {
  const Resource& pods = resource("v1", "Pod");
  const auto time = [&](std::string_view text) {
    return decode_text(fmt::format(R"({{"metadata":{{"name":"p","creationTimestamp":{}}}}})", text),
                       pods)
        .text;
  };
  const auto expected = [](std::string_view metadata) {
    return fmt::format(
        R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"p"{}}},"spec":{{"containers":null}},"status":{{}}}})",
        metadata);
  };
  EXPECT_EQ(time(R"("2020-01-01T00:00:00+02:00")"),
            expected(R"(,"creationTimestamp":"2019-12-31T22:00:00Z")"));
  EXPECT_EQ(time(R"("2020-01-01T00:00:00.75Z")"),
            expected(R"(,"creationTimestamp":"2020-01-01T00:00:00Z")"));
  EXPECT_EQ(time("null"), expected(""));
  EXPECT_EQ(time(R"("0001-01-01T00:00:00Z")"), expected(""));
}

TEST(Decode, MicroTimesHaveSixDecimals) {
  const Resource& leases = resource("coordination.k8s.io/v1", "Lease");
  EXPECT_EQ(
      decode_text(R"({"metadata":{},"spec":{"renewTime":"2020-01-01T01:00:00.000001+01:00"}})",
                  leases)
          .text,
      R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{},"spec":{"renewTime":)"
      R"("2020-01-01T00:00:00.000001Z"}})");
  EXPECT_EQ(
      decode_text(R"({"spec":{"renewTime":"2020-01-01T00:00:00Z"}})", leases).error,
      R"(parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000")");
}

TEST(Decode, BytesAreCheckedAndRewritten) {
  const Resource& secrets = resource("v1", "Secret");
  EXPECT_EQ(decode_text(R"({"metadata":{},"data":{"k":"aGVs\nbG8="}})", secrets).text,
            R"({"kind":"Secret","apiVersion":"v1","metadata":{},"data":{"k":"aGVsbG8="}})");
  EXPECT_EQ(decode_text(R"({"data":{"k":"a*b="}})", secrets).error,
            "illegal base64 data at input byte 1");
}

TEST(Decode, IntOrStringKeepsItsType) {
  const Resource& services = resource("v1", "Service");
  EXPECT_EQ(
      decode_text(
          R"({"metadata":{},"spec":{"ports":[{"port":1,"targetPort":"http"},{"port":2,"targetPort":80}]}})",
          services)
          .text,
      R"({"kind":"Service","apiVersion":"v1","metadata":{},"spec":{"ports":[{"port":1,"targetPort":"http"},)"
      R"({"port":2,"targetPort":80}]},"status":{"loadBalancer":{}}})");
}

// The words are Go's: the innermost struct, then the way to the field.
TEST(Decode, TypeFaultsSpeakLikeGo) {
  struct Row {
    std::string_view api_version, kind, text, error;
  };
  const Row rows[] = {
      {"v1", "ConfigMap", R"({"data":{"a":1}})",
       "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"},
      {"v1", "ConfigMap", R"({"metadata":{"name":true}})",
       "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.name of type string"},
      {"v1", "ConfigMap", R"({"data":[]})",
       "json: cannot unmarshal array into Go struct field ConfigMap.data of type "
       "map[string]string"},
      {"v1", "ConfigMap", "[]", "json: cannot unmarshal array into Go value of type v1.ConfigMap"},
      {"v1", "Pod", R"({"spec":{"containers":"notalist"}})",
       "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type "
       "[]v1.Container"},
      {"v1", "Pod", R"({"spec":{"containers":[5]}})",
       "json: cannot unmarshal number into Go struct field PodSpec.spec.containers of type "
       "v1.Container"},
      {"v1", "Pod", R"({"spec":{"terminationGracePeriodSeconds":"5"}})",
       "json: cannot unmarshal string into Go struct field "
       "PodSpec.spec.terminationGracePeriodSeconds of type int64"},
      {"v1", "Pod", R"({"spec":{"containers":[{"ports":[{"containerPort":1.5}]}]}})",
       "json: cannot unmarshal number 1.5 into Go struct field "
       "ContainerPort.spec.containers.ports.containerPort of "
       "type int32"},
      {"v1", "Pod", R"({"spec":{"priority":3000000000}})",
       "json: cannot unmarshal number 3000000000 into Go struct field PodSpec.spec.priority of "
       "type int32"},
      {"v1", "Pod", R"({"spec":"x"})",
       "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec"},
      {"v1", "Pod", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"lots"}}}]}})",
       "quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {"v1", "Service", R"({"spec":{"ports":[{"targetPort":1.5}]}})",
       "json: cannot unmarshal number 1.5 into Go struct field ServicePort.spec.ports.targetPort "
       "of type int32"},
      {"v1", "Pod", R"({"metadata":{"creationTimestamp":5}})",
       "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp "
       "of type string"},
      {"v1", "Pod", R"({"metadata":{"creationTimestamp":"2020-01-01"}})",
       R"(parsing time "2020-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T")"},
      {"v1", "Pod", R"({"spec":{"restartPolicy":5}})",
       "json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type "
       "v1.RestartPolicy"},
      {"v1", "Pod", R"({"metadata":{"uid":5}})",
       "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type "
       "types.UID"},
      {"v1", "Pod", R"({"spec":{"volumes":[{"configMap":{"name":5}}]}})",
       "json: cannot unmarshal number into Go struct field "
       "ConfigMapVolumeSource.spec.volumes.VolumeSource.configMap."
       "LocalObjectReference.name of type string"},
      {"v1", "Pod", R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":true}}}]}})",
       "json: cannot unmarshal bool into Go struct field "
       "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler."
       "httpGet.port of type int32"},
      {"v1", "Pod", R"({"spec":{"containers":[{"resources":{"limits":"x"}}]}})",
       "json: cannot unmarshal string into Go struct field "
       "ResourceRequirements.spec.containers.resources.limits of "
       "type v1.ResourceList"},
      {"apiextensions.k8s.io/v1", "CustomResourceDefinition",
       R"({"spec":{"versions":[{"schema":{"openAPIV3Schema":{"properties":{"a":{"items":{"type":7}}}}}}]}})",
       "json: cannot unmarshal number into Go struct field "
       "JSONSchemaProps.spec.versions.schema.openAPIV3Schema."
       "properties.items.type of type string"},
      {"v1", "Pod", R"({"spec":{"containers":[{"restartPolicy":1}]}})",
       "json: cannot unmarshal number into Go struct field Container.spec.containers.restartPolicy "
       "of type "
       "v1.ContainerRestartPolicy"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(error_of(row.text, row.api_version, row.kind), row.error) << row.text;
}

TEST(Decode, TheFirstOfSeveralFaultsCounts) {
  EXPECT_EQ(
      error_of(R"({"spec":{"priority":"a","nodeName":5}})", "v1", "Pod"),
      "json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32");
}

TEST(Decode, SchemaOrBoolIsASchemaInside) {
  const Decoded out = decode_text(
      R"({"metadata":{},"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object",
          "additionalProperties":{"format":"x","type":"string","lenient":1},"items":[{"type":"a","description":"d"}]}}}]}})",
      resource("apiextensions.k8s.io/v1", "CustomResourceDefinition"));
  EXPECT_EQ(out.error, "");
  EXPECT_THAT(out.unknown, IsEmpty());  // upstream does not report there
  EXPECT_THAT(out.text, testing::HasSubstr(
                            R"("items":[{"description":"d","type":"a"}],"additionalProperties":)"
                            R"({"type":"string","format":"x"})"));
}

TEST(Decode, FreeJsonStaysAsItIs) {
  const Decoded out = decode_text(
      R"({"metadata":{"managedFields":[{"fieldsV1":{"f:z":{},"f:a":{".":{}}},"manager":"m"}]}})",
      resource("v1", "ConfigMap"));
  EXPECT_EQ(out.text,
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"managedFields":[{"manager":"m",)"
            R"("fieldsV1":{"f:z":{},"f:a":{".":{}}}}]}})");
}

TEST(Decode, TypesThatAreNoResources) {
  const Schema* const options = Registry::builtin().type_of_kind("batch/v1", "DeleteOptions");
  ASSERT_NE(options, nullptr);
  const json::Tree tree(
      R"({"kind":"DeleteOptions","apiVersion":"batch/v1","gracePeriodSeconds":0,"preconditions":{"uid":"u"},"x":1})");
  json::Arena arena;
  DecodeReport report;
  const Result<json::Value> out = decode_type(arena, tree, *options, false, report);
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(
      json::write(*out),
      R"({"kind":"DeleteOptions","apiVersion":"batch/v1","gracePeriodSeconds":0,"preconditions":{"uid":"u"}})");
  EXPECT_THAT(report.unknown, ElementsAre("x"));
}

// Custom resources.

TEST(DecodeCustom, PrunesAndSortsAndTypesItsMetadata) {
  const Decoded out = decode_text(
      R"({"kind":"JobSet","apiVersion":"jobset.x-k8s.io/v1alpha2","spec":{"suspend":true,"bogus":{"a":1},
          "replicatedJobs":[{"name":"w","zzz":1,"template":{"spec":{"parallelism":2}}}]},
          "metadata":{"name":"j","labels":{"b":"1","a":"2"},"creationTimestamp":null,"foo":1}})",
      resource("jobset.x-k8s.io/v1alpha2", "JobSet"));
  EXPECT_EQ(
      out.text,
      R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"labels":{"a":"2","b":"1"},)"
      R"("name":"j"},"spec":{"replicatedJobs":[{"name":"w","template":{"spec":{"parallelism":2}}}],"suspend":true}})");
  EXPECT_THAT(out.unknown, ElementsAre("metadata.foo", "spec.bogus", "spec.replicatedJobs[0].zzz"));
}

TEST(DecodeCustom, ReportsMetadataFirstAndThenInOrder) {
  EXPECT_THAT(decode_text(R"({"metadata":{"zoo":1,"bar":2},"spec":{"zzz":1,"aaa":2},"alpha":1})",
                          resource("jobset.x-k8s.io/v1alpha2", "JobSet"))
                  .unknown,
              ElementsAre("metadata.bar", "metadata.zoo", "alpha", "spec.aaa", "spec.zzz"));
}

TEST(DecodeCustom, NothingIsKnownInsideAWrongType) {
  const Decoded out =
      decode_text(R"({"spec":{"replicatedJobs":[{"replicas":{"a":1}}],"suspend":[{"b":1}]}})",
                  resource("jobset.x-k8s.io/v1alpha2", "JobSet"));
  EXPECT_EQ(out.text, R"({"spec":{"replicatedJobs":[{"replicas":{}}],"suspend":[{}]}})");
  EXPECT_THAT(out.unknown, ElementsAre("spec.replicatedJobs[0].replicas.a", "spec.suspend[0].b"));
}

TEST(DecodeCustom, LeavesWrongTypesToValidation) {
  const Decoded out = decode_text(R"({"spec":{"suspend":"yes","replicatedJobs":true}})",
                                  resource("jobset.x-k8s.io/v1alpha2", "JobSet"));
  EXPECT_EQ(out.text, R"({"spec":{"replicatedJobs":true,"suspend":"yes"}})");
}

TEST(DecodeCustom, DropsNullsThatNoDefaultReplaces) {
  EXPECT_EQ(
      decode_text(R"({"spec":{"suspend":null,"replicatedJobs":[{"name":"w","replicas":null}]}})",
                  resource("jobset.x-k8s.io/v1alpha2", "JobSet"))
          .text,
      R"({"spec":{"replicatedJobs":[{"name":"w","replicas":null}]}})");
}

TEST(DecodeCustom, MetadataOfAWrongTypeIsABadRequest) {
  EXPECT_EQ(error_of(R"({"metadata":{"labels":{"a":1}}})", "jobset.x-k8s.io/v1alpha2", "JobSet"),
            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string");
}

TEST(SchemaDefaults, FillWhatIsAbsentOrNull) {
  const Resource& jobsets = resource("jobset.x-k8s.io/v1alpha2", "JobSet");
  const json::Tree tree(
      R"({"spec":{"failurePolicy":{"maxRestarts":1},"replicatedJobs":[{"name":"w","replicas":null,
      "template":{"spec":{"template":{"spec":{"containers":[{"name":"c","ports":[{"containerPort":1}]}]}}}}}]}})");
  apply_schema_defaults(tree, *jobsets.schema);
  EXPECT_EQ(
      json::write(tree),
      R"({"spec":{"failurePolicy":{"maxRestarts":1,"restartStrategy":"Recreate"},"replicatedJobs":[{"groupName":)"
      R"("default","name":"w","replicas":1,"template":{"spec":{"template":{"spec":{"containers":[{"name":"c",)"
      R"("ports":[{"containerPort":1,"protocol":"TCP"}]}]}}}}}]}})");
}

TEST(SchemaDefaults, DefaultsHaveDefaultsOfTheirOwn) {
  const Resource& queues = resource("kueue.x-k8s.io/v1beta2", "ClusterQueue");
  const json::Tree tree(R"({"spec":{}})");
  apply_schema_defaults(tree, *queues.schema);
  EXPECT_EQ(
      json::write(tree.root.get({"spec", "preemption"})),
      R"({"borrowWithinCohort":{"policy":"Never"},"reclaimWithinCohort":"Never","withinClusterQueue":"Never"})");
  const std::string once = json::write(tree);
  apply_schema_defaults(tree, *queues.schema);
  EXPECT_EQ(json::write(tree), once);
}

}  // namespace decode_test
}  // namespace muster::api
