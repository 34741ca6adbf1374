#include "sim/place.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/near_words.h"

namespace muster::sim {

Place::Place(const Place& parent, std::string path, json::Value value)
    : file_(parent.file_), document_(parent.document_), path_(std::move(path)), value_(value) {}

Place Place::get(std::string_view key) const {
  return {*this, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key),
          value_.get(key)};
}

std::vector<Place> Place::items() const {
  std::vector<Place> out;
  for (const json::Value item : value_.items())
    out.push_back(Place(*this, fmt::format("{}[{}]", path_, out.size()), item));
  return out;
}

std::vector<std::pair<std::string, Place>> Place::members() const {
  std::vector<std::pair<std::string, Place>> out;
  for (const auto& [key, value] : value_.members()) out.emplace_back(key, get(key));
  return out;
}

std::unexpected<Error> Place::wrong_at(int line, std::string_view why) const {
  return fail(Code::kBadRequest,
              fmt::format("{}:{}: {}{}{}", file_, line, path_, path_.empty() ? "" : ": ", why));
}

std::unexpected<Error> Place::wrong(std::string_view why) const {
  return wrong_at(json::find_position(*document_, path_).line, why);
}

std::unexpected<Error> Place::unknown_member(std::string_view key,
                                             const std::vector<std::string>& known) const {
  const std::string path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  const auto at = document_->positions.find(path + "#");
  const json::Position position =
      at == document_->positions.end() ? json::find_position(*document_, path) : at->second;
  const auto guess = did_you_mean(key, known);
  return wrong_at(position.line,
                  fmt::format("unknown field \"{}\"{}", key,
                              guess ? fmt::format("; did you mean \"{}\"?", *guess) : ""));
}

Status check_members(const Place& object, std::initializer_list<std::string_view> known) {
  if (!object.value().is_object()) return object.wrong("must be a mapping");
  for (const auto& [key, value] : object.value().members()) {
    if (std::ranges::find(known, key) == known.end())
      return object.unknown_member(key, {known.begin(), known.end()});
  }
  return {};
}

Status check_fields(const Place& place, const api::Schema& schema) {
  const bool has_elements = schema.shape == api::Shape::kList || schema.shape == api::Shape::kMap;
  if (has_elements && schema.elem != nullptr) {
    for (const Place& item : place.items()) MUSTER_CHECK(check_fields(item, *schema.elem));
    for (const auto& [key, member] : place.members())
      MUSTER_CHECK(check_fields(member, *schema.elem));
  }
  if (schema.shape != api::Shape::kStruct) return {};
  for (const auto& [key, member] : place.members()) {
    if (const api::Field* field = schema.field(key)) {
      MUSTER_CHECK(check_fields(member, *field->schema));
    } else if (!schema.preserve_unknown) {
      std::vector<std::string> known;
      for (const api::Field& each : schema.fields) known.push_back(each.name);
      return place.unknown_member(key, known);
    }
  }
  return {};
}

}  // namespace muster::sim
