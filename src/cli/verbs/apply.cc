// `muster apply -f FILE`: the objects of files, by server-side apply.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/input/connection.h"
#include "cli/input/lookup.h"
#include "cli/input/manifest.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/output.h"
#include "cli/verbs/print.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

struct ApplyOptions {
  ServerFlags server;
  std::vector<std::string> files;
  std::vector<std::string> more_files;  // without -f
  std::string output;
  bool force = false;
};

std::string version_of(std::string_view body) {
  json::Arena arena;
  const auto tree = json::parse(arena, body);
  return tree ? std::string(tree->get({"metadata", "resourceVersion"}).as_string()) : "";
}

// "created", "configured" or "unchanged"; an object with generateName is always new.
Result<std::string_view> apply_object(Connection& connection, const ManifestObject& object,
                                      bool force, std::string& body) {
  client::Operation operation{.verb = client::Verb::kCreate,
                              .resource = object.resource,
                              .ns = object.ns,
                              .name = object.name,
                              .body = object.body,
                              .strict = true};
  if (object.name.empty()) {
    MUSTER_TRY(body, connection.write(operation));
    return "created";
  }
  const auto before = connection.get(client::url_path(*object.resource, object.ns, object.name));
  if (!before && before.error().code != Code::kNotFound) return std::unexpected(before.error());
  operation.verb = client::Verb::kPatch;
  operation.patch_type = client::PatchType::kApply;
  operation.force = force;
  MUSTER_TRY(body, connection.write(operation));
  if (!before) return "created";
  return version_of(*before) == version_of(body) ? "unchanged" : "configured";
}

// The exit code. Counts what the server has taken.
int apply_file(Connection& connection, const std::string& file, const ApplyOptions& options,
               const Output& output, std::size_t& taken) {
  const auto manifest = Manifest::read(file, connection.ns(), &connection.kinds());
  if (!manifest) return complain_verbatim(manifest.error());
  if (manifest->objects().empty())
    return complain({.code = Code::kInvalid, .message = "there is no object in " + file}, kRefused);
  int worst = kSucceeded;
  for (const ManifestObject& object : manifest->objects()) {
    std::string body;
    const auto done = apply_object(connection, object, options.force, body);
    if (!done) {
      const bool unreachable = done.error().code == Code::kUnavailable;
      fmt::print(stderr, "{}",
                 manifest->explain(object, explain_unserved(*object.resource, done.error())));
      if (done.error().code == Code::kConflict)
        fmt::print(stderr, "  help: --force-conflicts takes these fields over\n");
      worst = exit_code_of(done.error());
      if (unreachable) return worst;
      continue;
    }
    ++taken;
    json::Arena arena;
    const auto tree = json::parse(arena, body);
    if (!tree) return complain(tree.error());
    if (output.is_table()) {
      fmt::print("{} {}\n", object_name(*tree), *done);
    } else {
      fmt::print("{}", output.print(*tree));
    }
  }
  return worst;
}

// A folder stands for its files, in the order of their names; what is deeper is not looked at.
Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::vector{path};
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string form = entry->path().extension();
    const bool is_meant = form == ".yaml" || form == ".yml" || form == ".json";
    if (is_meant && !entry->is_directory(error)) files.push_back(entry->path());
  }
  if (error)
    return fail(Code::kForbidden, fmt::format("cannot read {}: {}", path, error.message()));
  if (files.empty())
    return fail(Code::kInvalid, fmt::format("there is no .yaml, .yml or .json file in {}", path));
  std::ranges::sort(files);
  return files;
}

int apply(ApplyOptions options) {
  options.files.insert(options.files.end(), options.more_files.begin(), options.more_files.end());
  if (options.files.empty()) return misused("say which file to apply", "muster apply -f FILE");
  const auto output = Output::parse(options.output);
  if (!output) return complain(output.error(), kUsage);
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  int worst = kSucceeded;
  std::size_t taken = 0;
  for (const std::string& path : options.files) {
    const auto files = files_of(path);
    if (!files) worst = complain(files.error(), kRefused);
    for (const std::string& file : files.value_or(std::vector<std::string>())) {
      const int code = apply_file(**connection, file, options, *output, taken);
      if (code != kSucceeded) worst = code;
    }
  }
  return taken == 0 ? say_nothing_stored(worst) : worst;
}

}  // namespace

Verb apply_verb() {
  const auto o = std::make_shared<ApplyOptions>();
  return {.name = "apply",
          .group = "Objects",
          .help = "Create or change objects as files say (server-side apply)",
          .flags = with_server_flags(
              o->server,
              {{"files", &o->more_files, "The same as -f"},
               {"-f,--filename", &o->files,
                "A YAML or JSON file, or a folder of such; - is standard input"},
               {.names = "-o,--output",
                .target = &o->output,
                .help = std::string(kOutputHelp),
                .offered = output_forms()},
               {"--force-conflicts", &o->force, "Take fields that other managers have set"}}),
          .run = [o] { return apply(*o); }};
}

}  // namespace muster::cli
