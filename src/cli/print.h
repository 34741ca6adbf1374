// What every command says the same way.
#pragma once

#include "base/result.h"

namespace muster::cli {

// "error: …" on standard error; returns the code, so that a command can end with it.
int complain(const Error& error, int exit_code);

}  // namespace muster::cli
