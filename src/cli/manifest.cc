#include "cli/manifest.h"

#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "cli/data_dir.h"
#include "cli/exit_code.h"
#include "cli/terminal_text.h"
#include "json/write.h"

namespace muster::cli {
namespace {

Error unknown_kind(std::string_view api_version, std::string_view kind) {
  std::vector<std::string> kinds;
  for (const api::Resource* resource : api::Registry::builtin().resources())
    kinds.push_back(resource->gvk.kind);
  if (kind.empty()) return {.code = Code::kInvalid, .message = "there is no kind in this document"};
  const auto guess = did_you_mean(kind, kinds);
  for (const api::Resource* resource : api::Registry::builtin().resources()) {
    if (resource->gvk.kind != kind) continue;
    return {
        .code = Code::kInvalid,
        .message = fmt::format("there is no {} in \"{}\"; did you mean \"{}\"?", plain_text(kind),
                               plain_text(api_version), resource->gvk.api_version())};
  }
  return {.code = Code::kInvalid,
          .message = fmt::format("there is no kind \"{}\"{}", plain_text(kind),
                                 guess ? fmt::format("; did you mean \"{}\"?", *guess) : "")};
}

}  // namespace

Result<Manifest> Manifest::read(const std::string& file, std::string_view default_ns) {
  if (file == "-") {
    return parse("standard input", std::string(std::istreambuf_iterator<char>(std::cin), {}),
                 default_ns);
  }
  MUSTER_TRY(std::string text, read_file(file));
  return parse(file, std::move(text), default_ns);
}

Result<Manifest> Manifest::parse(std::string file, std::string text, std::string_view default_ns) {
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
    if (!root.get("kind").as_string().ends_with("List") || !root.get("items").is_array()) {
      MUSTER_CHECK(out.add(i, root, default_ns));
      continue;
    }
    for (const json::Value item : root.get("items").items())
      MUSTER_CHECK(out.add(i, item, default_ns));
  }
  return out;
}

Status Manifest::add(std::size_t document, json::Value object, std::string_view default_ns) {
  const std::string_view api_version = object.get("apiVersion").as_string(),
                         kind = object.get("kind").as_string();
  const api::Resource* const resource = api::Registry::builtin().find_kind(api_version, kind);
  if (resource == nullptr) {
    Error error = unknown_kind(api_version, kind);
    const json::Position at = json::find_position(documents_[document], "kind");
    error.message = fmt::format("error: {} ({}:{})\nNothing was stored.\n", error.message, file_,
                                std::max(at.line, documents_[document].start.line));
    return std::unexpected(std::move(error));
  }
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

int complain_verbatim(const Error& error) {
  const std::string& text = error.message;
  fmt::print(stderr, "{}{}{}", text.starts_with("error: ") ? "" : "error: ", text,
             text.ends_with('\n') ? "" : "\n");
  return kRefused;
}

std::string Manifest::explain(const ManifestObject& object, const Error& error) const {
  return cli::explain(error, {.file = file_,
                              .text = *text_,
                              .document = &documents_[object.document],
                              .resource = object.resource});
}

}  // namespace muster::cli
