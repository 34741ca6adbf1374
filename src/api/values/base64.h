// Base64 with padding, as JSON holds bytes.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

namespace muster::api {

std::string encode_base64(std::string_view bytes);

// Line breaks are skipped. On failure: the offset of the fault, as Go's encoding/base64 counts it.
std::expected<std::string, std::size_t> decode_base64(std::string_view text);

}  // namespace muster::api
