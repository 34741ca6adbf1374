// What people type, and texts for them: spans of time, conditions, files, flags, scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/follow/keys.h"
#include "cli/follow/lines.h"
#include "cli/input/durations.h"
#include "cli/input/manifest.h"
#include "cli/input/node_flags.h"
#include "cli/input/submit_job_set.h"
#include "cli/input/wait_condition.h"
#include "cli/input/warnings.h"
#include "cli/tools/remote_launch.h"
#include "cli/verbs/completion_text.h"
#include "cli/verbs/examples.h"
#include "cli/verbs/verb.h"
#include "json/parse.h"
#include "story/describe_text.h"

namespace muster::cli {
namespace forms_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Durations, HaveUnits) {
  using namespace std::chrono_literals;
  const std::vector<std::pair<std::string_view, Duration>> rows = {
      {"90", 90s}, {"90s", 90s}, {"1m30s", 90s}, {"2h", 2h}, {"500ms", 500ms}, {"0", 0s}};
  for (const auto& [text, span] : rows) EXPECT_EQ(parse_duration(text, "--timeout"), span) << text;
  for (const std::string_view text : {"", "s", "-1s", "1x", "1e9", "99999999999h"})
    EXPECT_FALSE(parse_duration(text, "--timeout")) << text;
  EXPECT_EQ(parse_duration("soon", "--timeout").error().message,
            "--timeout: \"soon\" is no span of time; 90s, 1m30s and 2h are");
}

bool holds(std::string_view condition, std::string_view object) {
  json::Arena arena;
  return WaitCondition::parse(condition)->holds(*json::parse(arena, object));
}

TEST(WaitCondition, LooksAtConditionsAndFields) {
  constexpr std::string_view kObject =
      R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})";
  EXPECT_TRUE(holds("condition=Ready", kObject));
  EXPECT_TRUE(holds("condition=ready=true", kObject));
  EXPECT_FALSE(holds("condition=Ready=false", kObject));
  EXPECT_FALSE(holds("condition=Failed", kObject));
  EXPECT_TRUE(holds("jsonpath={.status.phase}=Running", kObject));
  EXPECT_TRUE(holds("jsonpath={.status.phase}", kObject));
  EXPECT_FALSE(holds("jsonpath={.status.phase}=Failed", kObject));
  EXPECT_TRUE(holds(R"(jsonpath={.status.conditions[?(@.type=="Ready")].status}=True)", kObject));
  EXPECT_FALSE(holds("delete", kObject));
  EXPECT_FALSE(WaitCondition::parse("ready"));
  EXPECT_FALSE(WaitCondition::parse("condition="));
}

std::string refusal(std::string text) {
  const auto manifest = Manifest::parse("a.yaml", std::move(text), "default");
  return manifest ? "" : manifest.error().message;
}

TEST(Manifest, HoldsTheObjectsOfAFile) {
  const auto manifest =
      Manifest::parse("a.yaml",
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
                      "apiVersion: v1\nkind: List\nitems:\n"
                      "- {apiVersion: v1, kind: Node, metadata: {name: node}}\n"
                      "- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x}}\n",
                      "mine");
  ASSERT_TRUE(manifest);
  std::vector<std::string> all;
  for (const auto& object : manifest->objects())
    all.push_back(object.resource->plural + " " + object.ns + "/" + object.name);
  EXPECT_THAT(all, ElementsAre("configmaps mine/a", "nodes /node", "pods x/p"));
}

TEST(Manifest, ShowsWhereAFileIsWrong) {
  EXPECT_EQ(refusal("a: 1\nb: [1\nc: 2\n"),
            "error: yaml: end of sequence flow not found\n"
            "  --> a.yaml:3:2\n   3 | c: 2\n     |  ^\n");
  for (const std::string_view line : {"\tb: 1\n", "\tb:\n\t\tc: 1\n", "  b: 1\n\tc: 2\n"}) {
    EXPECT_THAT(refusal("a:\n" + std::string(line)),
                testing::MatchesRegex("error: yaml: a tab cannot indent; use spaces\n"
                                      "  --> a.yaml:[23]:1\n(.|\n)*"));
  }
  EXPECT_THAT(refusal("{\n\t\"a\": 1\n\t\"b\": 2}\n"), Not(HasSubstr("tab")));
  EXPECT_EQ(refusal("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: Jobset\n"),
            "error: there is no kind \"Jobset\"; did you mean \"JobSet\"? (a.yaml:2)\n");
  EXPECT_THAT(refusal("apiVersion: v1\nkind: JobSet\n"),
              HasSubstr("did you mean \"jobset.x-k8s.io/v1alpha2\"?"));
  EXPECT_THAT(refusal("- a\n"), HasSubstr("there is no kind in this document"));
  EXPECT_TRUE(Manifest::parse("a.yaml", "# nothing\n", "default")->objects().empty());
}

