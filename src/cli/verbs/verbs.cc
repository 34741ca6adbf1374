#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "cli/input/diagnose.h"
#include "cli/input/shell_word.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/suspend_command.h"

namespace muster::cli {
namespace {

constexpr std::size_t kNameWidth = 14;
constexpr std::string_view kDataDir = "--data-dir=";

// What docker, systemctl, Slurm and others call what we do.
struct Synonym {
  std::string_view word;
  std::string_view verb;
};
constexpr std::array<Synonym, 32> kSynonyms = {{
    {"stop", "cancel"},    {"kill", "cancel"},   {"abort", "cancel"},  {"down", "cancel"},
    {"scancel", "cancel"}, {"ps", "get"},        {"ls", "get"},        {"list", "get"},
    {"show", "get"},       {"status", "get"},    {"squeue", "get"},    {"queue", "get"},
    {"nodes", "get"},      {"rm", "delete"},     {"remove", "delete"}, {"del", "delete"},
    {"up", "run"},         {"start", "run"},     {"srun", "run"},      {"launch", "run"},
    {"sbatch", "submit"},  {"create", "apply"},  {"replace", "apply"}, {"log", "logs"},
    {"tail", "logs"},      {"follow", "attach"}, {"watch", "top"},     {"inspect", "describe"},
    {"info", "describe"},  {"init", "example"},  {"server", "serve"},  {"gantt", "timeline"},
}};
// kubectl has these, and they do there what they say.
constexpr std::array<std::string_view, 16> kKubectlOnly = {
    "annotate", "api-resources", "auth",         "cordon", "cp",   "cluster-info",
    "debug",    "diff",          "drain",        "edit",   "exec", "explain",
    "expose",   "label",         "port-forward", "patch"};

// How many words a flag that names the server takes at the front of these; 0 if it is none.
std::size_t server_flag_length(std::span<const std::string> words) {
  constexpr std::array<std::string_view, 5> kLong = {"-n", "--namespace", "--kubeconfig",
                                                     "--context", "--data-dir"};
  const std::string_view word = words.front(), name = word.substr(0, word.find('='));
  if (std::ranges::find(kLong, name) != kLong.end())
    return std::min<std::size_t>(words.size(), name == word ? 2 : 1);
  return word.starts_with("-n") ? 1 : 0;
}

// What was said about one JobSet, for a command of kubectl's.
struct Saying {
  std::string name = "NAME";
  std::string flags;  // that name the server, each behind a space
};

// kubectl knows the flags that name the server, but for the data directory.
Saying saying_of(const std::vector<std::string>& words) {
  Saying out;
  for (std::size_t at = 0; at < words.size();) {
    const auto rest = std::span(words).subspan(at);
    const std::size_t length = server_flag_length(rest);
    const bool is_directory = rest.front().starts_with("--data-dir");
    if (is_directory) {
      const std::string joined =
          rest.front().substr(std::min(rest.front().size(), kDataDir.size()));
      const std::string folder = length == 2 ? rest[1] : joined;
      out.flags += " --kubeconfig " + shell_word(folder + "/kubeconfig");
    }
    for (std::size_t i = 0; i < length && !is_directory; ++i)
      out.flags += " " + shell_word(rest[i]);
    const bool is_kind =
        rest.front() == "jobset" || rest.front() == "jobsets" || rest.front() == "js";
    const bool is_name = length == 0 && !is_kind && !rest.front().starts_with('-');
    if (is_name && out.name == "NAME")
      out.name = shell_word(rest.front().substr(rest.front().rfind('/') + 1));
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::vector<std::string> long_flags(const Verb& verb) {
  std::vector<std::string> out = {"--help"};
  for (const Flag& flag : verb.flags) {
    for (std::string& name : flag_names(flag)) {
      if (name.starts_with("--")) out.push_back(std::move(name));
    }
  }
  return out;
}

}  // namespace

std::vector<Verb> all_verbs() {
  std::vector<Verb> verbs;
  for (const auto& make :
       {run_verb,      submit_verb, attach_verb,   cancel_verb, example_verb, get_verb,
        describe_verb, logs_verb,   events_verb,   wait_verb,   apply_verb,   delete_verb,
        top_verb,      graph_verb,  timeline_verb, sim_verb,    serve_verb,   operator_verb,
        install_verb,  doctor_verb, check_verb,    backup_verb, restore_verb, completion_verb,
        version_verb,  tool_verb}) {
    verbs.push_back(make());
  }
  return verbs;
}

std::vector<Flag> with_server_flags(ServerFlags& server, std::vector<Flag> more) {
  std::vector<Flag> flags = {
      {"-n,--namespace", &server.ns, "Namespace [the kubeconfig's, or default]"},
      {"--kubeconfig", &server.kubeconfig, "How to reach the server [$KUBECONFIG]"},
      {"--context", &server.context, "Of the kubeconfig [its current one]"},
      {"--data-dir", &server.data_dir, "The server that keeps its objects here"}};
  more.insert(more.end(), std::make_move_iterator(flags.begin()),
              std::make_move_iterator(flags.end()));
  return more;
}

const Verb* find_verb(const std::vector<Verb>& verbs, std::string_view word) {
  for (const Verb& verb : verbs) {
    if (verb.name == word || std::ranges::find(verb.aliases, word) != verb.aliases.end())
      return &verb;
  }
  return nullptr;
}

std::optional<std::string> meant_verb(const std::vector<Verb>& verbs, std::string_view word) {
  const auto* const synonym = std::ranges::find(kSynonyms, word, &Synonym::word);
  if (synonym != kSynonyms.end()) return std::string(synonym->verb);
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    if (!verb.group.empty()) names.push_back(verb.name);
  }
  return did_you_mean(word, names);
}

std::optional<std::string> other_way(std::string_view verb, const std::vector<std::string>& rest) {
  const Saying said = saying_of(rest);
  if (verb == "suspend" || verb == "resume") {
    return fmt::format("`{}` does it, with the same kubeconfig",
                       suspend_command(said.flags, said.name, verb == "suspend"));
  }
  if (verb == "scale" || verb == "autoscale") {
    return fmt::format(
        "nor has a JobSet a scale for kubectl: where the server has the gate ElasticJobSet, change "
        "parallelism and completions with `kubectl{} edit jobset {}` or in the file of `muster "
        "apply`",
        said.flags, said.name);
  }
  if (std::ranges::find(kKubectlOnly, verb) == kKubectlOnly.end()) return std::nullopt;
  return fmt::format("`kubectl {}` does it, with the same kubeconfig", verb);
}

std::vector<std::string> verb_first(std::vector<std::string> words) {
  std::size_t at = 0;
  while (at < words.size()) {
    const std::size_t length = server_flag_length(std::span(words).subspan(at));
    if (length == 0) break;
    at += length;
  }
  const auto verb = words.begin() + static_cast<std::ptrdiff_t>(at);
  if (verb != words.end()) std::rotate(words.begin(), verb, verb + 1);
  return words;
}

std::vector<std::string> without_equals(std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word == "--") break;
    if (word.size() > 2 && word[0] == '-' && word[1] != '-' && word[2] == '=') word.erase(2, 1);
  }
  return words;
}

