#include "api/tables/columns.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>

#include "api/testing.h"

namespace muster::api {
namespace columns_test {

const Time kNow = *parse_time("2026-01-01T00:05:00Z");

// The cells of an object as compact JSON.
std::string cells(const Resource& of, std::string_view object) {
  const json::Tree tree(object);
  json::Arena arena;
  const auto row = json::Value::array(arena);
  TableRenderer(of).append_cells(tree, kNow, row);
  // As a reader sees them: the writer escapes < and >, as Go does.
  const std::string opened = std::regex_replace(json::write(row), std::regex(R"(\\u003c)"), "<");
  return std::regex_replace(opened, std::regex(R"(\\u003e)"), ">");
}

std::string cells(std::string_view api_version, std::string_view kind, std::string_view object) {
  return cells(resource(api_version, kind), object);
}

TEST(Columns, EveryListedKindFillsEveryColumn) {
  for (const Resource* each : Registry::builtin().resources()) {
    if (!each->has_verb("list")) continue;
    json::Arena arena;
    const TableRenderer renderer(*each);
    const auto row = json::Value::array(arena);
    renderer.append_cells(json::Value::object(arena), kNow, row);
    EXPECT_EQ(row.size(), renderer.definitions(arena).size()) << each->qualified();
    EXPECT_GT(row.size(), 1U) << each->qualified();
  }
}

TEST(Columns, DefinitionsSayTypeFormatAndPriority) {
  json::Arena arena;
  const auto definitions = TableRenderer(resource("v1", "Pod")).definitions(arena);
  ASSERT_EQ(definitions.size(), 9U);
  EXPECT_THAT(definitions.item(0),
              json::IsJson(R"({"name":"Name","type":"string","format":"name","priority":0,
                               "description":"Name of the object, unique among its kind in its namespace."})"));
  EXPECT_EQ(definitions.item(5).get("priority").as_int(), 1);
}

// Most rows of recorded answers; the times are made up.
TEST(Columns, RowsOfBuiltInKinds) {
  struct Case {
    const char* api_version;
    const char* kind;
    const char* object;
    const char* cells;
  };
  const std::vector<Case> cases{
      {"v1", "Namespace",
       R"({"metadata":{"name":"n","creationTimestamp":"2026-01-01T00:04:57Z"},"status":{"phase":"Active"}})",
       R"(["n","Active","3s"])"},
      {"v1", "ServiceAccount", R"({"metadata":{"name":"default"}})", R"(["default","<unknown>"])"},
      {"v1", "ConfigMap", R"({"metadata":{"name":"c","creationTimestamp":"2026-01-01T00:00:00Z"},
                              "data":{"a":"1"},"binaryData":{"b":"","c":""}})",
       R"(["c",3,"5m"])"},
      {"v1", "Secret", R"({"metadata":{"name":"s"},"type":"Opaque","data":{"k":"dg=="}})",
       R"(["s","Opaque",1,"<unknown>"])"},
      {"v1", "LimitRange",
       R"({"metadata":{"name":"l","creationTimestamp":"2026-01-01T00:00:00Z"}})",
       R"(["l","2026-01-01T00:00:00Z"])"},
      {"v1", "ResourceQuota",
       R"({"metadata":{"name":"q"},"status":{"hard":{"pods":"4","limits.cpu":"2","cpu":"1"},
           "used":{"pods":"1","limits.cpu":"500m"}}})",
       R"(["q","cpu: 0/1, pods: 1/4","limits.cpu: 500m/2","<unknown>"])"},
      {"v1", "PersistentVolumeClaim",
       R"({"metadata":{"name":"p"},"spec":{"volumeName":"v","storageClassName":"fast","volumeMode":"Filesystem"},
           "status":{"phase":"Bound","accessModes":["ReadWriteMany","ReadWriteOnce"],"capacity":{"storage":"1Gi"}}})",
       R"(["p","Bound","v","1Gi","RWO,RWX","fast","<unset>","<unknown>","Filesystem"])"},
      {"v1", "PersistentVolumeClaim",
       R"({"metadata":{"name":"p","deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Pending"}})",
       R"(["p","Terminating","","","","","<unset>","<unknown>","<unset>"])"},
      {"v1", "Endpoints",
       R"({"metadata":{"name":"e"},"subsets":[{"addresses":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],
           "ports":[{"port":80},{"port":81}]}]})",
       R"(["e","10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 1 more...","<unknown>"])"},
      {"discovery.k8s.io/v1", "EndpointSlice",
       R"({"metadata":{"name":"e"},"addressType":"IPv4","ports":[{"port":80},{"name":"http"},{}],
           "endpoints":[{"addresses":["10.0.0.1"]}]})",
       R"(["e","IPv4","80,http,*","10.0.0.1","<unknown>"])"},
      {"coordination.k8s.io/v1", "Lease",
       R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}})", R"(["l","me","<unknown>"])"},
      {"scheduling.k8s.io/v1", "PriorityClass",
       R"({"metadata":{"name":"high"},"value":1000,"preemptionPolicy":"PreemptLowerPriority"})",
       R"(["high",1000,false,"<unknown>","PreemptLowerPriority"])"},
      {"scheduling.k8s.io/v1alpha2", "PodGroup",
       R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}},
           "podGroupTemplateRef":{"workload":{"workloadName":"w"}}},
           "status":{"conditions":[{"type":"PodGroupScheduled","status":"True"}]}})",
       R"(["g","Gang","w","Scheduled","<unknown>"])"},
      {"scheduling.k8s.io/v1alpha2", "PodGroup",
       R"({"metadata":{"name":"g"},"status":{"conditions":[{"type":"DisruptionTarget","reason":"Preempted"}]}})",
       R"(["g","Basic","<none>","Preempted","<unknown>"])"},
      {"scheduling.k8s.io/v1beta1", "PodGroup",
       R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}},
           "workloadRef":{"workloadName":"w","templateName":"t"}},
           "status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"False"}]}})",
       R"(["g","Gang","w","Unschedulable","<unknown>"])"},
      {"policy/v1", "PodDisruptionBudget",
       R"({"metadata":{"name":"b"},"spec":{"minAvailable":"50%"},"status":{"disruptionsAllowed":1}})",
       R"(["b","50%","N/A",1,"<unknown>"])"},
      {"rbac.authorization.k8s.io/v1", "RoleBinding",
       R"({"metadata":{"name":"r"},"roleRef":{"kind":"Role","name":"edit"},"subjects":[{"kind":"User","name":"a"},
           {"kind":"User","name":"b"},{"kind":"Group","name":"g"},
           {"kind":"ServiceAccount","namespace":"n","name":"s"}]})",
       R"(["r","Role/edit","<unknown>","a, b","g","n/s"])"},
      {"apps/v1", "Deployment",
       R"({"metadata":{"name":"d"},"spec":{"replicas":3,"selector":{"matchLabels":{"b":"2","a":"1"}},
           "template":{"spec":{"containers":[{"name":"x","image":"i"},{"name":"y","image":"j"}]}}},
           "status":{"readyReplicas":2,"updatedReplicas":3,"availableReplicas":1}})",
       R"(["d","2/3",3,1,"<unknown>","x,y","i,j","a=1,b=2"])"},
      {"batch/v1", "CronJob",
       R"({"metadata":{"name":"c"},"spec":{"schedule":"* * * * *","suspend":false,"jobTemplate":{"spec":{}}},
           "status":{"active":[{}],"lastScheduleTime":"2026-01-01T00:04:00Z"}})",
       R"(["c","* * * * *","<none>","False",1,"60s","<unknown>","","","<none>"])"},
  };
  for (const auto& [api_version, kind, object, expected] : cases) {
    EXPECT_EQ(cells(api_version, kind, object), expected) << kind;
  }
}