TEST(Submit, WritesAJobSet) {
  const auto alone = submitted_job_set({.command = {"/opt/Train.py", "--lr", "3"}, .name = {}});
  ASSERT_TRUE(alone);
  EXPECT_THAT(*alone, HasSubstr("generateName: train-py-"));
  EXPECT_THAT(*alone, HasSubstr("muster.dev/rank-env: \"true\"")) << "rank 0 of 1";
  EXPECT_THAT(*alone, Not(HasSubstr("groupSchedulingConfig")));
  const auto many = submitted_job_set({.command = {"x"},
                                       .name = "set",
                                       .queue = "q",
                                       .processes = 4,
                                       .gpus = 2,
                                       .cpus = "500m",
                                       .memory = {},
                                       .max_restarts = 3,
                                       .environment = {"A=b=c"}});
  ASSERT_TRUE(many);
  for (const std::string_view part :
       {"name: set", "kueue.x-k8s.io/queue-name: q", "muster.dev/rank-env: \"true\"",
        "groupSchedulingConfig: {}", "parallelism: 4", "maxRestarts: 3", "cpu: 500m",
        "nvidia.com/gpu: \"2\"", "value: b=c"}) {
    EXPECT_THAT(*many, HasSubstr(std::string(part)));
  }
  EXPECT_FALSE(submitted_job_set({.command = {}, .name = {}}));
  EXPECT_FALSE(submitted_job_set({.command = {"x"}, .name = {}, .environment = {"novalue"}}));
  EXPECT_FALSE(submitted_job_set({.command = {"x"}, .name = {}, .processes = 0}));
  EXPECT_FALSE(submitted_job_set({.command = {"x"}, .name = {}, .processes = kMaxProcesses + 1}));
}

TEST(NodeFlags, BecomeNodes) {
  const auto nodes =
      node_options({.nodes = 3, .labels = {"zone=a"}, .resources = {"x.io/y=4"}, .pod_user = {}});
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nodes->count, 3);
  EXPECT_EQ(nodes->labels.at("zone"), "a");
  EXPECT_EQ(nodes->extra_resources.at("x.io/y"), 4);
  EXPECT_FALSE(node_options({.nodes = -1, .labels = {}, .resources = {}, .pod_user = {}}));
  EXPECT_FALSE(node_options({.labels = {"zone"}, .resources = {}, .pod_user = {}}));
  EXPECT_FALSE(node_options({.labels = {}, .resources = {"x.io/y=many"}, .pod_user = {}}));
}

TEST(HostFile, HasAnEntryPerSlot) {
  EXPECT_THAT(*slots_of("a slots=2\n# nobody\n\n  b   # one\n"), ElementsAre("a", "a", "b"));
  EXPECT_FALSE(slots_of("a slots=0\n"));
  EXPECT_FALSE(slots_of("a slots=100000\n"));
  EXPECT_FALSE(slots_of("a slots=2x\n"));
  EXPECT_FALSE(slots_of("a slots=1\nb slots=18446744073709551615\n"));
  EXPECT_THAT(*slots_of("a slots=2 max-slots=8\n"), ElementsAre("a", "a"));
}

TEST(Keys, AreTakenFromTheirSequences) {
  EXPECT_THAT(keys_in("d\x1b[A\x1b[Bq\r"),
              ElementsAre(Key('d'), Key(Special::kUp), Key(Special::kDown), Key('q'),
                          Key(Special::kEnter)));
  EXPECT_THAT(keys_in("\x1b"), ElementsAre(Key(Special::kEscape)));
}

TEST(Lines, ComeWholeAndNeverTooLong) {
  std::vector<std::string> told;
  const auto tell = [&](std::string_view line) { told.emplace_back(line); };
  Lines lines(8);
  lines.take("one\ntw", tell);
  lines.take("o\n", tell);
  lines.take("0123456789", tell);
  lines.finish(tell);
  EXPECT_THAT(told, ElementsAre("one", "two", "0123456789"));
}

TEST(Verbs, HaveHelpAndFlagsThatDoNotClash) {
  std::vector<std::string> names;
  for (const Verb& verb : all_verbs()) {
    EXPECT_THAT(names, Not(Contains(verb.name)));
    names.push_back(verb.name);
    EXPECT_FALSE(verb.help.empty()) << verb.name;
    std::vector<std::string> flags;
    for (const Flag& flag : verb.flags) {
      EXPECT_FALSE(flag.help.empty()) << verb.name << " " << flag.names;
      for (const std::string& name : flag_names(flag)) {
        EXPECT_THAT(flags, Not(Contains(name))) << verb.name;
        flags.push_back(name);
      }
    }
  }
  EXPECT_THAT(overview(all_verbs()), Not(HasSubstr("  tool ")));
}

TEST(Verbs, AreGuessed) {
  const auto verbs = all_verbs();
  const std::vector<std::pair<std::string_view, std::string_view>> rows = {
      {"stop", "cancel"}, {"ps", "get"}, {"rm", "delete"}, {"gett", "get"}, {"up", "run"}};
  for (const auto& [word, verb] : rows) EXPECT_EQ(meant_verb(verbs, word), verb) << word;
  EXPECT_EQ(meant_verb(verbs, "xyzzy"), std::nullopt);
}

