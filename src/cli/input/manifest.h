// The objects of a file, ready to be sent. Pure but for reading the file.
#pragma once

#include <string>
#include <vector>

#include "api/schema/registry.h"
#include "base/result.h"
#include "cli/input/diagnose.h"
#include "cli/input/kind_catalog.h"
#include "json/yaml.h"

namespace muster::cli {

struct ManifestObject {
  const api::Resource* resource = nullptr;
  std::string ns;  // empty for cluster-scoped kinds
  std::string name;
  std::string body;  // JSON
  std::size_t document = 0;
};

class Manifest {
 public:
  // "-" is standard input. Without a server's catalog, the kinds of this binary are all; with one,
  // the objects' resources live as long as that does.
  static Result<Manifest> read(const std::string& file, std::string_view default_ns,
                               KindCatalog* kinds = nullptr);
  static Result<Manifest> parse(std::string file, std::string text, std::string_view default_ns,
                                KindCatalog* kinds = nullptr);

  const std::string& file() const { return file_; }
  // "a Pod", or "ConfigMap, Pod" if there are several; empty for an empty file.
  std::string content() const;
  // Empty for an empty file.
  const std::vector<ManifestObject>& objects() const { return objects_; }
  void replace_body(std::size_t object, std::string body) {
    objects_[object].body = std::move(body);
  }
  // What the server found wrong with one of them, shown where it stands in the file.
  std::string explain(const ManifestObject& object, const Error& error) const;

 private:
  Status add(std::size_t document, json::Value object, std::string_view default_ns,
             KindCatalog& kinds);

  std::string file_;
  std::unique_ptr<std::string> text_;  // the arena's texts may lie in it
  std::unique_ptr<json::Arena> arena_;
  std::vector<json::YamlDocument> documents_;
  std::vector<ManifestObject> objects_;
};

// What to say of one that should hold a JobSet.
Error no_job_set(const Manifest& manifest);

// Prints the error of reading one, which says where by itself; the exit code.
int complain_verbatim(const Error& error);

// Last words of a command that was to store objects and has stored none; the exit code. A server
// that did not answer may have stored some: then there are none.
int say_nothing_stored(int exit_code);

}  // namespace muster::cli
