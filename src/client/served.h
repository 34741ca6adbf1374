// Whether an API server has a kind at all: its definition may be installed later, or be removed.
#pragma once

#include <functional>
#include <string_view>

#include "client/client.h"

namespace muster::client {

// Asks the server's discovery about the kind's group and version. Only a definite word is an
// answer; an error (403, 500, none in time) says nothing about the kind. Called back on the
// client's loop.
void ask_if_served(Client& client, const api::Resource& resource,
                   std::move_only_function<void(Result<bool> served)> reply);

// Whether an APIResourceList names the kind. Fails if the text is no such list.
Result<bool> names_resource(std::string_view list, std::string_view plural);

}  // namespace muster::client
