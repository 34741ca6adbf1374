#include "cli/input/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "base/terminal_text.h"
#include "cli/input/connection.h"
#include "cli/verbs/exit_code.h"
#include "engine/data_dir.h"
#include "json/write.h"

namespace muster::cli {
Result<Manifest> Manifest::read(const std::string& file, std::string_view default_ns,
                                KindCatalog* kinds) {
  if (file == "-") {
    return parse("standard input", std::string(std::istreambuf_iterator<char>(std::cin), {}),
                 default_ns, kinds);
  }
  MUSTER_TRY(std::string text, engine::read_file(file));
  return parse(file, std::move(text), default_ns, kinds);
}

Result<Manifest> Manifest::parse(std::string file, std::string text, std::string_view default_ns,
                                 KindCatalog* kinds) {
  KindCatalog own;
  KindCatalog& known = kinds == nullptr ? own : *kinds;
  Manifest out;
  out.file_ = std::move(file);
  out.text_ = std::make_unique<std::string>(std::move(text));
  out.arena_ = std::make_unique<json::Arena>();
  auto documents = json::parse_yaml(*out.arena_, *out.text_);
  if (!documents) {
    Error error = documents.error();
    error.message = explain_syntax(error, out.file_, *out.text_);
    return std::unexpected(std::move(error));
  }
  out.documents_ = *std::move(documents);
  for (std::size_t i = 0; i < out.documents_.size(); ++i) {
    const json::Value root = out.documents_[i].root;
    if (!out.documents_[i].repeated.empty()) {
      return fail(Code::kInvalid,
                  explain_repeated(
                      {.file = out.file_, .text = *out.text_, .document = &out.documents_[i]}));
    }
    if (!root.get("kind").as_string().ends_with("List") || !root.get("items").is_array()) {
      MUSTER_CHECK(out.add(i, root, default_ns, known));
      continue;
    }
    for (const json::Value item : root.get("items").items())
      MUSTER_CHECK(out.add(i, item, default_ns, known));
  }
  return out;
}

Status Manifest::add(std::size_t document, json::Value object, std::string_view default_ns,
                     KindCatalog& kinds) {
  const auto found =
      kinds.find_kind(object.get("apiVersion").as_string(), object.get("kind").as_string());
  if (!found && found.error().code != Code::kInvalid) return std::unexpected(found.error());
  if (!found) {
    Error error = found.error();
    const json::Position at = json::find_position(documents_[document], "kind");
    error.message = fmt::format("error: {} ({}:{})\n", error.message, file_,
                                std::max(at.line, documents_[document].start.line));
    return std::unexpected(std::move(error));
  }
  const api::Resource* const resource = *found;
  const std::string_view named = object.get({"metadata", "namespace"}).as_string();
  objects_.push_back({.resource = resource,
                      .ns = !resource->namespaced ? ""
                            : named.empty()       ? std::string(default_ns)
                                                  : std::string(named),
                      .name = std::string(object.get({"metadata", "name"}).as_string()),
                      .body = json::write(object),
                      .document = document});
  return {};
}

std::string Manifest::content() const {
  std::vector<std::string> kinds;
  for (const ManifestObject& object : objects_) {
    if (std::ranges::find(kinds, object.resource->gvk.kind) == kinds.end())
      kinds.push_back(object.resource->gvk.kind);
  }
  if (objects_.size() != 1) return fmt::format("{}", fmt::join(kinds, ", "));
  const bool has_vowel = std::string_view("AEIO").contains(kinds.front().front());
  return fmt::format("{} {}", has_vowel ? "an" : "a", kinds.front());
}

Error no_job_set(const Manifest& manifest) {
  const std::string file = plain_text(manifest.file()), content = plain_text(manifest.content());
  return {.code = Code::kInvalid,
          .message = content.empty()
                         ? fmt::format("there is no object in {}", file)
                         : fmt::format("there is no JobSet in {}: it holds {}", file, content)};
}

int complain_verbatim(const Error& error) {
  const std::string text = plain_lines(error.message);
  fmt::print(stderr, "{}{}{}", text.starts_with("error: ") ? "" : "error: ", text,
             text.ends_with('\n') ? "" : "\n");
  return exit_code_of(error);
}

int say_nothing_stored(int exit_code) {
  if (exit_code == kRefused) fmt::print(stderr, "Nothing was stored.\n");
  return exit_code;
}

std::string Manifest::explain(const ManifestObject& object, const Error& error) const {
  return cli::explain(error, {.file = file_,
                              .text = *text_,
                              .document = &documents_[object.document],
                              .resource = object.resource});
}

}  // namespace muster::cli
