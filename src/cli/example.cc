// `muster example [NAME]`: JobSets to begin with.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/diagnose.h"
#include "cli/examples.h"
#include "cli/exit_code.h"
#include "cli/print.h"

namespace muster::cli {
namespace {

int list() {
  for (const Example& example : examples())
    fmt::print("{:<24}{}\n", example.name, example.summary());
  fmt::print("\nmuster example ddp > ddp.yaml && muster run ddp.yaml\n");
  return kSucceeded;
}

int print(const std::string& name) {
  if (name.empty()) return list();
  std::vector<std::string> names;
  for (const Example& example : examples()) {
    if (example.name == name) {
      fmt::print("{}", example.text);
      return kSucceeded;
    }
    names.emplace_back(example.name);
  }
  const auto guess = did_you_mean(name, names);
  complain({.code = Code::kNotFound,
            .message = fmt::format("there is no example \"{}\"{}", name,
                                   guess ? fmt::format("; did you mean \"{}\"?", *guess)
                                         : "; muster example lists them")},
           kRefused);
  return kRefused;
}

}  // namespace

Verb example_verb() {
  const auto name = std::make_shared<std::string>();
  return {.name = "example",
          .group = "Run",
          .help = "Print an example to run; without a name, list them",
          .flags = {{"name", name.get(), "An example"}},
          .run = [name] { return print(*name); }};
}

}  // namespace muster::cli
