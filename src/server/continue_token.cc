#include "server/continue_token.h"

#include "base/base64.h"
#include "json/parse.h"
#include "json/write.h"
#include "server/errors.h"

namespace muster::server {
namespace {

constexpr std::string_view kVersion = "meta.k8s.io/v1";

Error not_valid(std::string_view why) {
  return bad_request(fmt::format("continue key is not valid: {}", why));
}

}  // namespace

std::string encode_continue(const ContinueToken& token, ListScope scope) {
  json::Arena arena;
  const json::Value out = json::Value::object(arena, 3);
  out.set("v", kVersion);
  out.set("rv", token.revision == 0 ? json::Value::of(-1) : json::Value::of(token.revision));
  std::string start =
      scope == ListScope::kAllNamespaces ? fmt::format("{}/{}", token.ns, token.name) : token.name;
  if (scope == ListScope::kNamespace) start.insert(0, 1, '/');
  start += '\0';
  out.set("start", start);
  return encode_base64url(json::write(out));
}

Result<ContinueToken> decode_continue(std::string_view text, ListScope scope) {
  const auto bytes = decode_base64url(text);
  if (!bytes)
    return std::unexpected(
        not_valid(fmt::format("illegal base64 data at input byte {}", bytes.error())));
  json::Arena arena;
  const Result<json::Value> tree = json::parse(arena, *bytes);
  if (!tree) return std::unexpected(not_valid(tree.error().message));
  if (tree->get("v").as_string() != kVersion) {
    return std::unexpected(not_valid(fmt::format(
        "server does not recognize this encoded version \"{}\"", tree->get("v").as_string())));
  }
  const std::int64_t revision = tree->get("rv").as_int();
  if (revision == 0)
    return std::unexpected(
        not_valid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"));
  std::string_view start = tree->get("start").as_string();
  if (start.empty())
    return std::unexpected(not_valid("encoded start key empty (version meta.k8s.io/v1)"));
  if (start.back() == '\0') start.remove_suffix(1);
  ContinueToken token;
  token.revision = revision < 0 ? 0 : static_cast<std::uint64_t>(revision);
  if (scope == ListScope::kNamespace && start.starts_with('/')) start.remove_prefix(1);
  if (scope == ListScope::kAllNamespaces) {
    const std::size_t slash = start.find('/');
    if (slash == std::string_view::npos)
      return std::unexpected(not_valid(fmt::format("{}", start)));
    token.ns = std::string(start.substr(0, slash));
    start = start.substr(slash + 1);
  }
  token.name = std::string(start);
  return token;
}

}  // namespace muster::server
