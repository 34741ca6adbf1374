// The small checks that many kinds share, with upstream's words.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "admission/rules/edit.h"
#include "api/values/field_error.h"
#include "api/values/names.h"

namespace muster::admission {

using api::FieldErrors;
using api::Path;

inline constexpr std::string_view kImmutable = "field is immutable";
inline constexpr std::string_view kNotNegative = "must be greater than or equal to 0";

// Every fault of a text becomes one error at the path.
inline void add_faults(FieldErrors& errors, const Path& path, std::string_view text,
                       const api::Faults& faults) {
  for (const std::string& fault : faults) errors.invalid(path, text, fault);
}

// The member must be there, and not be empty text.
bool require_text(Value object, std::string_view key, const Path& path, FieldErrors& errors,
                  std::string_view detail = "");

// Absent members pass.
void validate_not_negative(Value object, std::string_view key, const Path& path,
                           FieldErrors& errors);
void validate_range(Value object, std::string_view key, std::int64_t least, std::int64_t most,
                    const Path& path, FieldErrors& errors);

// Text out of a closed set. Absent members pass.
void validate_choice(Value object, std::string_view key,
                     std::initializer_list<std::string_view> choices, const Path& path,
                     FieldErrors& errors);
// Likewise, but the member is required.
void require_choice(Value object, std::string_view key,
                    std::initializer_list<std::string_view> choices, const Path& path,
                    FieldErrors& errors);

// The member is as it was.
void require_unchanged(Value object, Value old, std::string_view key, const Path& path,
                       FieldErrors& errors);

// A number from 1 to 65535, or the name of a port.
void validate_port(Value port, const Path& path, FieldErrors& errors);

// "example.com/foo"
void validate_domain_prefixed_path(std::string_view text, const Path& path, FieldErrors& errors);

bool is_ip(std::string_view text);
bool is_ipv4(std::string_view text);

}  // namespace muster::admission
