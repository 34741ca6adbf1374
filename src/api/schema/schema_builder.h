// Turns the `types` of the data files into a tree of Schema nodes (docs/kinds.md has the format).
// Used once, at start, by the registry; tests build small schemas of their own with it.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/schema/schema.h"

namespace muster::api {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
template <class T>
using ByText = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

// Owns the nodes, and the JSON values that they hold.
struct SchemaPool {
  SchemaPool() = default;
  SchemaPool(const SchemaPool&) = delete;

  json::Arena arena;
  std::deque<Schema> nodes;
  ByText<Schema*> types;  // by type name
  ByText<Schema*> kinds;  // by "apiVersion/Kind"

  const Schema* type(std::string_view name) const;
  const Schema* kind(std::string_view api_version, std::string_view kind) const;
};

class SchemaBuilder {
 public:
  explicit SchemaBuilder(SchemaPool& pool) : pool_(pool) {}

  // The `types` object of one file. References may point at types of any file, once finish() is
  // called.
  void declare(json::Value types);
  // Texts of our own: {type: {"": of the type, field: text, "like": type whose texts hold here
  // too}}.
  void describe(json::Value descriptions);
  // Fills every declared type. Asserts that all references hold.
  void finish();

 private:
  // A node that differs from the type it refers to by attributes of the place: made when all types
  // are filled, because it is a copy.
  struct Variant {
    Schema* node;
    const Schema* base;
    json::Value attributes;
  };

  void fill(Schema& type, json::Value declaration);
  Field make_field(json::Value declaration);
  const Schema* place_schema(json::Value field);
  const Schema* innermost(json::Value field, json::Value element_attributes);
  const Schema* scalar(Shape shape, json::Value declaration, json::Value attributes);
  const Schema* shared_scalar(Shape shape, std::string_view format, std::string_view go_type);
  const Schema* variant(const Schema* base, json::Value attributes);
  Schema& new_node(Shape shape);
  void set_structure(Schema& node, json::Value attributes);
  void set_limits(Schema& node, json::Value attributes);
  void describe_type(Schema& type, json::Value texts, json::Value descriptions);

  SchemaPool& pool_;
  std::vector<std::pair<Schema*, json::Value>> declared_;
  std::vector<json::Value> descriptions_;
  std::vector<Variant> variants_;
  ByText<const Schema*> scalars_;
  ByText<std::shared_ptr<const Pattern>> patterns_;
};

}  // namespace muster::api