TEST(Verbs, ThatMusterDoesNotHaveAreShownTheWay) {
  EXPECT_EQ(other_way("exec", {}), "`kubectl exec` does it, with the same kubeconfig");
  EXPECT_EQ(other_way("xyzzy", {}), std::nullopt);
  EXPECT_EQ(
      other_way("resume", {"train"}),
      "`kubectl patch jobset train --type=merge -p '{\"spec\":{\"suspend\":false}}'` does it, "
      "with the same kubeconfig");
  EXPECT_THAT(*other_way("suspend", {"js/train", "-n", "team"}),
              HasSubstr("`kubectl -n team patch jobset train --type=merge -p "
                        "'{\"spec\":{\"suspend\":true}}'`"));
  EXPECT_THAT(*other_way("suspend", {"--data-dir", "d", "jobset", "train"}),
              HasSubstr("`kubectl --kubeconfig d/kubeconfig patch jobset train "));
  EXPECT_THAT(*other_way("suspend", {"--data-dir=d"}),
              HasSubstr("`kubectl --kubeconfig d/kubeconfig patch jobset NAME "));
  EXPECT_THAT(*other_way("scale", {"train"}), Not(HasSubstr("kubectl scale")));
}

TEST(Verbs, ThatAreGuessedAreThere) {
  const auto verbs = all_verbs();
  for (const std::string_view word : {"stop", "ls", "rm", "up", "sbatch", "create", "log", "follow",
                                      "watch", "inspect", "init", "server", "gantt"}) {
    const auto verb = meant_verb(verbs, word);
    ASSERT_TRUE(verb) << word;
    EXPECT_NE(find_verb(verbs, *verb), nullptr) << word;
  }
}

TEST(Flags, ThatAVerbDoesNotHaveAreNamed) {
  const auto verbs = all_verbs();
  const Verb& run = *find_verb(verbs, "run");
  EXPECT_EQ(unknown_flag(run, {"--time", "5", "ddp.yaml"}), "--time");
  EXPECT_EQ(unknown_flag(run, {"--timeout=5", "--x=y", "--z"}), "--x");
  EXPECT_EQ(unknown_flag(run, {"--timeout", "5", "--", "--x"}), "");
  EXPECT_EQ(explain_flag(run, "--time"), "run has no flag --time; did you mean --timeout?");
  EXPECT_EQ(explain_flag(run, "--tiemout"), "run has no flag --tiemout; did you mean --timeout?");
  EXPECT_EQ(explain_flag(run, "--zzzzz"), "run has no flag --zzzzz");
  EXPECT_EQ(explain_flag(run, "-x"), "run has no flag -x");
}

TEST(Words, AreTakenAsKubectlTakesThem) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(verb_first({"-n", "x", "get", "pods"}), (Words{"get", "-n", "x", "pods"}));
  EXPECT_EQ(verb_first({"-nx", "--context=c", "get"}), (Words{"get", "-nx", "--context=c"}));
  EXPECT_EQ(verb_first({"get", "-n", "x"}), (Words{"get", "-n", "x"}));
  EXPECT_EQ(verb_first({"--verbose", "get"}), (Words{"--verbose", "get"}));
  EXPECT_EQ(verb_first({"-n"}), (Words{"-n"}));
  EXPECT_EQ(without_equals({"-o=name", "--output=x", "-l=a=b", "--", "-o=y"}),
            (Words{"-oname", "--output=x", "-la=b", "--", "-o=y"}));
}

TEST(Warnings, AreTheTextInQuotes) {
  EXPECT_EQ(warning_text(R"(299 - "unknown field \"spec.x\"")"), "unknown field \"spec.x\"");
  EXPECT_EQ(warning_text("199 - \"other\""), "");
  EXPECT_EQ(warning_text("nonsense"), "");
}

TEST(Completion, KnowsVerbsFlagsAndKinds) {
  const std::string bash = completion_script("bash", all_verbs(), {"jobsets", "pods"});
  EXPECT_THAT(bash, HasSubstr("choices='jobsets pods'"));
  EXPECT_THAT(bash, HasSubstr("--exit-code-from"));
  EXPECT_THAT(completion_script("zsh", all_verbs(), {}), HasSubstr("#compdef muster"));
  EXPECT_THAT(completion_script("fish", all_verbs(), {}), HasSubstr("-a get -d"));
}

TEST(Examples, SayWhatTheyAreAbout) {
  for (const Example& example : examples()) {
    EXPECT_FALSE(example.summary().empty()) << example.name;
    EXPECT_TRUE(Manifest::parse("example", std::string(example.text), "default")) << example.name;
  }
}

TEST(Describe, ShowsNoSecretsAndNoControls) {
  json::Arena arena;
  const auto secret = json::parse(arena, R"({"apiVersion":"v1","kind":"Secret","metadata":{
    "name":"s","annotations":{"a":"\u001b[2Jx"}},"data":{"k":"c2VjcmV0"}})");
  const std::string text = story::describe_object(*secret, {}, Time{});
  EXPECT_THAT(text, HasSubstr("a=x"));
  EXPECT_THAT(text, HasSubstr("8 bytes"));
  EXPECT_THAT(text, Not(HasSubstr("c2VjcmV0")));
}

}  // namespace forms_test
}  // namespace muster::cli
