#include "server/options.h"

#include <gmock/gmock.h>

namespace muster::server {
namespace options_test {

std::string fault(std::string_view query, std::string_view kind, bool apply = false) {
  const Result<WriteOptions> options = parse_write_options(*Query::parse(query), kind, apply);
  return options ? "" : options.error().message;
}

TEST(WriteOptions, NameAFieldManagerThatCanBePrinted) {
  EXPECT_EQ(fault("fieldManager=gr%C3%B6%C3%9Fe", "CreateOptions"), "");
  EXPECT_EQ(fault("fieldManager=a%07", "CreateOptions"),
            R"(CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\a": )"
            "invalid character U+0007 (at position 1)");
}

TEST(WriteOptions, SayWhatTheyDoNotKnow) {
  EXPECT_EQ(
      fault("fieldValidation=Loose", "UpdateOptions"),
      R"(UpdateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Loose": )"
      R"(supported values: "", "Ignore", "Strict", "Warn")");
  EXPECT_EQ(fault("dryRun=Some", "UpdateOptions"),
            R"(UpdateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: )"
            R"(supported values: "All")");
}

TEST(WriteOptions, OfAnApplyHaveAManager) {
  EXPECT_EQ(fault("", "PatchOptions", true),
            R"(PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: )"
            "is required for apply patch");
  EXPECT_EQ(fault("fieldManager=m&force=true", "PatchOptions", true), "");
  EXPECT_EQ(fault("fieldManager=m&force=true", "PatchOptions"),
            R"(PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: )"
            "may not be specified for non-apply patch");
}

}  // namespace options_test
}  // namespace muster::server