TEST(Columns, Nodes) {
  EXPECT_EQ(
      cells("v1", "Node",
            R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/worker":"",
                      "node-role.kubernetes.io/gpu":"","kubernetes.io/role":"edge"}},"spec":{"unschedulable":true},
                      "status":{"conditions":[{"type":"Ready","status":"True"}],
                      "addresses":[{"type":"InternalIP","address":"127.0.0.1"}],
                      "nodeInfo":{"kubeletVersion":"v1","kernelVersion":"6.1","architecture":"amd64"}}})"),
      R"(["n","Ready,SchedulingDisabled","edge,gpu,worker","<unknown>","v1","127.0.0.1","<none>","<unknown>",)"
      R"cells("6.1 (amd64)","<unknown>"])cells");
  EXPECT_EQ(
      cells("v1", "Node", R"({"metadata":{"name":"n"}})"),
      R"(["n","Unknown","<none>","<unknown>","","<none>","<none>","<unknown>","<unknown>","<unknown>"])");
}

TEST(Columns, Services) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"type":"ClusterIP","clusterIPs":["10.0.0.1"],"ports":[{"port":80,"protocol":"TCP"}],"selector":{"a":"b"}})",
       R"(["ClusterIP","10.0.0.1","<none>","80/TCP","<unknown>","a=b"])"},
      {R"({"type":"NodePort","clusterIPs":["None"],"externalIPs":["1.2.3.4","5.6.7.8"],
          "ports":[{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]})",
       R"(["NodePort","None","1.2.3.4,5.6.7.8","80:30080/TCP,53/UDP","<unknown>","<none>"])"},
      {R"({"type":"LoadBalancer"})",
       R"(["LoadBalancer","<none>","<pending>","<none>","<unknown>","<none>"])"},
      {R"({"type":"ExternalName","externalName":"example.com"})",
       R"(["ExternalName","<none>","example.com","<none>","<unknown>","<none>"])"},
  };
  for (const auto& [spec, expected] : cases) {
    EXPECT_EQ(cells("v1", "Service", R"({"metadata":{"name":"s"},"spec":)" + spec + "}"),
              R"(["s",)" + expected.substr(1));
  }
}

