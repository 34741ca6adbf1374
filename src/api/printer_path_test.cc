#include "api/printer_path.h"

#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/write.h"

namespace muster::api {
namespace {

constexpr const char* kObject = R"({
  "metadata": {"name": "a", "labels": {"example.com/x": "dotted"}},
  "spec": {"suspend": false, "items": [{"n": 1}, {"n": 2}]},
  "status": {"conditions": [
    {"type": "Suspended", "status": "False"},
    {"type": "Completed", "status": "True", "reason": "a]b"},
    {"type": 7, "status": "number"}]}
})";

TEST(PrinterPath, FindsTheFirstMatch) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {".metadata.name", R"("a")"},
      {R"(.metadata.labels.example\.com/x)", R"("dotted")"},
      {".metadata.labels['example.com/x']", R"("dotted")"},
      {".spec.suspend", "false"},
      {".spec.items[1].n", "2"},
      {".spec.items[*].n", "1"},
      {R"(.status.conditions[?(@.type=="Completed")].status)", R"("True")"},
      {R"(.status.conditions[?(@.type=='Suspended')].status)", R"("False")"},
      {R"(.status.conditions[?(@.type == "Completed")].reason)", R"("a]b")"},
      {R"(.status.conditions[?(@.reason=="a]b")].type)", R"("Completed")"},
      {".status.conditions[?(@.type==7)].status", R"("number")"},
      {".spec.missing.deeper", "null"},
      {".spec.items[9].n", "null"},
      {R"(.status.conditions[?(@.type=="Failed")].status)", "null"},
      {".metadata.name.deeper", "null"},
  };
  json::Arena arena;
  const auto object = json::parse(arena, kObject);
  ASSERT_TRUE(object);
  for (const auto& [text, found] : cases) {
    const auto path = PrinterPath::parse(text);
    ASSERT_TRUE(path) << text;
    EXPECT_EQ(json::write(path->find(*object)), found) << text;
  }
}

TEST(PrinterPath, RefusesTheRestOfJsonPath) {
  for (const auto* text :
       {"spec", "..", ".a[", ".a[?(@.b>1)]", ".a[-1]", ".a[1:2]", ".a[?(b==1)]"}) {
    EXPECT_FALSE(PrinterPath::parse(text)) << text;
  }
}

}  // namespace
}  // namespace muster::api
