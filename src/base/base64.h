// Base64 (RFC 4648): with padding, as JSON holds bytes, and for URLs. A decoder that fails returns
// the offset of the fault.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

namespace muster {

std::string encode_base64(std::string_view bytes);
// Line breaks are skipped. Offsets of faults are those of Go's encoding/base64.
std::expected<std::string, std::size_t> decode_base64(std::string_view text);

// With the alphabet for URLs (section 5 of the RFC) and without padding.
std::string encode_base64url(std::string_view bytes);
std::expected<std::string, std::size_t> decode_base64url(std::string_view text);

}  // namespace muster
