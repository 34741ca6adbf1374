// The `muster` command: flags in, exit code out. Everything else is in the verbs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/terminal_text.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/verb.h"
#include "runtime/keeper_main.h"

namespace {

using muster::cli::Flag;
using muster::cli::kUsage;
using muster::cli::Verb;
using Words = std::vector<std::string>;

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
  if (flag.range) option->check(CLI::Range(flag.range->least, flag.range->most));
}

// What is wrong with the words. `extras` are those that the parser had no use for; if it stopped
// for another reason, it has not come to all of them.
std::string fault_of(const Verb& verb, const Words& words, const Words& extras,
                     const CLI::ParseError& error) {
  if (const std::string flag = muster::cli::unknown_flag(verb, words); !flag.empty())
    return explain_flag(verb, flag);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || extras.empty())
    return muster::plain_text(error.what());
  const auto flag =
      std::ranges::find_if(extras, [](const std::string& word) { return word.starts_with('-'); });
  if (flag != extras.end()) return explain_flag(verb, *flag);
  return fmt::format("{} takes no further argument: {}", verb.name,
                     muster::plain_text(extras.front()));
}

// `words` follow the verb.
int run(const Verb& verb, Words words) {
  if (verb.takes_all) {
    *std::get<Words*>(verb.flags.front().target) = std::move(words);
    return verb.run();
  }
  CLI::App app(verb.help, "muster " + verb.name);
  for (const Flag& flag : verb.flags) add_flag(app, flag);
  words = muster::cli::without_equals(std::move(words));
  try {
    app.parse(Words(words.rbegin(), words.rend()));  // the parser takes them from the back
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "error: {}\n  help: muster {} --help\n",
               fault_of(verb, words, app.remaining(), error), verb.name);
    return kUsage;
  }
  return verb.run();
}

int refuse(const std::vector<Verb>& verbs, std::string_view word, const Words& rest) {
  std::string hint;
  if (const auto way = muster::cli::other_way(word, rest)) {
    hint = "; " + *way;
  } else if (const auto guess = muster::cli::meant_verb(verbs, word)) {
    hint = fmt::format("; did you mean \"{}\"?", *guess);
  }
  fmt::print(stderr, "error: there is no verb \"{}\"{}\n  help: muster --help\n",
             muster::plain_text(word), hint);
  return kUsage;
}

int show_overview(const std::vector<Verb>& verbs, bool asked_for) {
  std::fputs(muster::cli::overview(verbs).c_str(), asked_for ? stdout : stderr);
  return asked_for ? muster::cli::kSucceeded : kUsage;
}

int help(const std::vector<Verb>& verbs, std::string_view word) {
  const Verb* const verb = muster::cli::find_verb(verbs, word);
  if (verb == nullptr) return refuse(verbs, word, {});
  return run(*verb, {"--help"});
}

}  // namespace

int main(int argc, char** argv) {
  // Started by the process runtime, and forked for every pod: nothing else may come before it.
  if (argc > 1 && std::string_view(argv[1]) == "keeper")
    return muster::runtime::keeper_main(argc - 1, argv + 1);
  const std::vector<Verb> verbs = muster::cli::all_verbs();
  Words words = muster::cli::verb_first({argv + 1, argv + argc});
  if (words.empty()) return show_overview(verbs, false);
  const std::string word = words.front();
  words.erase(words.begin());
  if (word == "--version") return muster::cli::find_verb(verbs, "version")->run();
  if (word == "--help" || word == "-h" || word == "help")
    return words.empty() ? show_overview(verbs, true) : help(verbs, words.front());
  const Verb* const verb = muster::cli::find_verb(verbs, word);
  return verb == nullptr ? refuse(verbs, word, words) : run(*verb, std::move(words));
}
