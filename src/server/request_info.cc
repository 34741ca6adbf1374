#include "server/request_info.h"

#include <algorithm>
#include <span>

#include "base/ascii.h"

namespace muster::server {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Result<std::vector<std::string>> path_segments(std::string_view path) {
  std::vector<std::string> segments;
  for (std::string_view part : split(path, '/')) {
    if (part.empty()) continue;
    MUSTER_TRY(std::string segment, percent_decode(part, false));
    segments.push_back(std::move(segment));
  }
  return segments;
}

// As upstream reads it: everything but "false" and "0" is meant.
bool asks_to_watch(const Query& query) {
  if (!query.has("watch")) return false;
  const std::string value = lower_case(query.get("watch"));
  return value != "false" && value != "0";
}

// Methods are case-sensitive, and one that is none of HTTP's is no verb: there is no LIST.
std::string verb_of(std::string_view method, const RequestInfo& info) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return info.name.empty() ? "deletecollection" : "delete";
  if (method != "GET" && method != "HEAD") return "";
  if (asks_to_watch(info.query) && info.subresource.empty()) return "watch";
  return info.name.empty() ? "list" : "get";
}

// The segments after the group's version: [namespaces/N/]resource[/name[/subresource[/rest…]]].
void read_resource(RequestInfo& info, std::span<const std::string> at) {
  const auto take = [&at] {
    if (at.empty()) return std::string();
    std::string front = at.front();
    at = at.subspan(1);
    return front;
  };
  if (at.size() >= 3 && at[0] == "namespaces" && at[2] != "status" && at[2] != "finalize") {
    info.ns = at[1];
    at = at.subspan(2);
  }
  info.resource = take();
  info.name = take();
  info.subresource = take();
  info.rest.assign(at.begin(), at.end());
  if (info.resource == "namespaces" && info.group.empty()) info.ns = info.name;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return fail(Code::kBadRequest, fmt::format("invalid URL escape \"{}\"", text.substr(i, 3)));
      }
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Result<Query> Query::parse(std::string_view text) {
  Query query;
  if (text.empty()) return query;
  for (std::string_view part : split(text, '&')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    MUSTER_TRY(std::string name, percent_decode(part.substr(0, equals), true));
    std::string value;
    if (equals != std::string_view::npos) {
      MUSTER_TRY(value, percent_decode(part.substr(equals + 1), true));
    }
    query.parameters_.emplace_back(std::move(name), std::move(value));
  }
  return query;
}

std::string_view Query::get(std::string_view name) const {
  const auto it = std::ranges::find(parameters_, name,
                                    [](const auto& p) -> std::string_view { return p.first; });
  return it == parameters_.end() ? std::string_view() : std::string_view(it->second);
}

bool Query::has(std::string_view name) const {
  return std::ranges::any_of(parameters_, [name](const auto& p) { return p.first == name; });
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : parameters_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

Result<RequestInfo> parse_request(std::string_view method, std::string_view target) {
  RequestInfo info;
  const std::size_t mark = target.find('?');
  info.path = std::string(target.substr(0, mark));
  if (mark != std::string_view::npos) {
    MUSTER_TRY(info.query, Query::parse(target.substr(mark + 1)));
  }
  MUSTER_TRY(const std::vector<std::string> segments, path_segments(info.path));
  const bool core = segments.size() > 2 && segments[0] == "api";
  const bool grouped = segments.size() > 3 && segments[0] == "apis";
  if (!core && !grouped) {
    info.verb = lower_case(method);
    return info;
  }
  info.is_resource = true;
  if (grouped) info.group = segments[1];
  info.version = segments[grouped ? 2 : 1];
  read_resource(info, std::span(segments).subspan(grouped ? 3 : 2));
  info.verb = verb_of(method, info);
  return info;
}

}  // namespace muster::server
