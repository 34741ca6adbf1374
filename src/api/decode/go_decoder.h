// Brings a JSON tree into the form in which kube-apiserver writes it after a round trip through its
// Go types and its storage. Shared by decode() and the metadata of custom resources.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/decode/decode.h"
#include "api/schema/schema.h"
#include "json/value.h"

namespace muster::api {

class GoDecoder {
 public:
  // `prefix` stands before the paths of unknown fields ("metadata" when that alone is decoded).
  GoDecoder(json::Arena& arena, DecodeReport& report, std::string_view prefix = "")
      : arena_(arena), report_(report), prefix_(prefix) {
    path_.reserve(kUsualDepth);
    slots_.reserve(kUsualSlots);
  }

  // A value that is not null. Go decodes on after a fault and reports the first one; so do we.
  Result<json::Value> decode(json::Value in, const Schema& schema);

 private:
  static constexpr std::size_t kUsualDepth = 16;
  static constexpr std::size_t kUsualSlots = 128;

  struct Step {
    enum class Kind : std::uint8_t { kField, kKey, kIndex } kind;
    std::string_view name;
    std::size_t index = 0;
  };

  json::Value value(json::Value in, const Schema& schema);
  json::Value structure(json::Value in, const Schema& type);
  json::Value emit(const Schema& type, std::size_t first_slot);
  json::Value emitted(const Field& field, json::Value value);
  json::Value map(json::Value in, const Schema& schema);
  json::Value list(json::Value in, const Schema& schema);
  json::Value any(json::Value in, const Schema& schema);
  json::Value element(json::Value in, const Schema& schema);
  json::Value zero(const Schema& schema);

  json::Value string(json::Value in, const Schema& schema);
  json::Value integer(json::Value in, std::string_view type);
  json::Value bytes(json::Value in);
  json::Value time(json::Value in, Shape shape);
  json::Value quantity(json::Value in);
  json::Value int_or_string(json::Value in);

  json::Value type_fault(json::Value in, std::string_view type);
  json::Value number_fault(json::Value in, std::string_view type);
  json::Value fault(std::string text);
  std::string unmarshal_fault(std::string_view what, std::string_view type) const;
  std::string go_path() const;
  void report_unknown(std::string_view name);

  json::Arena& arena_;
  DecodeReport& report_;
  std::string_view prefix_;
  const Schema* root_ = nullptr;
  std::vector<Step> path_;
  std::vector<json::Value> slots_;  // one per field of each struct under way; null is absent
  const Schema* struct_ = nullptr;  // the innermost struct under way
  int lenient_ = 0;                 // inside a value that upstream decodes without strictness
  std::optional<std::string> fault_;
};

}  // namespace muster::api
