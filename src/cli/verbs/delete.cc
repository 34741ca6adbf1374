// `muster delete`: objects go, and what they own with them.
#include <fmt/format.h>

#include "base/terminal_text.h"
#include "cli/input/connection.h"
#include "cli/input/lookup.h"
#include "cli/input/manifest.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "cli/verbs/removal.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

struct DeleteOptions {
  ServerFlags server;
  std::vector<std::string> what;
  std::vector<std::string> files;
  std::string labels;
  std::string fields;
  bool all = false;
  bool all_namespaces = false;
  bool now = false;
  Removal removal;
};

bool selects(const DeleteOptions& options) {
  return options.all || !options.labels.empty() || !options.fields.empty();
}

Result<std::vector<Doomed>> by_selector(Connection& connection, const api::Resource& resource,
                                        const DeleteOptions& options) {
  const bool here = resource.namespaced && !options.all_namespaces;
  MUSTER_TRY(const std::string list, connection.list(resource, {.ns = here ? connection.ns() : "",
                                                                .metadata_only = true,
                                                                .label_selector = options.labels,
                                                                .field_selector = options.fields}));
  json::Arena arena;
  MUSTER_TRY(const json::Value tree, json::parse(arena, list));
  std::vector<Doomed> doomed;
  for (const json::Value item : tree.get("items").items()) {
    doomed.push_back({&resource, std::string(item.get({"metadata", "namespace"}).as_string()),
                      std::string(item.get({"metadata", "name"}).as_string())});
  }
  return doomed;
}

Result<std::vector<Doomed>> of_files(Connection& connection, const DeleteOptions& options) {
  std::vector<Doomed> doomed;
  for (const std::string& file : options.files) {
    MUSTER_TRY(const Manifest manifest, Manifest::read(file, connection.ns(), &connection.kinds()));
    for (const ManifestObject& object : manifest.objects()) {
      if (object.name.empty()) {
        return fail(Code::kInvalid,
                    fmt::format("a {} in {} has no name by which it could be deleted",
                                object.resource->gvk.kind, plain_text(file)));
      }
      doomed.push_back({object.resource, object.ns, object.name});
    }
  }
  return doomed;
}

// One word alone may be meant as the name of a JobSet.
Error with_kind_said(Error error, const std::vector<std::string>& words) {
  constexpr std::string_view kGuess = "did you mean jobset/";
  const std::size_t guess = error.message.find(kGuess);
  const bool is_slip = guess == std::string::npos && error.message.contains("did you mean");
  if (error.code != Code::kNotFound || words.size() != 1 || words[0].contains('/') || is_slip)
    return error;
  const std::size_t begin = guess + kGuess.size();
  const std::string name =
      guess == std::string::npos
          ? words[0]
          : error.message.substr(begin, error.message.find('?', begin) - begin);
  error.message += fmt::format("\n  help: muster delete jobset {} deletes a JobSet", name);
  return error;
}

Result<std::vector<Doomed>> find_doomed(Connection& connection, const DeleteOptions& options) {
  MUSTER_TRY(std::vector<Doomed> doomed, of_files(connection, options));
  if (options.what.empty()) return doomed;
  const auto wanted = find_wanted(connection, options.what, BareName::kIsRefused);
  if (!wanted) return std::unexpected(with_kind_said(wanted.error(), options.what));
  for (const Wanted& kind : *wanted) {
    if (kind.names.empty() && !selects(options)) {
      return fail(Code::kInvalid,
                  fmt::format("say which {}: names, -l LABELS or --all", kind.resource->plural));
    }
    if (!kind.names.empty() && selects(options))
      return fail(Code::kInvalid, "names and -l, --field-selector or --all do not go together");
    if (kind.names.empty()) {
      MUSTER_TRY(const auto found, by_selector(connection, *kind.resource, options));
      doomed.insert(doomed.end(), found.begin(), found.end());
    }
    for (const std::string& name : kind.names)
      doomed.push_back({kind.resource, kind.resource->namespaced ? connection.ns() : "", name});
  }
  return doomed;
}

int remove(DeleteOptions options) {
  if (options.what.empty() && options.files.empty())
    return misused("say what to delete", "muster delete KIND NAME..., or -f FILE");
  if (options.now) options.removal.grace_seconds = 1;
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  const auto doomed = find_doomed(**connection, options);
  if (!doomed) return complain_verbatim(doomed.error());
  if (doomed->empty()) fmt::print(stderr, "No resources found\n");
  return remove_all(**connection, *doomed, options.removal, "deleted");
}

}  // namespace

Verb delete_verb() {
  const auto o = std::make_shared<DeleteOptions>();
  Removal& r = o->removal;
  return {.name = "delete",
          .group = "Objects",
          .help = "Delete objects and what they own, and wait until they are gone",
          .flags = with_server_flags(
              o->server,
              {{"what", &o->what, "KIND NAME... or KIND/NAME..."},
               {"-f,--filename", &o->files, "The objects of a file, - is standard input"},
               {"-l,--selector", &o->labels, "Those with these labels"},
               {"--field-selector", &o->fields, "Those with these fields: status.phase=Failed"},
               {"--all", &o->all, "All of the kind in the namespace"},
               {"-A,--all-namespaces", &o->all_namespaces, "With a selector: of all namespaces"},
               {"--grace-period",
                &r.grace_seconds,
                "Seconds between SIGTERM and SIGKILL [the pod's]",
                {},
                false,
                kGraceRange},
               {"--now", &o->now, "The same as --grace-period 1"},
               {"--cascade",
                &r.cascade,
                "What becomes of owned objects [foreground of what has pods, else background]",
                {"background", "foreground", "orphan"}},
               {"--ignore-not-found", &r.ignore_missing, "What is not there is no error"},
               {"--wait,!--no-wait", &r.wait,
                "Wait until they are gone, their pods too; --wait=false does not [true]"},
               {"--timeout", &r.timeout, "Wait no longer than this: 30s, 5m"}}),
          .run = [o] { return remove(*o); }};
}

}  // namespace muster::cli
