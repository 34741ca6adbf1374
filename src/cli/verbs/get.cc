// `muster get`: objects as a table or in a form for programs, once or as they change.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/ascii.h"
#include "base/terminal_text.h"
#include "cli/input/connection.h"
#include "cli/input/kinds.h"
#include "cli/input/lookup.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/output.h"
#include "cli/verbs/print.h"
#include "json/parse.h"
#include "json/write.h"
#include "story/job_set_table.h"
#include "story/text_table.h"

namespace muster::cli {
namespace {

using json::Value;

std::string labels_of(Value object) {
  std::string out;
  for (const auto& member : object.get({"metadata", "labels"}).members())
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", member.key, member.value.as_string());
  return out.empty() ? "<none>" : out;
}

struct GetOptions {
  ServerFlags server;
  std::vector<std::string> what;
  std::string output;
  bool all_namespaces = false;
  bool watch = false;
  bool no_headers = false;
  bool show_labels = false;
  std::string labels;
  std::string fields;
};

class Get {
 public:
  Get(Connection& connection, const GetOptions& options, Output output)
      : connection_(connection), options_(options), output_(std::move(output)) {}

  int run(const std::vector<Wanted>& wanted) {
    if (options_.watch && wanted.size() > 1) return misused("-w watches one kind at a time");
    if (options_.watch && wanted.front().names.size() > 1)
      return misused("-w watches one object or all of a kind", "give one name, or none");
    if (!output_.is_table())
      return options_.watch ? watch_objects(wanted.front()) : print_objects(wanted);
    bool found = false;
    for (const Wanted& kind : wanted) {
      const auto printed = print_table(kind, wanted.size() > 1);
      if (!printed) return complain(printed.error());
      found |= *printed;
    }
    if (options_.watch && worst_ == kSucceeded) return follow(wanted.front());
    if (!found && worst_ == kSucceeded) nothing_found(wanted);
    return worst_;
  }

 private:
  void nothing_found(const std::vector<Wanted>& wanted) const {
    const bool of_namespace =
        std::ranges::any_of(wanted, [](const Wanted& kind) { return kind.resource->namespaced; });
    if (options_.all_namespaces || !of_namespace) {
      fmt::print(stderr, "No resources found\n");
    } else {
      fmt::print(stderr, "No resources found in {} namespace.\n", plain_text(connection_.ns()));
    }
  }

  std::string ns_of(const api::Resource& resource) const {
    return resource.namespaced && !options_.all_namespaces ? connection_.ns() : "";
  }

  // Objects of one kind by name, or by selectors.
  std::string target(const api::Resource& resource, std::string_view name = {}) const {
    std::string out = client::url_path(resource, ns_of(resource), name);
    char separator = '?';
    const auto add = [&](std::string_view key, std::string_view value) {
      if (value.empty()) return;
      out += fmt::format("{}{}={}", std::exchange(separator, '&'), key, client::url_escape(value));
    };
    add("labelSelector", options_.labels);
    add("fieldSelector", options_.fields);
    return out;
  }

  // One that is not there is told, and does not keep the others.
  Result<std::vector<std::string>> fetch(const Wanted& kind, std::string_view form) {
    std::vector<std::string> answers;
    if (kind.names.empty()) {
      auto answer = connection_.get(target(*kind.resource), form);
      if (!answer) return std::unexpected(explain_unserved(*kind.resource, answer.error()));
      answers.push_back(*std::move(answer));
      return answers;
    }
    for (const std::string& name : kind.names) {
      auto answer = connection_.get(target(*kind.resource, name), form);
      if (answer) {
        answers.push_back(*std::move(answer));
        continue;
      }
      worst_ = complain(explain_missing(connection_, *kind.resource, name, answer.error()));
      if (worst_ == kUnreachable) break;
    }
    return answers;
  }

