// What a request is about, read from its method and target alone: which object or collection, which
// verb.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace muster::server {

// %-escapes undone; with `plus_is_space` as in a query. Fails (kBadRequest) on a broken escape.
Result<std::string> percent_decode(std::string_view text, bool plus_is_space);

// The parameters of a query, in the order of the text. A parameter may occur several times.
class Query {
 public:
  static Result<Query> parse(std::string_view text);
  std::string_view get(std::string_view name) const;  // the first value; empty if absent
  bool has(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

struct RequestInfo {
  std::string path;  // as sent, without the query
  Query query;
  bool is_resource = false;

  // get, list, watch, create, update, patch, delete, deletecollection; for other paths the method
  // in lower case.
  std::string verb;
  std::string group;
  std::string version;
  std::string ns;        // of the request; a Namespace is in itself, as upstream has it
  std::string resource;  // plural
  std::string name;
  std::string subresource;
  std::vector<std::string> rest;  // segments after the subresource (proxy paths)
};

// Fails with kBadRequest if the target cannot be decoded.
Result<RequestInfo> parse_request(std::string_view method, std::string_view target);

}  // namespace muster::server
