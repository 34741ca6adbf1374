// A path that is lengthened on the way down and shortened on the way back, without a copy per step.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::api {

// Adds `.name` or `[index]` to the path for the life of the scope.
class PathScope {
 public:
  PathScope(std::string& path, std::string_view name) : path_(path), length_(path.size()) {
    if (!path.empty()) path += '.';
    path += name;
  }
  PathScope(std::string& path, std::size_t index) : path_(path), length_(path.size()) {
    fmt::format_to(std::back_inserter(path), "[{}]", index);
  }
  PathScope(const PathScope&) = delete;
  PathScope& operator=(const PathScope&) = delete;
  ~PathScope() { path_.resize(length_); }

 private:
  std::string& path_;
  std::size_t length_;
};

}  // namespace muster::api