  // True if there was something.
  Result<bool> print_table(const Wanted& kind, bool several) {
    const bool own = is_job_set(kind);
    MUSTER_TRY(const auto answers, fetch(kind, own ? kJsonForm : kTableForm));
    for (const std::string& answer : answers) {
      json::Arena arena;
      MUSTER_TRY(const Value tree, json::parse(arena, answer));
      if (!table_) start_table(kind, tree, several);
      add_rows(kind, tree);
      revision_ = tree.get({"metadata", "resourceVersion"}).as_string();
    }
    if (!table_) return false;
    const bool found = !table_->empty();
    const std::string text = table_->take(!options_.no_headers);
    if (several && found && printed_) fmt::print("\n");
    printed_ |= found;
    fmt::print("{}", text);
    std::fflush(stdout);
    if (several) table_.reset();
    return found;
  }

  static bool is_job_set(const Wanted& kind) { return kind.resource == &job_sets(); }

  void start_table(const Wanted& kind, Value tree, bool several) {
    std::vector<std::string> header;
    if (options_.all_namespaces && kind.resource->namespaced) header.emplace_back("NAMESPACE");
    columns_ = story::columns_of(tree, output_.is_wide());
    const auto names =
        is_job_set(kind) ? story::job_set_columns(output_.is_wide()) : columns_.names;
    const bool begins_with_name = !names.empty() && lower_case(names.front()) == "name";
    prefix_ = several && begins_with_name ? qualified_singular(*kind.resource) + "/" : "";
    header.insert(header.end(), names.begin(), names.end());
    if (options_.show_labels) header.emplace_back("LABELS");
    table_.emplace(std::move(header));
  }

  void add_rows(const Wanted& kind, Value tree) {
    if (is_job_set(kind)) {
      if (!tree.has("items")) return add_row(kind, tree, Value());
      for (const Value item : tree.get("items").items()) add_row(kind, item, Value());
      return;
    }
    for (const Value row : tree.get("rows").items()) add_row(kind, row.get("object"), row);
  }

  void add_row(const Wanted& kind, Value object, Value row) {
    std::vector<std::string> cells;
    if (options_.all_namespaces && kind.resource->namespaced)
      cells.emplace_back(object.get({"metadata", "namespace"}).as_string());
    auto rest = is_job_set(kind) ? story::job_set_cells(object, connection_.loop().clock().now(),
                                                        output_.is_wide())
                                 : story::cells_of(row, columns_);
    if (!rest.empty()) rest.front().insert(0, prefix_);
    cells.insert(cells.end(), rest.begin(), rest.end());
    if (options_.show_labels) cells.push_back(labels_of(object));
    table_->add(std::move(cells));
  }

  // A single object comes as it is, everything else as one List.
  int print_objects(const std::vector<Wanted>& wanted) {
    json::Arena arena;
    const Value list = Value::object(arena);
    list.set("apiVersion", "v1");
    list.set("kind", "List");
    const Value items = list.array_at("items");
    for (const Wanted& kind : wanted) {
      const auto answers = fetch(kind, kJsonForm);
      if (!answers) return complain(answers.error());
      for (const std::string& answer : *answers) {
        const auto tree = json::parse(arena, answer);
        if (!tree) return complain(tree.error());
        add_items(items, *kind.resource, *tree);
      }
    }
    list.object_at("metadata").set("resourceVersion", "");
    const bool single = wanted.size() == 1 && wanted.front().names.size() == 1;
    if (!single || !items.empty()) fmt::print("{}", output_.print(single ? items.item(0) : list));
    return worst_;
  }

  static void add_items(Value items, const api::Resource& resource, Value tree) {
    if (!tree.has("items")) return items.push_back(tree);
    for (const Value item : tree.get("items").items()) items.push_back(whole(resource, item));
  }

  // Items of a list do not say what they are.
  static Value whole(const api::Resource& resource, Value item) {
    const Value out = Value::object(item.arena());
    out.set("apiVersion", resource.gvk.api_version());
    out.set("kind", resource.gvk.kind);
    for (const auto& member : item.members()) out.set(member.key, member.value);
    return out;
  }

  // Objects one by one, as they are and then as they change.
  int watch_objects(const Wanted& kind) {
    const auto answers = fetch(kind, kJsonForm);
    if (!answers) return complain(answers.error());
    for (const std::string& answer : *answers) {
      json::Arena arena;
      const auto tree = json::parse(arena, answer);
      if (!tree) return complain(tree.error());
      revision_ = tree->get({"metadata", "resourceVersion"}).as_string();
      if (!tree->has("items")) print_one(*tree);
      for (const Value item : tree->get("items").items()) print_one(whole(*kind.resource, item));
    }
    return worst_ == kSucceeded ? follow(kind) : worst_;
  }

