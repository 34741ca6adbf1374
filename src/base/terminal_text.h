// Text of others on a terminal: names, messages and logs are data and never move the cursor (S3).
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

// One line of an object's text: control characters, escape sequences and marks that turn the
// direction of writing are gone; a line break or tab becomes a blank.
std::string plain_text(std::string_view text);

// Several lines of it: line breaks and tabs stay.
std::string plain_lines(std::string_view text);

// One line of a log: as plain_text, but tabs and colours stay. Of a line that was written over by
// carriage returns the last part is left, which is what a terminal shows.
std::string log_text(std::string_view line);

// JSON with the characters that JSON allows and a terminal obeys (DEL, C1, marks that turn the
// direction of writing) as escapes: the same document.
std::string escaped_json(std::string_view json);

// The columns that a text takes at most: everything beyond ASCII counts twice.
std::size_t width_of(std::string_view text);

// The text if it fits, else its beginning and "..."; never wider than `columns`.
std::string cut_to(std::string_view text, std::size_t columns);

// One of six colours, the same for a name on every run.
int colour_of(std::string_view name);

// The text in a colour (an SGR number), or as it is.
std::string coloured(std::string_view text, int colour, bool wanted);

}  // namespace muster
