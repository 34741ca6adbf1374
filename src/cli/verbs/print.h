// What every command says the same way.
#pragma once

#include <string_view>

#include "base/result.h"

namespace muster::cli {

// "error: …" on standard error; returns the code, so that a command can end with it.
int complain(const Error& error, int exit_code);

// The command was used in a way that it is not meant for: what is wrong, what to type instead.
int misused(std::string_view what, std::string_view help = {});

}  // namespace muster::cli
