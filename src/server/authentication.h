// Who sends a request: a client certificate, a bearer token, or nobody.
#pragma once

#include <optional>

#include "base/http.h"
#include "base/result.h"
#include "server/core.h"
#include "server/identity.h"

namespace muster::server {

// kUnauthorized if there are credentials that nobody knows, or none where some are needed.
Result<User> authenticate(Core& core, const http::Request& request);

// The user of a token: one of Options::tokens, or of a service account.
std::optional<User> user_of_token(Core& core, std::string_view token);

// Impersonate-User and -Group, if the options allow it and the user is a master; else the user
// itself. kForbidden.
Result<User> impersonate(const Core& core, const http::Request& request, User user);

}  // namespace muster::server
