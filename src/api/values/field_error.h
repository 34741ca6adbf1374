// Faults of an object's fields, in upstream's words (spec: apimachinery 5.2), gathered so that an
// answer lists all of them at once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace muster::api {

struct Resource;

// A path such as spec.containers[0].ports[1].name, built on the way down.
class Path {
 public:
  Path() = default;
  explicit Path(std::string_view text) : text_(text) {}
  Path child(std::string_view name) const;  // .name
  Path index(std::size_t i) const;          // [3]
  Path key(std::string_view key) const;     // [memory]
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The value as upstream quotes it: strings Go-quoted, numbers and booleans bare, else compact JSON.
std::string quote(json::Value value);
std::string quote(std::string_view text);

class FieldErrors {
 public:
  void required(const Path& path, std::string_view detail = "");
  void invalid(const Path& path, json::Value value, std::string_view detail);
  void invalid(const Path& path, std::string_view text, std::string_view detail);
  void type_invalid(const Path& path, json::Value value, std::string_view detail);
  void not_supported(const Path& path, std::string_view value,
                     std::span<const std::string_view> supported);
  void duplicate(const Path& path, json::Value value);
  void duplicate(const Path& path, std::string_view text);
  void not_found(const Path& path, std::string_view value);
  void forbidden(const Path& path, std::string_view detail);
  void too_long(const Path& path, int max_bytes);
  void too_many(const Path& path, std::size_t count, int max);
  void add(std::string_view reason, const Path& path, std::string message);
  void append(FieldErrors other);

  bool empty() const { return causes_.empty(); }
  const std::vector<Cause>& causes() const { return causes_; }

  // 422 with `Kind.group "name" is invalid: ...`, one cause per fault; equal texts are said once.
  Error to_error(std::string_view qualified_kind, std::string_view group, std::string_view kind,
                 std::string_view name) const;
  Error to_error(const Resource& resource, std::string_view name) const;

 private:
  std::vector<Cause> causes_;
};

}  // namespace muster::api
