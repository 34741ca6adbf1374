#include "api/schema/pattern.h"

#include <re2/re2.h>

namespace muster::api {
namespace {

class Re2Pattern final : public Pattern {
 public:
  explicit Re2Pattern(std::string_view expression)
      : regex_(re2::StringPiece(expression.data(), expression.size()), re2::RE2::Quiet) {}

  bool ok() const { return regex_.ok(); }
  bool found_in(std::string_view text) const override {
    return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), regex_);
  }

 private:
  re2::RE2 regex_;
};

}  // namespace

std::shared_ptr<const Pattern> compile_pattern(std::string_view expression) {
  auto pattern = std::make_shared<const Re2Pattern>(expression);
  return pattern->ok() ? pattern : nullptr;
}

}  // namespace muster::api
