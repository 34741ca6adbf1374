// What a Registry owns. Seen by registry.cc, its builder and its benchmark only.
#pragma once

#include <deque>
#include <initializer_list>
#include <string>

#include "api/schema/registry.h"
#include "api/schema/schema_builder.h"

namespace muster::api {

struct Registry::Data {
  using Index = ByText<const Resource*>;

  SchemaPool schemas;
  std::deque<Resource> resources;
  Index by_path;     // group, version, plural
  Index by_kind;     // apiVersion, kind
  Index by_storage;  // group, plural; of storage resources

  // The parts of a key never hold a blank.
  static std::string key(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) text.append(part).append(" ");
    return text;
  }
  static const Resource* find(const Index& index, std::initializer_list<std::string_view> parts) {
    const auto found = index.find(key(parts));
    return found == index.end() ? nullptr : found->second;
  }
};

// A registry of its own from the embedded data; everyone else shares Registry::builtin().
Registry build_registry();

}  // namespace muster::api