TEST(Columns, EventsInBothForms) {
  constexpr const char* kCells =
      R"(["60s","Warning","Failed","pod/p","spec.x","kubelet, node-1","it failed","2m",3,"e"])";
  EXPECT_EQ(
      cells(
          "v1", "Event",
          R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p","fieldPath":"spec.x"},
                      "type":"Warning","reason":"Failed","message":" it failed\n","count":3,
                      "source":{"component":"kubelet","host":"node-1"},
                      "firstTimestamp":"2026-01-01T00:03:00Z","lastTimestamp":"2026-01-01T00:04:00Z"})"),
      kCells);
  EXPECT_EQ(
      cells("events.k8s.io/v1", "Event",
            R"({"metadata":{"name":"e"},"regarding":{"kind":"Pod","name":"p","fieldPath":"spec.x"},
                      "type":"Warning","reason":"Failed","note":"it failed",
                      "reportingController":"kubelet","reportingInstance":"node-1",
                      "eventTime":"2026-01-01T00:03:00.000000Z",
                      "series":{"count":3,"lastObservedTime":"2026-01-01T00:04:00.000000Z"}})"),
      kCells);
  EXPECT_EQ(cells("v1", "Event", R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Node"}})"),
            R"(["<unknown>","","","node","","","","<unknown>",1,"e"])");
}

