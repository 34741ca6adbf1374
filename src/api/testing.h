// For tests only: the files of testdata/, and resources by a short name.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "api/decode/decode.h"
#include "api/schema/registry.h"
#include "base/result.h"
#include "json/testing.h"

namespace muster::api {

inline std::string read_testdata(std::string_view name) {
  const std::ifstream file(std::filesystem::path(API_TESTDATA) / name);
  MUSTER_ASSERT(file.good(), "a file of testdata is missing");
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// resource("v1", "Pod"); asserts that it is served.
inline const Resource& resource(std::string_view api_version, std::string_view kind) {
  const Resource* const found = Registry::builtin().find_kind(api_version, kind);
  MUSTER_ASSERT(found != nullptr, "no such kind");
  return *found;
}

// decode() of a text, for tests that compare texts.
struct Decoded {
  std::string text;   // as written; empty on failure
  std::string error;  // empty on success
  std::vector<std::string> unknown;
};

inline Decoded decode_text(std::string_view json, const Resource& resource) {
  const json::Tree tree(json);
  json::Arena arena;
  DecodeReport report;
  const Result<json::Value> object = decode(arena, tree, resource, report);
  if (!object) return {"", object.error().message, report.unknown};
  return {json::write(*object), "", report.unknown};
}

}  // namespace muster::api
