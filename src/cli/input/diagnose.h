// Faults of a file's objects, shown where they stand: line, column, and what was probably meant.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/registry.h"
#include "base/near_words.h"
#include "base/result.h"
#include "json/yaml.h"

namespace muster::cli {

struct Source {
  std::string file;
  std::string_view text;                    // the whole file
  const json::YamlDocument* document;       // the one that was refused
  const api::Resource* resource = nullptr;  // its kind
};

// One "error: …" block per fault of the server's answer; the plain message if it names no field.
std::string explain(const Error& error, const Source& source);

// A text that is not YAML: what is wrong, and where.
std::string explain_syntax(const Error& error, const std::string& file, std::string_view text);

// Keys that a document has twice, where the later ones stand.
std::string explain_repeated(const Source& source);

}  // namespace muster::cli
