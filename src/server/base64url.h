// Base64 with the alphabet for URLs and without padding (RFC 4648, section 5).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::server {

std::string base64url_encode(std::string_view bytes);
// kBadRequest: `illegal base64 data at input byte 8`.
Result<std::string> base64url_decode(std::string_view text);

}  // namespace muster::server
