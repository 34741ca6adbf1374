// Errors as values. Expected failures travel as Result<T>; broken invariants stop the process
// (MUSTER_ASSERT, on in release). Our code throws nothing.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace muster {

// One value per reason of a Kubernetes Status, so that an Error maps to it one to one.
enum class Code : std::uint8_t {
  kBadRequest,            // 400
  kUnauthorized,          // 401
  kForbidden,             // 403
  kNotFound,              // 404
  kMethodNotAllowed,      // 405
  kNotAcceptable,         // 406
  kAlreadyExists,         // 409
  kConflict,              // 409
  kExpired,               // 410
  kTooLarge,              // 413
  kUnsupportedMediaType,  // 415
  kInvalid,               // 422
  kTooManyRequests,       // 429
  kInternal,              // 500, reason InternalError
  kUntranslated,          // 500 without reason or details: what upstream lets through unexplained
  kUnavailable,           // 503
  kTimeout,               // 504
};

// One fault among several, as in Status.details.causes.
struct Cause {
  std::string reason;  // e.g. FieldValueInvalid
  std::string message;
  std::string field;  // e.g. spec.replicatedJobs[2].dependsOn[0].name
};

struct Error {
  Code code = Code::kInternal;
  std::string message;
  // Status.details; all may be empty. `kind` is the resource or the Kind, as upstream has it.
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<Cause> causes;
  int retry_after_seconds = 0;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> fail(Code code, std::string message) {
  return std::unexpected(Error{.code = code, .message = std::move(message)});
}

[[noreturn]] void assertion_failed(const char* condition, const char* why, const char* file,
                                   int line);

}  // namespace muster

#define MUSTER_CAT_(a, b) a##b
#define MUSTER_CAT(a, b) MUSTER_CAT_(a, b)

// MUSTER_TRY(const Pod pod, find(name)): binds the value or returns the error upwards.
#define MUSTER_TRY_(tmp, decl, expr)                        \
  auto tmp = (expr);                                        \
  if (!tmp) return std::unexpected(std::move(tmp).error()); \
  decl = *std::move(tmp)
#define MUSTER_TRY(decl, expr) MUSTER_TRY_(MUSTER_CAT(try_, __LINE__), decl, expr)

// The same for a Status, which carries no value.
#define MUSTER_CHECK_(tmp, expr) \
  if (auto tmp = (expr); !tmp) return std::unexpected(std::move(tmp).error())
#define MUSTER_CHECK(expr) MUSTER_CHECK_(MUSTER_CAT(check_, __LINE__), expr)

#define MUSTER_ASSERT(condition, why) \
  ((condition) ? void(0) : ::muster::assertion_failed(#condition, why, __FILE__, __LINE__))
