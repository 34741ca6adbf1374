// The `muster` command: flags in, exit code out. Everything else is in the verbs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/diagnose.h"
#include "cli/exit_code.h"
#include "cli/terminal_text.h"
#include "cli/verb.h"
#include "runtime/keeper_main.h"

namespace {

using muster::cli::Flag;
using muster::cli::kUsage;
using muster::cli::Verb;

void add_flag(CLI::App& app, const Flag& flag) {
  CLI::Option* const option = std::visit(
      [&](auto* target) -> CLI::Option* {
        using Held = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Held, bool>) {
          return app.add_flag(flag.names, *target, flag.help);
        } else if constexpr (std::is_same_v<Held, std::vector<std::string>>) {
          CLI::Option* const many = app.add_option(flag.names, *target, flag.help);
          return flag.names.starts_with('-') ? many->allow_extra_args(false) : many;
        } else {
          return app.add_option(flag.names, *target, flag.help);
        }
      },
      flag.target);
  if (flag.required) option->required();
  if (!flag.choices.empty()) option->check(CLI::IsMember(flag.choices));
}

// The first flag that the verb does not have, with the nearest one that it has.
std::string unknown_flag(const Verb& verb, int argc, char** argv) {
  std::vector<std::string> known = {"--help"};
  for (const Flag& flag : verb.flags) {
    for (auto& name : muster::cli::flag_names(flag)) known.push_back(std::move(name));
  }
  for (int i = 0; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    std::string_view word = argv[i];
    word = word.substr(0, word.find('='));
    if (!word.starts_with("--") || std::ranges::find(known, word) != known.end()) continue;
    const auto guess = muster::cli::did_you_mean(word, known);
    if (guess) return fmt::format("; did you mean {}?", *guess);
  }
  return "";
}

int run(const Verb& verb, int argc, char** argv) {
  if (verb.takes_all) {
    std::get<std::vector<std::string>*>(verb.flags.front().target)->assign(argv + 1, argv + argc);
    return verb.run();
  }
  CLI::App app(verb.help, "muster " + verb.name);
  for (const Flag& flag : verb.flags) add_flag(app, flag);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "error: {}{}\n  help: muster {} --help\n",
               muster::cli::plain_text(error.what()), unknown_flag(verb, argc, argv), verb.name);
    return kUsage;
  }
  return verb.run();
}

int refuse(const std::vector<Verb>& verbs, std::string_view word) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    if (!verb.group.empty()) names.push_back(verb.name);
  }
  const auto guess = muster::cli::did_you_mean(word, names);
  fmt::print(stderr, "error: there is no verb \"{}\"{}\n  help: muster --help\n",
             muster::cli::plain_text(word),
             guess ? fmt::format("; did you mean \"{}\"?", *guess) : "");
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  // Started by the process runtime, and forked for every pod: nothing else may come before it.
  if (argc > 1 && std::string_view(argv[1]) == "keeper")
    return muster::runtime::keeper_main(argc - 1, argv + 1);
  const std::vector<Verb> verbs = muster::cli::all_verbs();
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--version") return muster::cli::find_verb(verbs, "version")->run();
  if (word.empty() || word == "--help" || word == "-h" || word == "help") {
    const std::string text = muster::cli::overview(verbs);
    std::fputs(text.c_str(), word.empty() ? stderr : stdout);
    return word.empty() ? kUsage : muster::cli::kSucceeded;
  }
  const Verb* const verb = muster::cli::find_verb(verbs, word);
  return verb == nullptr ? refuse(verbs, word) : run(*verb, argc - 1, argv + 1);
}
