// The Go reader: slower than parse(), but it takes exactly what Go's encoding/json takes
// (integers of any size, lone surrogates) and words its complaints in the same way. parse() asks it
// when simdjson refuses a text; nobody else should.
#pragma once

#include "json/parse.h"

namespace muster::json {

Result<Value> parse_like_go(Arena& arena, std::string_view text, ParseReport* report = nullptr);

}  // namespace muster::json
