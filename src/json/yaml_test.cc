#include "json/yaml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/testing.h"

namespace muster::json {
namespace yaml_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The documents as JSON, one per line, or the error.
std::string read(std::string_view text, YamlOptions options = {}) {
  Arena arena;
  const auto documents = parse_yaml(arena, text, options);
  if (!documents) return "error: " + documents.error().message;
  std::string out;
  for (const YamlDocument& document : *documents) out += write(document.root) + "\n";
  return out;
}

// Recorded from kubectl 1.36.
TEST(Yaml, PlainScalarsAreTypedAsKubectlDoes) {
  const struct {
    const char* scalar;
    const char* json;
  } rows[] = {
      {"yes", "true"},
      {"Yes", "true"},
      {"YES", "true"},
      {"yEs", R"("yEs")"},
      {"y", "true"},
      {"Y", "true"},
      {"on", "true"},
      {"On", "true"},
      {"oN", R"("oN")"},
      {"true", "true"},
      {"True", "true"},
      {"tRue", R"("tRue")"},
      {"no", "false"},
      {"n", "false"},
      {"N", "false"},
      {"off", "false"},
      {"Off", "false"},
      {"FALSE", "false"},
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"nULL", R"("nULL")"},
      {"", "null"},
      {"012", "10"},
      {"0o14", "12"},
      {"0x10", "16"},
      {"0X1F", "31"},
      {"0b101", "5"},
      {"0B11", "3"},
      {"-012", "-10"},
      {"+12", "12"},
      {"-0x10", "-16"},
      {"08", "8"},
      {"-08", "-8"},
      {"1_000", "1000"},
      {"1__0", "10"},
      {"1_", "1"},
      {"_1", R"("_1")"},
      {"0x_1", "1"},
      {"1.20", "1.2"},
      {"1e3", "1000"},
      {"1E+3", "1000"},
      {"1e-3", "0.001"},
      {"1.", "1"},
      {".5", "0.5"},
      {"+.5", "0.5"},
      {"-.5", "-0.5"},
      {".", R"(".")"},
      {"-.", R"("-.")"},
      {"1.5.5", R"("1.5.5")"},
      {"1e", R"("1e")"},
      {"1e400", R"("1e400")"},
      {"1e-400", "0"},
      {"1:30", R"("1:30")"},
      {"12:30:45", R"("12:30:45")"},
      {"2020-01-01", R"("2020-01-01")"},
      {"2020-01-01T00:00:00Z", R"("2020-01-01T00:00:00Z")"},
      {"9223372036854775807", "9223372036854775807"},
      {"9223372036854775808", "9223372036854775808"},
      {"18446744073709551616", "18446744073709552000"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"-9223372036854775809", "-9223372036854776000"},
      {"-0", "0"},
      {"-0.0", "0"},
      {"00", "0"},
      {"0x", R"("0x")"},
      {"0o8", R"("0o8")"},
      {"0b2", R"("0b2")"},
      {"0x1p3", R"("0x1p3")"},
      {"<<", R"("\u003c\u003c")"},
      {"=", R"("=")"},
      {"1_0.5", "10.5"},
      {"1e20", "100000000000000000000"},
      {"1e21", "1e+21"},
      {"12e03", "12000"},
      {"--1", R"("--1")"},
      {"1-1", R"("1-1")"},
      {"NaN", R"("NaN")"},
      {"-inf", R"("-inf")"},
      {"infinity", R"("infinity")"},
      {"1d", R"("1d")"},
      {"0e0", "0"},
      {"\"yes\"", R"("yes")"},
      {"'12'", R"("12")"},
      {"!!str 5", R"("5")"},
      {"!!int \"5\"", "5"},
      {"!!bool \"yes\"", "true"},
      {"!!float 5", "5"},
      {"!!timestamp 2020-01-01", R"("2020-01-01")"},
      {"!foo bar", R"("bar")"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(read(std::string("v: ") + row.scalar), std::string(R"({"v":)") + row.json + "}\n")
        << row.scalar;
}

TEST(Yaml, NumbersThatJsonLacksAreRefused) {
  EXPECT_EQ(read("a: 1\nv: .inf"),
            "error: yaml: json: unsupported value: .inf at line 2, column 4");
  EXPECT_THAT(read("v: .nan"), HasSubstr("unsupported value"));
}

TEST(Yaml, KeysBecomeText) {
  EXPECT_EQ(read("{no: 1, 1: 2, 012: 3, 1.5: 4, true: 5, 1e3: 6, 'q': 7}"),
            R"({"false":1,"1":2,"10":3,"1.5":4,"true":5,"1000":6,"q":7})"
            "\n");
  EXPECT_THAT(read("~: 1"), HasSubstr("unsupported map key"));
  EXPECT_THAT(read("[a]: 1"), HasSubstr("unsupported map key"));
}

TEST(Yaml, BlocksAndFlows) {
  EXPECT_EQ(read("a: |\n  yes\n  no\nb: >-\n  12\nc: [1,\n 2, {d: e}]\nf: x\n  y\n"),
            R"({"a":"yes\nno\n","b":"12","c":[1,2,{"d":"e"}],"f":"x y"})"
            "\n");
}

TEST(Yaml, EscapesInQuotes) {
  EXPECT_EQ(read(R"("\u263a\x41\t\"\\\/\_\N\L")"), "\"\u263aA\\t\\\"\\\\/\u00a0\u0085\\u2028\"\n");
}

TEST(Yaml, StreamsHaveManyDocuments) {
  EXPECT_EQ(read("# only a comment\n"), "");
  EXPECT_EQ(read("---\na: 1\n---\n---\n# nothing\n---\nb: 2\n...\n---\nc: 3\n"),
            "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n");
  EXPECT_EQ(read(R"({"a": 1})"), "{\"a\":1}\n");
  EXPECT_THAT(read("{a: 1} x"), HasSubstr("error: "));
  EXPECT_THAT(read("[1]\n[2]"), HasSubstr("error: "));
  EXPECT_THAT(read("... \"a\", b: \"c\""), HasSubstr("error: "));
}

TEST(Yaml, AnchorsAndMerges) {
  EXPECT_EQ(read("a: &x 5\nb: *x\n"), "{\"a\":5,\"b\":5}\n");
  const std::string base = "b: &b {x: 1, z: 2}\nc: &c {x: 5, w: 6}\n";
  const std::string read_base = R"({"b":{"x":1,"z":2},"c":{"x":5,"w":6},)";
  EXPECT_EQ(read(base + "m:\n  <<: *b\n  x: 9\n"), read_base + "\"m\":{\"x\":9,\"z\":2}}\n");
  EXPECT_EQ(read(base + "m:\n  x: 9\n  <<: *b\n"), read_base + "\"m\":{\"x\":1,\"z\":2}}\n");
  EXPECT_EQ(read(base + "m:\n  <<: [*b, *c]\n"), read_base + "\"m\":{\"x\":1,\"w\":6,\"z\":2}}\n");
  EXPECT_THAT(read("m:\n  <<: 5\n"), HasSubstr("map merge requires map"));
  EXPECT_THAT(read("a: *x"), HasSubstr("error: "));
  EXPECT_THAT(read("a: &x [*x]"), HasSubstr("error: "));
}

TEST(Yaml, AliasedPartsAreNotShared) {
  Arena arena;
  const auto documents = parse_yaml(arena, "a: &x {k: 1}\nb: *x\n");
  ASSERT_TRUE(documents);
  documents->front().root.get("a").set("k", Value::of(2));
  EXPECT_THAT(documents->front().root, IsJson(R"({"a":{"k":2},"b":{"k":1}})"));
}

TEST(Yaml, DuplicatesAreNamedAndTheLastWins) {
  Arena arena;
  const auto documents = parse_yaml(arena, "m:\n  q: 1\n  r: 2\n\n  q: 3\nl:\n- {a: 1, a: 2}\n");
  ASSERT_TRUE(documents);
  EXPECT_EQ(write(documents->front().root), R"({"m":{"q":3,"r":2},"l":[{"a":2}]})");
  EXPECT_THAT(documents->front().duplicates, ElementsAre(R"(line 5: key "q" already set in map)",
                                                         R"(line 7: key "a" already set in map)"));
}

TEST(Yaml, KeysThatAreRepeatedHaveAPlaceAndThoseOfAMergeAreNone) {
  Arena arena;
  const auto documents =
      parse_yaml(arena, "b: &b {q: 1}\nm:\n  <<: *b\n  q: 2\n  r: 1\n  \"r\": 2\n");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->front().repeated.size(), 1u);
  EXPECT_EQ(documents->front().repeated[0].key, "r");
  EXPECT_EQ(documents->front().repeated[0].at.line, 6);
  EXPECT_EQ(documents->front().repeated[0].at.column, 3);
}

TEST(Yaml, PositionsOfKeysAndValues) {
  Arena arena;
  const auto documents = parse_yaml(arena,
                                    "spec:\n"
                                    "  jobs:\n"
                                    "  - name: a\n"
                                    "    size:   3\n"
                                    "  - {name: b}\n"
                                    "  copy: &x\n"
                                    "    y1: 1\n"
                                    "  alias: *x\n");
  ASSERT_TRUE(documents);
  const YamlDocument& document = documents->front();
  const struct {
    const char* path;
    int line;
    int column;
  } rows[] = {
      {"", 1, 1},
      {"spec#", 1, 1},
      {"spec", 2, 3},
      {"spec.jobs#", 2, 3},
      {"spec.jobs", 3, 3},
      {"spec.jobs[0]", 3, 5},
      {"spec.jobs[0].name", 3, 11},
      {"spec.jobs[0].size#", 4, 5},
      {"spec.jobs[0].size", 4, 13},
      {"spec.jobs[1]", 5, 5},
      {"spec.jobs[1].name", 5, 12},
      {"spec.alias", 8, 10},
  };
  for (const auto& row : rows) {
    const auto found = document.positions.find(row.path);
    ASSERT_NE(found, document.positions.end()) << row.path;
    EXPECT_EQ(found->second.line, row.line) << row.path;
    EXPECT_EQ(found->second.column, row.column) << row.path;
  }
  EXPECT_EQ(find_position(document, "spec.alias.y1").line, 8);
  EXPECT_EQ(find_position(document, "spec.jobs[1].missing.deep[3]").line, 5);
  EXPECT_EQ(find_position(document, "nowhere").line, 1);
}

TEST(Yaml, PositionsCanBeLeftOut) {
  Arena arena;
  for (const char* const text : {"a: 1", R"({"a": 1})", R"({"a": 0, "a": 1})"}) {
    const auto documents = parse_yaml(arena, text, {.positions = false});
    ASSERT_TRUE(documents);
    EXPECT_THAT(documents->front().root, IsJson(R"({"a": 1})"));
    EXPECT_THAT(documents->front().positions, IsEmpty());
  }
}

TEST(Yaml, ErrorsEndInLineAndColumn) {
  for (const char* const text :
       {"a: 1\n  b: 2\n", "a: \"x\n", "a: [1\n", "a:\n\tb: 1\n", "a: b: c\n", "a: !!int x\n",
        "a: !!binary aGk=\n", "a: \x01\n", "a: \xff\n"}) {
    Arena arena;
    const auto documents = parse_yaml(arena, text);
    ASSERT_FALSE(documents) << text;
    EXPECT_EQ(documents.error().code, Code::kBadRequest);
    EXPECT_THAT(documents.error().message,
                testing::MatchesRegex("yaml: .* at line [0-9]+, column [0-9]+"));
  }
}

// yaml-cpp alone would take the rest of the file for the scalar.
TEST(Yaml, UnclosedQuotesAreNoticed) {
  for (const char* const text :
       {"a: \"x", "a: \"x\n", "a: 'x\n", "a: \"x\n\nb: 1\n  ", "a: \"x\\\n", "a: 'x\n\t", "'x\n"})
    EXPECT_THAT(read(text), HasSubstr("error: yaml: ")) << text;
  EXPECT_EQ(read("a:\n- [1"), "error: yaml: found unexpected end of stream at line 2, column 5");
  EXPECT_EQ(read("a: 'x\n'\n"), "{\"a\":\"x \"}\n");
  EXPECT_EQ(read("a: |\n  x\n\n\n"), "{\"a\":\"x\\n\"}\n");
  EXPECT_EQ(read("a: |+\n  x\n\n"), "{\"a\":\"x\\n\\n\"}\n");
  EXPECT_EQ(read("a: |\n  x"), "{\"a\":\"x\"}\n");
}

TEST(Yaml, NestingHasALimit) {
  const auto nested = [](int depth) {
    const auto size = static_cast<std::size_t>(depth);
    return std::string(size, '[') + std::string(size, ']');
  };
  EXPECT_EQ(read(nested(kMaxDepth)), nested(kMaxDepth) + "\n");
  EXPECT_THAT(read(nested(kMaxDepth + 1)), HasSubstr("exceeded max depth"));
  EXPECT_THAT(read(nested(5000)), HasSubstr("exceeded max depth"));
  EXPECT_THAT(
      read("a: &x " + nested(200) + "\nb: " + std::string(100, '[') + "*x" + std::string(100, ']')),
      HasSubstr("exceeded max depth"));
}

// CVE-2019-11253: nine levels of ninefold aliases are a billion nodes.
TEST(Yaml, BombsAreDefused) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += fmt::format("a{}: &a{} [", i, i);
    for (int j = 0; j < 9; ++j) bomb += fmt::format("{}*a{}", j == 0 ? "" : ",", i - 1);
    bomb += "]\n";
  }
  EXPECT_THAT(read(bomb), HasSubstr("excessive aliasing"));
  std::string long_text = "a: &a '" + std::string(1 << 20, 'x') + "'\nb: [";
  for (int i = 0; i < 20; ++i) long_text += "*a,";
  EXPECT_THAT(read(long_text + "]"), HasSubstr("excessive aliasing"));
}

