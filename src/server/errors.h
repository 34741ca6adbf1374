// The errors that every handler gives, in upstream's words, and their Status bodies (spec:
// apimachinery 5.1).
#pragma once

#include <string>
#include <string_view>

#include "api/schema/registry.h"
#include "base/result.h"

namespace muster::server {

Error not_found(const api::Resource& resource, std::string_view name);
Error already_exists(const api::Resource& resource, std::string_view name);
Error conflict(const api::Resource& resource, std::string_view name, std::string_view why);
Error modified_meanwhile(const api::Resource& resource,
                         std::string_view name);  // the usual 409 of a stale write
Error bad_request(std::string message);
// A resourceVersion of a query that is no number, of lists (400) and of get and watch (a plain
// 500).
Error invalid_list_version(std::string_view text, const Error& why);
Error invalid_version(std::string_view text, const Error& why);
Error untranslated(std::string message);                // a plain 500
Error container_not_found(std::string_view container);  // to talk to: it does not run
Error timed_out(std::string message);
Error too_many_requests();
Error unknown_path();
Error method_not_allowed();

int http_status(Code code);
std::string_view reason(Code code);  // empty if the Status has none

// The Status object of a failure. `continue_token` goes to its metadata.
std::string status_body(const Error& error, std::string_view continue_token = "");
// {"kind":"Status",…,"status":"Success","code":…}; code 0 leaves it out.
std::string success_body(int code);
std::string deleted_body(const api::Resource& resource, std::string_view name,
                         std::string_view uid);

}  // namespace muster::server
