// Small private files that are always whole: notes of a server about its own choices.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

// Gives the file, which only its owner can read, this text. A process that is killed meanwhile
// leaves the old text or the new one. Not synced: a power cut may lose the text.
Status replace_file(const std::string& file, std::string_view text);

}  // namespace muster
