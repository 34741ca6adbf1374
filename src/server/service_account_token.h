// Tokens of service accounts: JSON Web Tokens that this server signs and checks itself
// (Options::sign_token).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/core.h"

namespace muster::server {

inline constexpr std::string_view kTokenIssuer = "https://kubernetes.default.svc";

struct TokenClaims {
  std::string ns;
  std::string name;
  std::string uid;
  std::string id;                      // jti
  std::vector<std::string> audiences;  // whom the token is for
  Time issued{};
  Time expires{};
};

std::string sign(const Core& core, const TokenClaims& claims);
// Nothing unless the token is ours, for us, in time, and its service account still exists with the
// same uid. A token for another audience is no proof here: whoever it was shown to could use it.
std::optional<TokenClaims> verify(const Core& core, std::string_view token);
User user_of(const TokenClaims& claims);

}  // namespace muster::server
