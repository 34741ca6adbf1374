// UTF-8, as much of it as readers and writers of JSON and of terminals need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// Bytes of the well-formed sequence that `text` begins with; 0 if there is none. No overlong forms,
// no surrogates, nothing beyond U+10FFFF.
std::size_t utf8_sequence_length(std::string_view text);
bool is_utf8(std::string_view text);
std::uint32_t decode_utf8(std::string_view sequence);  // one well-formed sequence
// At most `limit` bytes of it, whole letters only.
std::string_view cut_utf8(std::string_view text, std::size_t limit);
void append_utf8(std::string& out, std::uint32_t code_point);

}  // namespace muster