  void print_one(Value object) {
    fmt::print("{}{}", output_.separator(std::exchange(printed_, true)), output_.print(object));
    std::fflush(stdout);
  }

  // Rows as they change, until the server ends it or a signal us.
  int follow(const Wanted& kind) {
    std::string selector = target(*kind.resource);
    selector += selector.contains('?') ? "&" : "?";
    if (kind.names.size() == 1)
      selector += fmt::format("fieldSelector={}&",
                              client::url_escape("metadata.name=" + kind.names.front()));
    const Status ended =
        connection_.watch(selector + "watch=true&resourceVersion=" + revision_,
                          is_job_set(kind) || !output_.is_table() ? kJsonForm : kTableForm,
                          [&](std::string_view line) { print_change(kind, line); });
    if (fault_) return complain(*fault_);
    return ended ? kSucceeded : complain(ended.error());
  }

  void print_change(const Wanted& kind, std::string_view line) {
    json::Arena arena;
    const auto event = json::parse(arena, line);
    if (!event || event->get("type").as_string() == "BOOKMARK") return;
    if (event->get("type").as_string() == "ERROR") return end_watch(event->get("object"));
    if (!output_.is_table()) return print_one(event->get("object"));
    add_rows(kind, event->get("object"));
    fmt::print("{}", table_->take(!options_.no_headers));
    std::fflush(stdout);
  }

  // The server can tell no more, and this is why.
  void end_watch(Value status) {
    fault_ =
        client::error_of_status(static_cast<int>(status.get("code").as_int()), json::write(status));
    connection_.loop().stop();
  }

  Connection& connection_;
  const GetOptions& options_;
  Output output_;
  std::optional<story::TextTable> table_;
  story::TableColumns columns_;
  std::string revision_;
  std::string prefix_;  // of names, where several kinds are shown
  bool printed_ = false;
  std::optional<Error> fault_;  // of the watch
  int worst_ = kSucceeded;
};

// Names and selectors that contradict each other.
std::string_view contradiction(const GetOptions& options, const std::vector<Wanted>& wanted) {
  const bool by_name =
      std::ranges::any_of(wanted, [](const Wanted& kind) { return !kind.names.empty(); });
  if (!by_name) return "";
  if (options.all_namespaces) return "an object is named within one namespace: leave out -A";
  if (!options.labels.empty() || !options.fields.empty())
    return "names and -l or --field-selector do not go together";
  return "";
}

int get(const GetOptions& options) {
  auto output = Output::parse(options.output);
  if (!output) return complain(output.error(), kUsage);
  if (options.what.empty()) {
    return misused("say which kind: jobsets, jobs, pods …",
                   "muster get jobsets, or muster help get for more");
  }
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  const auto wanted = find_wanted(**connection, options.what, BareName::kIsRefused);
  if (!wanted) return complain(wanted.error());
  if (const auto why = contradiction(options, *wanted); !why.empty()) return misused(why);
  return Get(**connection, options, *std::move(output)).run(*wanted);
}

}  // namespace

Verb get_verb() {
  const auto o = std::make_shared<GetOptions>();
  return {.name = "get",
          .group = "Objects",
          .help = "Show objects: get jobsets, get pods -l KEY=VALUE, get job/NAME -o yaml",
          .flags = with_server_flags(
              o->server, {{"what", &o->what, "KIND [NAME...], KIND,KIND or KIND/NAME..."},
                          {.names = "-o,--output",
                           .target = &o->output,
                           .help = std::string(kOutputHelp),
                           .offered = output_forms()},
                          {"-A,--all-namespaces", &o->all_namespaces, "Of all namespaces"},
                          {"-l,--selector", &o->labels, "Labels: a=b,c!=d,e in (f,g)"},
                          {"--field-selector", &o->fields, "Fields: status.phase=Running"},
                          {"-w,--watch", &o->watch, "Then show changes as they come"},
                          {"--show-labels", &o->show_labels, "Labels as a last column"},
                          {"--no-headers", &o->no_headers, "Rows only"}}),
          .run = [o] { return get(*o); }};
}

}  // namespace muster::cli
