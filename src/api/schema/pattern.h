// A regular expression of a schema, compiled once. Searches like Go's regexp (RE2 syntax), in
// linear time.
#pragma once

#include <memory>
#include <string_view>

namespace muster::api {

class Pattern {
 public:
  virtual ~Pattern() = default;
  virtual bool found_in(std::string_view text) const = 0;
};

// Null pointer if the text is no regular expression.
std::shared_ptr<const Pattern> compile_pattern(std::string_view expression);

}  // namespace muster::api