TEST(Yaml, TextHasALimit) {
  Arena arena;
  const auto documents = parse_yaml(arena, std::string(kMaxYamlText + 1, ' '));
  ASSERT_FALSE(documents);
  EXPECT_EQ(documents.error().code, Code::kTooLarge);
}

TEST(WriteYaml, LooksLikeKubectl) {
  const Tree pod(R"({"apiVersion":"v1","metadata":{"name":"a","annotations":{},"finalizers":[]},
      "spec":{"containers":[{"name":"c","args":["--flag=1","a: b","yes","12",""],"tty":true}],
      "matrix":[[1,2],[],[{"x":null}]],"script":"echo a\necho b\n","note":"x\ny"}})");
  EXPECT_EQ(write_yaml(pod), R"(apiVersion: v1
metadata:
  name: a
  annotations: {}
  finalizers: []
spec:
  containers:
  - name: c
    args:
    - --flag=1
    - 'a: b'
    - "yes"
    - "12"
    - ""
    tty: true
  matrix:
  - - 1
    - 2
  - []
  - - x: null
  script: |
    echo a
    echo b
  note: |-
    x
    y
)");
  EXPECT_EQ(write_yaml(Value::view("x")), "x\n");
}

TEST(WriteYaml, ShowsMarksThatTurnTheDirectionOfWriting) {
  EXPECT_EQ(write_yaml(Value::view("a\u202Eb")), "\"a\\u202Eb\"\n");
  EXPECT_EQ(write_yaml(Value::view("\u2066")), "\"\\u2066\"\n");
  EXPECT_EQ(write_yaml(Value::view("\u2603")), "\u2603\n");
}

