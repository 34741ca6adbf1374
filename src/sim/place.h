// A place in a scenario's file: a value with its path and line, for errors that name them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/schema.h"
#include "base/result.h"
#include "json/yaml.h"

namespace muster::sim {

// The document outlives it.
class Place {
 public:
  Place(std::string_view file, const json::YamlDocument& document)
      : file_(file), document_(&document), value_(document.root) {}

  json::Value value() const { return value_; }
  Place get(std::string_view key) const;
  std::vector<Place> items() const;  // of a list
  std::vector<std::pair<std::string, Place>> members() const;

  bool has(std::string_view key) const { return value_.has(key); }
  bool is_missing() const { return value_.is_null(); }

  // "train.yaml:12: pods[1].outcome: …".
  std::unexpected<Error> wrong(std::string_view why) const;
  std::unexpected<Error> unknown_member(std::string_view key,
                                        const std::vector<std::string>& known) const;

 private:
  Place(const Place& parent, std::string path, json::Value value);
  std::unexpected<Error> wrong_at(int line, std::string_view why) const;

  std::string_view file_;
  const json::YamlDocument* document_;
  std::string path_;
  json::Value value_;
};

// Refuses other members than these, and says which one was probably meant.
Status check_members(const Place& object, std::initializer_list<std::string_view> known);

// The same for a manifest, or a part of one, by the schema of its kind. Nothing else is checked:
// the server does that.
Status check_fields(const Place& place, const api::Schema& schema);

}  // namespace muster::sim
