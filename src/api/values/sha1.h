// SHA-1 (FIPS 180-4), for names and labels that clients expect to be made with it. Not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace muster::api {

std::string sha1_hex(std::string_view text);  // 40 letters, lower case

}  // namespace muster::api
