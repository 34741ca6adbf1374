// The part of an object's metadata that the store, selectors and collectors look at, read from its
// bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace muster::api {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool block_owner_deletion = false;
};

struct Meta {
  std::string name;
  std::string ns;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<Time> creation_time;
  std::optional<Time> deletion_time;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<std::string> finalizers;
  std::vector<OwnerReference> owners;

  std::optional<std::string_view> label(std::string_view key) const;
  std::optional<std::string_view> annotation(std::string_view key) const;
  const OwnerReference* controller() const;  // null pointer if none
};

// Of stored bytes, which are known to be sound: asserts if they are not an object.
Meta decode_meta(std::string_view bytes);
// Of an object that a server sent. Fails with kBadRequest if it has no metadata of the right types.
Result<Meta> read_meta(std::string_view bytes);

}  // namespace muster::api