TEST(Columns, Jobs) {
  const auto job = [](std::string_view spec, std::string_view status,
                      std::string_view metadata = "") {
    return cells("batch/v1", "Job",
                 fmt::format(R"({{"metadata":{{"name":"j"{}}},"spec":{},"status":{}}})", metadata,
                             spec, status));
  };
  EXPECT_EQ(job(R"({"completions":3,"selector":{"matchLabels":{"u":"1"}},
                    "template":{"spec":{"containers":[{"name":"c","image":"i"}]}}})",
                R"({"succeeded":1,"startTime":"2026-01-01T00:00:00Z"})"),
            R"(["j","Running","1/3","5m","<unknown>","c","i","u=1"])");
  EXPECT_EQ(job(R"({"parallelism":1})", "{}"),
            R"(["j","Running","0/1","","<unknown>","","","<none>"])");
  EXPECT_EQ(job(R"({"parallelism":4})",
                R"({"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:30Z",
                    "conditions":[{"type":"Suspended","status":"False"},{"type":"Complete","status":"True"}]})"),
            R"(["j","Complete","0/1 of 4","30s","<unknown>","","","<none>"])");
  const auto status = [&](std::string_view type, std::string_view metadata = "") {
    const auto row = job(
        "{}", fmt::format(R"({{"conditions":[{{"type":"{}","status":"True"}}]}})", type), metadata);
    return row.substr(6, row.find('"', 6) - 6);
  };
  EXPECT_EQ(status("Failed", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"), "Failed");
  EXPECT_EQ(status("Suspended", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"), "Terminating");
  EXPECT_EQ(status("Suspended"), "Suspended");
  EXPECT_EQ(status("FailureTarget"), "FailureTarget");
  EXPECT_EQ(status("SuccessCriteriaMet"), "SuccessCriteriaMet");
}

TEST(Columns, Pods) {
  EXPECT_EQ(
      cells("v1", "Pod",
            R"({"metadata":{"name":"b","creationTimestamp":"2026-01-01T00:00:00Z"},
                      "spec":{"containers":[{"name":"c"}],"nodeName":"node-x","readinessGates":[{"conditionType":"Ready"},
                      {"conditionType":"Other"}]},
                      "status":{"phase":"Running","podIPs":[{"ip":"10.0.0.9"}],
                      "containerStatuses":[{"name":"c","ready":true,"restartCount":3,"state":{"running":{}},
                      "lastState":{"terminated":{"finishedAt":"2026-01-01T00:04:00Z"}}}],
                      "conditions":[{"type":"Ready","status":"True"}]}})"),
      R"cells(["b","1/1","Running","3 (60s ago)","5m","10.0.0.9","node-x","<none>","1/2"])cells");
  EXPECT_EQ(
      cells(
          "v1", "Pod",
          R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Pending"}})"),
      R"(["a","0/1","Pending","0","<unknown>","<none>","<none>","<none>","<none>"])");
}

TEST(Columns, RowsOfEndedPodsAreMarked) {
  json::Arena arena;
  const TableRenderer pods(resource("v1", "Pod"));
  const auto conditions = [&](std::string_view phase) {
    const json::Tree pod(fmt::format(R"({{"status":{{"phase":"{}"}}}})", phase));
    return json::write(pods.row_conditions(arena, pod));
  };
  EXPECT_EQ(conditions("Running"), "null");
  EXPECT_EQ(conditions("Succeeded"), R"([{"type":"Completed","status":"True","reason":"Succeeded",)"
                                     R"("message":"The pod has completed successfully."}])");
  EXPECT_EQ(
      conditions("Failed"),
      R"([{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}])");
  const json::Tree job(R"({"status":{"phase":"Failed"}})");
  EXPECT_TRUE(TableRenderer(resource("batch/v1", "Job")).row_conditions(arena, job).is_null());
}

TEST(Columns, CustomResourcesByPath) {
  const Resource widgets{
      .gvk = {"example.com", "v1", "Widget"},
      .plural = "widgets",
      .custom = true,
      .columns = {{.name = "Name", .type = "string", .json_path = ".metadata.name"},
                  {.name = "Size", .type = "integer", .json_path = ".spec.size"},
                  {.name = "State", .type = "string", .json_path = ".status.state"},
                  {.name = "On", .type = "boolean", .json_path = ".spec.on"},
                  {.name = "Share", .type = "number", .json_path = ".spec.share"},
                  {.name = "Age", .type = "date", .json_path = ".metadata.creationTimestamp"}}};
  EXPECT_EQ(cells(widgets, R"({"metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00Z"},
                               "spec":{"size":4,"on":true,"share":0.5},"status":{"state":"Good"}})"),
            R"(["a",4,"Good",true,0.5,"5m"])");
  EXPECT_EQ(cells(widgets, R"({"metadata":{"name":"b","creationTimestamp":"never"}})"),
            R"(["b",null,null,null,null,"<invalid>"])");
  EXPECT_EQ(cells(widgets,
                  R"({"metadata":{"name":"c"},"spec":{"size":"x","on":"y"},"status":{"state":7}})"),
            R"(["c",null,"7",null,null,null])");
}

TEST(Columns, JobSetsSayWhatTheyWaitFor) {
  EXPECT_EQ(
      cells(
          "jobset.x-k8s.io/v1alpha2", "JobSet",
          R"({"metadata":{"name":"js","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"suspend":true},
                      "status":{"terminalState":"Completed","restarts":1,"conditions":[
                      {"type":"Completed","status":"True"},
                      {"type":"muster.dev/Waiting","status":"True","message":"quota: 2 of 8 GPUs are free"}]}})"),
      R"(["js","Completed","1","True","true","5m","quota: 2 of 8 GPUs are free"])");
  json::Arena arena;
  const auto definitions =
      TableRenderer(resource("jobset.x-k8s.io/v1alpha2", "JobSet")).definitions(arena);
  EXPECT_EQ(definitions.item(definitions.size() - 1).get("name").as_string(), "Waiting For");
  EXPECT_EQ(definitions.item(definitions.size() - 1).get("priority").as_int(), 1);
}

}  // namespace columns_test
}  // namespace muster::api
