// What `muster` can do, as data: one Verb per command with its flags as rows. main.cc hands them to
// the parser; help, completion and guesses at what was meant read the same rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster::cli {

// Where a flag's value goes; what it holds before parsing is the default.
using Target =
    std::variant<bool*, std::string*, std::int64_t*, std::uint64_t*, std::vector<std::string>*>;

// The numbers that a flag takes, both ends included.
struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

struct Flag {
  std::string names;  // "-n,--namespace"; a bare word is an argument by position
  Target target;
  std::string help;
  std::vector<std::string> choices = {};  // nothing else is taken
  bool required = false;
  std::optional<Range> range = {};        // of a number
  std::vector<std::string> offered = {};  // by completion, where others are taken too
};

struct Verb {
  std::string name;
  std::string group;  // a heading of the help; empty: not shown
  std::string help;
  std::vector<Flag> flags;
  std::function<int()> run;  // the exit code; owns what the flags point to
  std::vector<std::string> aliases = {};
  // Its words are not looked at: they all go to the first flag, which takes many.
  bool takes_all = false;
};

// Which server a verb talks to (connection.h).
struct ServerFlags {
  std::string kubeconfig;
  std::string context;
  std::string data_dir;
  std::string ns;
};
// The rows of these flags followed by `more`.
std::vector<Flag> with_server_flags(ServerFlags& server, std::vector<Flag> more);

// In the order of the help.
std::vector<Verb> all_verbs();

// By name or alias.
const Verb* find_verb(const std::vector<Verb>& verbs, std::string_view word);

// The verb that a word was probably meant to be: a slip, or what other programs call it.
std::optional<std::string> meant_verb(const std::vector<Verb>& verbs, std::string_view word);

// How to do what muster has no verb for, as a sentence; nothing if we do not know either. `rest`
// are the words behind the verb.
std::optional<std::string> other_way(std::string_view verb, const std::vector<std::string>& rest);

// Words as kubectl takes them: flags that name the server may stand before the verb, which comes to
// the front, and "-o=name" is "-oname". Nothing is changed behind "--".
std::vector<std::string> verb_first(std::vector<std::string> words);
std::vector<std::string> without_equals(std::vector<std::string> words);

// Of a word that is no flag of the verb: that, and which one may have been meant.
std::string explain_flag(const Verb& verb, std::string_view word);
// The first long flag among the words that the verb does not have; empty if it has them all.
std::string unknown_flag(const Verb& verb, const std::vector<std::string>& words);

// The overview that `muster --help` prints.
std::string overview(const std::vector<Verb>& verbs);

// "--namespace" and "-n" of "-n,--namespace"; nothing for an argument by position.
std::vector<std::string> flag_names(const Flag& flag);

}  // namespace muster::cli
