#include "server/service_account_token.h"

#include <algorithm>

#include "base/base64.h"
#include "json/parse.h"
#include "json/write.h"
#include "server/secret.h"

namespace muster::server {
namespace {

constexpr std::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";

std::int64_t seconds(Time time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}
Time from_seconds(std::int64_t value) { return Time(std::chrono::seconds(value)); }

std::string payload(const TokenClaims& claims) {
  json::Arena arena;
  const json::Value out = json::Value::object(arena);
  const json::Value audience = out.array_at("aud");
  for (const std::string& each : claims.audiences) audience.push_back(json::Value::view(each));
  out.set("exp", json::Value::of(seconds(claims.expires)));
  out.set("iat", json::Value::of(seconds(claims.issued)));
  out.set("iss", kTokenIssuer);
  out.set("jti", claims.id);
  const json::Value bound = out.object_at("kubernetes.io");
  bound.set("namespace", claims.ns);
  bound.object_at("serviceaccount").set("name", claims.name);
  bound.object_at("serviceaccount").set("uid", claims.uid);
  out.set("nbf", json::Value::of(seconds(claims.issued)));
  out.set("sub", fmt::format("system:serviceaccount:{}:{}", claims.ns, claims.name));
  return json::write(out);
}

}  // namespace

std::string sign(const Core& core, const TokenClaims& claims) {
  MUSTER_ASSERT(core.options.sign_token != nullptr, "tokens can be signed");
  const std::string text = encode_base64url(kHeader) + "." + encode_base64url(payload(claims));
  return text + "." + encode_base64url(core.options.sign_token(text));
}

std::optional<TokenClaims> verify(const Core& core, std::string_view token) {
  if (core.options.sign_token == nullptr) return std::nullopt;
  const std::size_t last = token.rfind('.');
  const std::size_t first = token.find('.');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const std::string_view text = token.substr(0, last);
  if (text.substr(0, first) != encode_base64url(kHeader)) return std::nullopt;
  if (!equal_in_constant_time(token.substr(last + 1),
                              encode_base64url(core.options.sign_token(text))))
    return std::nullopt;

  const auto bytes = decode_base64url(text.substr(first + 1));
  if (!bytes) return std::nullopt;
  json::Arena arena;
  const Result<json::Value> tree = json::parse(arena, *bytes);
  if (!tree) return std::nullopt;
  const json::Value bound = tree->get("kubernetes.io");
  TokenClaims claims{.ns = std::string(bound.get("namespace").as_string()),
                     .name = std::string(bound.get({"serviceaccount", "name"}).as_string()),
                     .uid = std::string(bound.get({"serviceaccount", "uid"}).as_string()),
                     .id = std::string(tree->get("jti").as_string()),
                     .audiences = {},
                     .issued = from_seconds(tree->get("iat").as_int()),
                     .expires = from_seconds(tree->get("exp").as_int())};
  for (const json::Value each : tree->get("aud").items())
    claims.audiences.emplace_back(each.as_string());
  if (std::ranges::find(claims.audiences, kTokenIssuer) == claims.audiences.end())
    return std::nullopt;
  if (core.clock.now() >= claims.expires) return std::nullopt;
  const api::Resource* accounts = core.registry.find("", "v1", "serviceaccounts");
  const store::ObjectPtr account =
      core.store.snapshot()->get({accounts->id, claims.ns, claims.name});
  if (account == nullptr || account->meta().uid != claims.uid) return std::nullopt;
  return claims;
}

User user_of(const TokenClaims& claims) {
  return {.name = fmt::format("system:serviceaccount:{}:{}", claims.ns, claims.name),
          .uid = claims.uid,
          .groups = {"system:serviceaccounts", "system:serviceaccounts:" + claims.ns,
                     std::string(kAuthenticated)},
          .extra = {{"authentication.kubernetes.io/credential-id", {"JTI=" + claims.id}}}};
}

}  // namespace muster::server
