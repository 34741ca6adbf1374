// Names of hosts: DNS names and numeric addresses, made comparable.
#pragma once

#include <string>
#include <string_view>

namespace muster::net {

// The 4 or 16 bytes of a numeric address; empty if the text is not one.
std::string address_bytes(const std::string& text);
std::string address_text(std::string_view bytes);

// Addresses in their shortest form, DNS names in lower case.
std::string canonical_name(std::string_view name);

// The host of "name:port", "[::1]:port" or either without port, in canonical form; empty if the
// text is none of these.
std::string host_of_authority(std::string_view authority);

}  // namespace muster::net
