#include "api/tables/printer_path.h"

#include <gtest/gtest.h>

#include "json/testing.h"

namespace muster::api {
namespace printer_path_test {

constexpr const char* kObject = R"({
  "metadata": {"name": "a", "labels": {"example.com/x": "dotted"}},
  "spec": {"suspend": false, "items": [{"n": 1}, {"n": 2}]},
  "status": {"conditions": [
    {"type": "Suspended", "status": "False"},
    {"type": "Completed", "status": "True", "reason": "a]b"},
    {"type": 7, "status": "number"}]}
})";

std::string found_at(std::string_view text) {
  const json::Tree object(kObject);
  const auto path = PrinterPath::parse(text);
  return path ? json::write(path->find(object)) : "not understood";
}

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
  for (const auto& [text, found] : cases) EXPECT_EQ(found_at(text), found) << text;
}

TEST(PrinterPath, RefusesTheRestOfJsonPath) {
  for (const auto* text :
       {"spec", "..", ".a[", ".a[?(@.b>1)]", ".a[-1]", ".a[1:2]", ".a[?(b==1)]"}) {
    EXPECT_FALSE(PrinterPath::parse(text)) << text;
  }
}

}  // namespace printer_path_test
}  // namespace muster::api