std::string unknown_flag(const Verb& verb, const std::vector<std::string>& words) {
  const auto known = long_flags(verb);
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string name = word.substr(0, word.find('='));
    if (name.starts_with("--") && std::ranges::find(known, name) == known.end()) return name;
  }
  return "";
}

std::string explain_flag(const Verb& verb, std::string_view word) {
  std::vector<std::string> longer = long_flags(verb);
  auto guess = did_you_mean(word, longer);
  std::erase_if(longer, [&](const std::string& name) { return !name.starts_with(word); });
  if (word.starts_with("--") && !longer.empty()) guess = nearest_first(word, longer).front();
  return fmt::format("{} has no flag {}{}", verb.name, plain_text(word),
                     guess ? fmt::format("; did you mean {}?", *guess) : "");
}

std::string overview(const std::vector<Verb>& verbs) {
  std::string out =
      "muster: groups of processes that only make sense together\n\n"
      "  muster example ddp > ddp.yaml && muster run ddp.yaml\n";
  std::string_view group;
  for (const Verb& verb : verbs) {
    if (verb.group.empty()) continue;
    if (verb.group != group) out += fmt::format("\n{}\n", group = verb.group);
    out += fmt::format("  {:<{}}{}\n", verb.name, kNameWidth, verb.help);
  }
  return out + "\nmuster help VERB says more about one of them.\n";
}

std::vector<std::string> flag_names(const Flag& flag) {
  std::vector<std::string> names;
  std::string_view rest = flag.names;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, comma);
    if (name.starts_with('-')) names.emplace_back(name);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

}  // namespace muster::cli