TEST(WriteYaml, QuotesWhatAReaderWouldTakeForATimeOrNumber) {
  for (const char* text :
       {"2026-01-31T10:00:00Z", "2026-01-31T10:00:00.123456Z", "2026-01-31t10:00:00+02:00",
        "2026-01-31", "2026-1-2", "2026-01-31 10:00:00", "2026-01-31  1:2:3.5 -5", "10:30",
        "-1:59:59.5", "12", ".inf", "<<"}) {
    EXPECT_EQ(write_yaml(Value::view(text)), fmt::format("\"{}\"\n", text));
  }
  for (const char* text :
       {"2026-01", "2026-01-31T", "2026-01-31T10:00", "2026-01-31-x", "2026-001-01", "20260-01-01",
        "2026-01-31T10:00:00Zulu", "2026-01-31T10:00:00+", "10:300", "10:30:x", "1.36.3"}) {
    EXPECT_EQ(write_yaml(Value::view(text)), fmt::format("{}\n", text));
  }
}

TEST(WriteYaml, ReadsBackAsItself) {
  const std::string texts[] = {
      "",          " ",           "a ",       " a",       "-",      "- a",    "--",    "---",
      "--- a",     "...",         "a: b",     "a:",       ":a",     "a #b",   "#a",    "a#b",
      "it's",      "\"q\"",       "'q'",      "[a]",      "{a}",    "a, b",   "&a",    "*a",
      "!a",        "|",           ">",        "%a",       "@a",     "`a",     "?",     "? a",
      "<<",        "=",           "~",        "null",     "Yes",    "0x1",    "1e3",   ".inf",
      "1_0",       "2020-01-01",  "a\nb",     "a\nb\n",   "a\n\nb", "\na",    "a\n\n", "\n",
      " a\nb",     "a\n b",       "a \nb",    "a\tb",     "\ta",    "a\n\tb", "\r\n",  "a\x01",
      "é",         "😀",          "\u0085",   "\u2028",   "\uFEFF", "\uFFFD", "\x7f",  "\\n",
      "a\n---\nb", "key: |\n  x", "a\n# b\n", "- a\n- b", "a\r\nb", "\u202E",
  };
  for (const std::string& text : texts) {
    Arena arena;
    const Value list = Value::array(arena);
    list.push_back(Value::view(text));
    const Value object = Value::object(arena);
    object.set("value", Value::view(text));
    object.set("nested", list);
    object.set(text, list);
    list.push_back(clone(arena, object));
    const auto back = parse_yaml(arena, write_yaml(object));
    ASSERT_TRUE(back) << back.error().message << "\n" << write_yaml(object);
    ASSERT_THAT(*back, SizeIs(1));
    EXPECT_TRUE(equal(back->front().root, object)) << write_yaml(object);
  }
}

TEST(WriteYaml, LongKeysReadBack) {
  Arena arena;
  const Value object = Value::object(arena);
  for (const std::size_t size : {400U, 600U, 2000U}) {
    object.set(std::string(size, 'k'), Value::array(arena));
    object.get(std::string(size, 'k')).push_back(Value::of(1));
    object.object_at(std::string(size, 'm')).set("x", "y");
  }
  const auto back = parse_yaml(arena, write_yaml(object));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(equal(back->front().root, object));
}

}  // namespace yaml_test
}  // namespace muster::json
