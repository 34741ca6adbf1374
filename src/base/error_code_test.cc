#include "base/error_code.h"

#include <gtest/gtest.h>

namespace muster {
namespace error_code_test {

TEST(ErrorCode, EachIsReadAsItIsWritten) {
  for (const ErrorCode& row : kErrorCodes) {
    EXPECT_EQ(facts_of(row.code).reason, row.reason);
    EXPECT_EQ(code_of(row.reason, row.http_status), row.reason.empty() ? Code::kInternal : row.code)
        << row.reason;
  }
}

TEST(ErrorCode, AStatusWithoutAReasonGoesByItsNumber) {
  EXPECT_EQ(code_of("", 404), Code::kNotFound);
  EXPECT_EQ(code_of("", 409), Code::kConflict) << "not AlreadyExists";
  EXPECT_EQ(code_of("", 500), Code::kInternal);
  EXPECT_EQ(code_of("StoreReadError", 503), Code::kUnavailable) << "a reason that is not known";
  EXPECT_EQ(code_of("Gone", 410), Code::kExpired);
  EXPECT_EQ(code_of("", 418), Code::kUntranslated);
}

}  // namespace error_code_test
}  // namespace muster
