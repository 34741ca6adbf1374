// How a Code stands in a Kubernetes Status: the server writes it, clients read it.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "base/result.h"

namespace muster {

struct ErrorCode {
  Code code;
  int http_status;
  std::string_view reason;
};

inline constexpr std::array<ErrorCode, 17> kErrorCodes = {{
    {Code::kBadRequest, 400, "BadRequest"},
    {Code::kUnauthorized, 401, "Unauthorized"},
    {Code::kForbidden, 403, "Forbidden"},
    {Code::kNotFound, 404, "NotFound"},
    {Code::kMethodNotAllowed, 405, "MethodNotAllowed"},
    {Code::kNotAcceptable, 406, "NotAcceptable"},
    {Code::kConflict, 409, "Conflict"},
    {Code::kAlreadyExists, 409, "AlreadyExists"},
    {Code::kExpired, 410, "Expired"},
    {Code::kTooLarge, 413, "RequestEntityTooLarge"},
    {Code::kUnsupportedMediaType, 415, "UnsupportedMediaType"},
    {Code::kInvalid, 422, "Invalid"},
    {Code::kTooManyRequests, 429, "TooManyRequests"},
    {Code::kInternal, 500, "InternalError"},
    {Code::kUntranslated, 500, ""},
    {Code::kUnavailable, 503, "ServiceUnavailable"},
    {Code::kTimeout, 504, "Timeout"},
}};

constexpr const ErrorCode& facts_of(Code code) {
  return *std::ranges::find(kErrorCodes, code, &ErrorCode::code);
}

// Of a Status. One without a reason, or with an unknown one, goes by the HTTP status: the first row
// above that has it.
constexpr Code code_of(std::string_view reason, int http_status) {
  if (reason == "Gone") return Code::kExpired;  // of older servers
  for (const ErrorCode& row : kErrorCodes) {
    if (!reason.empty() && row.reason == reason) return row.code;
  }
  const auto row = std::ranges::find(kErrorCodes, http_status, &ErrorCode::http_status);
  return row == kErrorCodes.end() ? Code::kUntranslated : row->code;
}

}  // namespace muster
