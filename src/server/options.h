// The options of a request, from its query and (delete) its body, checked as upstream checks them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/http.h"
#include "base/result.h"
#include "server/decode_body.h"
#include "server/request_info.h"

namespace muster::server {

struct WriteOptions {
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
  std::string field_manager;  // the parameter; may be empty
  std::optional<bool> force;  // patches
};

// `kind` is CreateOptions, UpdateOptions or PatchOptions; `apply` says that the patch is one.
Result<WriteOptions> parse_write_options(const Query& query, std::string_view kind,
                                         bool apply = false);

enum class Propagation : std::uint8_t { kDefault, kOrphan, kBackground, kForeground };

struct DeleteOptions {
  bool dry_run = false;
  std::optional<std::int64_t> grace_seconds;
  Propagation propagation = Propagation::kDefault;
  bool orphan_dependents_false = false;  // the old option, given as false: the answer may be 202
  std::string uid;                       // preconditions
  std::string resource_version;
};

// From the body if there is one, else from the query.
Result<DeleteOptions> parse_delete_options(json::Arena& arena, const http::Request& request,
                                           const Query& query, const api::Registry& registry);
// From a DeleteOptions object that stands in another body (evictions); null gives the defaults.
Result<DeleteOptions> read_delete_options(json::Value tree);

struct ListOptions {
  std::string label_selector;
  std::string field_selector;
  bool watch = false;
  bool bookmarks = false;
  std::string resource_version;
  std::string match;  // resourceVersionMatch
  std::optional<std::int64_t> timeout_seconds;
  std::int64_t limit = 0;
  std::string continue_token;
  std::optional<bool> send_initial_events;
};

Result<ListOptions> parse_list_options(const Query& query, bool watch);

// A decimal 64-bit number as strconv.ParseUint reads it; the error is its text.
Result<std::uint64_t> parse_version(std::string_view text);
// As strconv.ParseInt reads it (kBadRequest).
Result<std::int64_t> parse_int(std::string_view text);

}  // namespace muster::server
