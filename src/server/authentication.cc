#include "server/authentication.h"

#include <algorithm>

#include "base/ascii.h"
#include "server/secret.h"
#include "server/service_account_token.h"

namespace muster::server {
namespace {

constexpr std::string_view kCredentialId = "authentication.kubernetes.io/credential-id";

Error unauthorized() { return {.code = Code::kUnauthorized, .message = "Unauthorized"}; }

void add_group(User& user, std::string_view group) {
  if (!user.in_group(group)) user.groups.emplace_back(group);
}

std::optional<std::string_view> bearer_token(const http::Request& request) {
  const std::string_view header = http::find_header(request.headers, "Authorization");
  constexpr std::string_view kScheme = "bearer ";
  if (header.size() < kScheme.size()) return std::nullopt;
  const bool matches = std::ranges::equal(
      header.substr(0, kScheme.size()), kScheme,
      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b; });
  if (!matches) return std::nullopt;
  std::string_view token = header.substr(kScheme.size());
  while (token.starts_with(' ')) token.remove_prefix(1);
  return token;
}

bool wants_to_impersonate(const http::Request& request) {
  constexpr std::string_view kPrefix = "Impersonate-";
  return std::ranges::any_of(request.headers, [kPrefix](const http::Header& header) {
    return equal_ignoring_case(std::string_view(header.first).substr(0, kPrefix.size()), kPrefix);
  });
}

User user_of_certificate(const http::Peer& peer) {
  User user{.name = peer.common_name, .uid = "", .groups = peer.organizations, .extra = {}};
  add_group(user, kAuthenticated);
  if (!peer.certificate_sha256.empty()) {
    user.extra[std::string(kCredentialId)] = {"X509SHA256=" + peer.certificate_sha256};
  }
  return user;
}

}  // namespace

std::optional<User> user_of_token(Core& core, std::string_view token) {
  const User* found = nullptr;
  for (const Token& known : core.options.tokens) {
    if (equal_in_constant_time(known.secret, token)) found = &known.user;
  }
  if (found != nullptr) {
    User user = *found;
    add_group(user, kAuthenticated);
    return user;
  }
  const std::optional<TokenClaims> claims = verify(core, token);
  if (claims) return user_of(*claims);
  return std::nullopt;
}

Result<User> authenticate(Core& core, const http::Request& request) {
  if (!request.peer.common_name.empty()) return user_of_certificate(request.peer);
  if (const std::optional<std::string_view> token = bearer_token(request)) {
    std::optional<User> user = user_of_token(core, *token);
    if (user) return *std::move(user);
    return std::unexpected(unauthorized());
  }
  if (!core.options.anonymous) return std::unexpected(unauthorized());
  return User{.name = std::string(kAnonymous),
              .uid = "",
              .groups = {std::string(kUnauthenticated)},
              .extra = {}};
}

Result<User> impersonate(const Core& core, const http::Request& request, User user) {
  const std::string_view wanted = http::find_header(request.headers, "Impersonate-User");
  if (wanted.empty() && wants_to_impersonate(request)) {  // who asks for less must not get all
    return fail(Code::kBadRequest,
                "groups, uid or extra cannot be impersonated without impersonating a user");
  }
  if (wanted.empty()) return user;
  if (!core.options.impersonation || !user.in_group(kMasters)) {
    return std::unexpected(
        Error{.code = Code::kForbidden,
              .message = fmt::format("users \"{}\" is forbidden: User \"{}\" cannot impersonate "
                                     "resource \"users\" in API group "
                                     "\"\" at the cluster scope",
                                     wanted, user.name),
              .name = std::string(wanted),
              .kind = "users"});
  }
  User other{.name = std::string(wanted), .uid = "", .groups = {}, .extra = {}};
  for (const auto& [name, value] : request.headers) {
    http::Headers one{{name, value}};
    if (!http::find_header(one, "Impersonate-Group").empty()) other.groups.push_back(value);
  }
  if (!other.in_group(kUnauthenticated)) add_group(other, kAuthenticated);
  return other;
}

}  // namespace muster::server
