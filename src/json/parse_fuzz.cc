// Any text: the fast reader and the Go reader agree, and what is written reads back as itself.
#include "base/result.h"
#include "json/go_reader.h"
#include "json/parse.h"
#include "json/write.h"

using namespace muster::json;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Arena arena;
  ParseReport fast_report;
  ParseReport go_report;
  const auto fast = parse(arena, text, &fast_report);
  const auto like_go = parse_like_go(arena, text, &go_report);
  MUSTER_ASSERT(fast.has_value() == like_go.has_value(), "the readers disagree");
  MUSTER_ASSERT(fast_report.duplicates == go_report.duplicates, "the readers disagree");
  if (!fast) {
    MUSTER_ASSERT(fast.error().message == like_go.error().message, "the readers disagree");
    return 0;
  }
  const std::string written = write(*fast);
  MUSTER_ASSERT(written == write(*like_go), "the readers disagree");
  const auto again = parse(arena, written);
  MUSTER_ASSERT(again && equal(*again, *fast), "the writer changed a value");
  MUSTER_ASSERT(write(*again) == written, "the writer is not stable");
  MUSTER_ASSERT(equal(*parse(arena, write_pretty(*fast)), *fast), "pretty is not the same");
  MUSTER_ASSERT(write(clone(arena, *fast)) == written, "a clone differs");
  return 0;
}
