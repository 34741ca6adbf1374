#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "api/views/meta.h"
#include "base/result.h"

namespace muster::api {
namespace {

namespace od = simdjson::ondemand;

// What one thread reads with, kept because the parser's buffers are worth keeping. The text is
// copied in, since simdjson reads past its end.
struct Scratch {
  od::parser parser;
  std::vector<char> padded;
};

std::string text_of(od::value value) {
  const std::string_view text = value.get_string();
  return std::string(text);
}

std::optional<Time> time_of(od::value value) {
  if (value.is_null()) return std::nullopt;
  return parse_time(std::string_view(value.get_string()));
}

std::vector<std::pair<std::string, std::string>> texts_of(od::value value) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (od::field field : value.get_object()) {
    std::string key(std::string_view(field.unescaped_key()));
    texts.emplace_back(std::move(key), text_of(field.value()));
  }
  return texts;
}

OwnerReference owner_of(od::value value) {
  OwnerReference owner;
  for (od::field field : value.get_object()) {
    const std::string_view key = field.unescaped_key();
    if (key == "apiVersion") owner.api_version = text_of(field.value());
    if (key == "kind") owner.kind = text_of(field.value());
    if (key == "name") owner.name = text_of(field.value());
    if (key == "uid") owner.uid = text_of(field.value());
    if (key == "controller") owner.controller = field.value().get_bool();
    if (key == "blockOwnerDeletion") owner.block_owner_deletion = field.value().get_bool();
  }
  return owner;
}

void read_field(Meta& meta, std::string_view key, od::value value) {
  if (key == "name") {
    meta.name = text_of(value);
  } else if (key == "namespace") {
    meta.ns = text_of(value);
  } else if (key == "uid") {
    meta.uid = text_of(value);
  } else if (key == "resourceVersion") {
    meta.resource_version = text_of(value);
  } else if (key == "generation") {
    meta.generation = value.get_int64();
  } else if (key == "creationTimestamp") {
    meta.creation_time = time_of(value);
  } else if (key == "deletionTimestamp") {
    meta.deletion_time = time_of(value);
  } else if (key == "labels") {
    meta.labels = texts_of(value);
  } else if (key == "annotations") {
    meta.annotations = texts_of(value);
  } else if (key == "finalizers") {
    for (od::value finalizer : value.get_array()) meta.finalizers.push_back(text_of(finalizer));
  } else if (key == "ownerReferences") {
    for (od::value owner : value.get_array()) meta.owners.push_back(owner_of(owner));
  }
}

std::optional<std::string_view> find(const std::vector<std::pair<std::string, std::string>>& texts,
                                     std::string_view key) {
  const auto found = std::ranges::find(texts, key, &std::pair<std::string, std::string>::first);
  if (found == texts.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<std::string_view> Meta::label(std::string_view key) const {
  return find(labels, key);
}

std::optional<std::string_view> Meta::annotation(std::string_view key) const {
  return find(annotations, key);
}

const OwnerReference* Meta::controller() const {
  const auto found = std::ranges::find(owners, true, &OwnerReference::controller);
  return found == owners.end() ? nullptr : &*found;
}

Result<Meta> read_meta(std::string_view bytes) {
  thread_local Scratch scratch;
  scratch.padded.resize(bytes.size() + simdjson::SIMDJSON_PADDING);
  std::memcpy(scratch.padded.data(), bytes.data(), bytes.size());
  try {
    od::document document =
        scratch.parser.iterate(scratch.padded.data(), bytes.size(), scratch.padded.size());
    Meta meta;
    for (od::field field :
         document.get_object().value().find_field_unordered("metadata").get_object()) {
      const std::string_view key = field.unescaped_key();
      read_field(meta, key, field.value());
    }
    return meta;
  } catch (const simdjson::simdjson_error& error) {
    return fail(Code::kBadRequest, error.what());
  }
}

Meta decode_meta(std::string_view bytes) {
  auto meta = read_meta(bytes);
  if (!meta)
    assertion_failed("the bytes are a stored object", meta.error().message.c_str(), __FILE__,
                     __LINE__);
  return *std::move(meta);
}

}  // namespace muster::api
