// -o FORM: objects as people or programs want them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/registry.h"
#include "base/result.h"
#include "json/json_path.h"
#include "json/value.h"

namespace muster::cli {

inline constexpr std::string_view kOutputHelp = "wide, json, yaml, name or jsonpath=TEMPLATE";

// The beginnings of what -o takes.
std::vector<std::string> output_forms();

class Output {
 public:
  static Result<Output> parse(std::string_view text);

  bool is_table() const { return kind_ == Kind::kTable || kind_ == Kind::kWide; }
  bool is_wide() const { return kind_ == Kind::kWide; }
  // What stands between objects that are printed one after the other.
  std::string_view separator(bool behind_another) const {
    return behind_another && kind_ == Kind::kYaml ? "---\n" : "";
  }
  // Of an object or a List; not for tables. Field owners are left out. Changes the value.
  std::string print(json::Value object) const;

 private:
  enum class Kind { kTable, kWide, kJson, kYaml, kName, kJsonPath };
  Kind kind_ = Kind::kTable;
  std::optional<json::JsonPath> path_;
};

// "jobset.jobset.x-k8s.io/train", as kubectl names an object that it has worked on.
std::string object_name(json::Value object);

}  // namespace muster::cli
