#include "cli/verbs/completion_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace muster::cli {
namespace {

// Verbs whose arguments are a kind and names of objects.
constexpr std::array<std::string_view, 4> kTakeKinds = {"get", "describe", "delete", "wait"};
// Verbs whose argument is the name of a JobSet.
constexpr std::array<std::string_view, 5> kTakeJobSets = {"attach", "cancel", "graph", "timeline",
                                                          "logs"};

std::vector<const Verb*> shown(const std::vector<Verb>& verbs) {
  std::vector<const Verb*> out;
  for (const Verb& verb : verbs) {
    if (!verb.group.empty()) out.push_back(&verb);
  }
  return out;
}

std::string names(const std::vector<Verb>& verbs) {
  std::string out;
  for (const Verb* verb : shown(verbs)) out += (out.empty() ? "" : " ") + verb->name;
  return out;
}

std::string flags_of(const Verb& verb) {
  std::string out;
  for (const Flag& flag : verb.flags) {
    for (const std::string& name : flag_names(flag)) {
      if (name.starts_with("--")) out += (out.empty() ? "" : " ") + name;
    }
  }
  return out;
}

// Words that a flag or an argument can be.
const std::vector<std::string>& words_for(const Flag& flag) {
  return flag.choices.empty() ? flag.offered : flag.choices;
}

// Of the flag before the word, or of the argument.
std::string bash_values(const std::vector<Verb>& verbs) {
  std::string arguments, out;
  for (const Verb* verb : shown(verbs)) {
    for (const Flag& flag : verb->flags) {
      if (words_for(flag).empty()) continue;
      const std::string words = fmt::format("{}", fmt::join(words_for(flag), " "));
      if (flag_names(flag).empty())
        arguments += fmt::format("    {}) choices='{}' ;;\n", verb->name, words);
      for (const std::string& name : flag_names(flag))
        out += fmt::format("    '{} {}') choices='{}' ;;\n", verb->name, name, words);
    }
  }
  return fmt::format("  case $verb in\n{}  esac\n  case \"$verb $before\" in\n{}  esac\n",
                     arguments, out);
}

std::string bash_script(const std::vector<Verb>& verbs, const std::vector<std::string>& kinds) {
  std::string out = fmt::format(
      "_muster() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} flags= choices=\n"
      "  local before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $verb in\n",
      names(verbs));
  for (const Verb* verb : shown(verbs))
    out += fmt::format("    {}) flags='{}' ;;\n", verb->name, flags_of(*verb));
  out += "  esac\n  case $verb in\n";
  out += fmt::format(
      "    {})\n"
      "      if [ \"$COMP_CWORD\" -eq 2 ]; then choices='{}'; else\n"
      "        choices=$(muster get \"${{COMP_WORDS[2]}}\" -o name 2>/dev/null | sed 's,.*/,,')\n"
      "      fi ;;\n",
      fmt::join(kTakeKinds, "|"), fmt::join(kinds, " "));
  out += fmt::format(
      "    {}) choices=$(muster get jobsets -o name 2>/dev/null | sed 's,.*/,,') ;;\n"
      "  esac\n"
      "{}"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -W \"$choices\" -- \"$word\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o default -F _muster muster\n",
      fmt::join(kTakeJobSets, "|"), bash_values(verbs));
  return out;
}

std::string quoted(std::string text) {
  std::erase(text, '\'');
  return text;
}

std::string fish_values(const Flag& flag) {
  if (words_for(flag).empty()) return "";
  return fmt::format(" -x -a '{}'", fmt::join(words_for(flag), " "));
}

std::string fish_script(const std::vector<Verb>& verbs, const std::vector<std::string>& kinds) {
  std::string out;
  for (const Verb* verb : shown(verbs)) {
    out += fmt::format("complete -c muster -n __fish_use_subcommand -a {} -d '{}'\n", verb->name,
                       quoted(verb->help));
    for (const Flag& flag : verb->flags) {
      if (flag_names(flag).empty() && !words_for(flag).empty()) {
        out += fmt::format("complete -c muster -n '__fish_seen_subcommand_from {}'{}\n", verb->name,
                           fish_values(flag));
      }
      for (const std::string& name : flag_names(flag)) {
        const bool is_long = name.starts_with("--");
        out +=
            fmt::format("complete -c muster -n '__fish_seen_subcommand_from {}' -{} {}{} -d '{}'\n",
                        verb->name, is_long ? "l" : "s", name.substr(is_long ? 2 : 1),
                        fish_values(flag), quoted(flag.help));
      }
    }
  }
  for (const std::string_view verb : kTakeKinds) {
    out += fmt::format("complete -c muster -n '__fish_seen_subcommand_from {}' -f -a '{}'\n", verb,
                       fmt::join(kinds, " "));
  }
  return out;
}

}  // namespace

std::string completion_script(std::string_view shell, const std::vector<Verb>& verbs,
                              const std::vector<std::string>& kinds) {
  if (shell == "fish") return fish_script(verbs, kinds);
  const std::string bash = bash_script(verbs, kinds);
  if (shell == "bash") return bash;
  return "#compdef muster\nautoload -U +X bashcompinit && bashcompinit\n" + bash;
}

}  // namespace muster::cli
