#include "agent/pod_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "json/parse.h"
#include "json/write.h"

namespace muster::agent {
namespace {

using json::Value;

constexpr int kRenewAt = 80;  // percent of its life

std::vector<Value> sources_of(Value pod) {
  std::vector<Value> found;
  for (const Value volume : pod.get({"spec", "volumes"}).items()) {
    for (const Value source : volume.get({"projected", "sources"}).items()) {
      if (const Value token = source.get("serviceAccountToken"); token.is_object())
        found.push_back(token);
    }
  }
  return found;
}

std::string key_of(Value source) {
  return fmt::format("{}/{}", source.get("audience").as_string(),
                     source.get("expirationSeconds").as_int());
}

std::string request_body(Value source, Value pod) {
  json::Arena arena;
  Value request = Value::object(arena);
  request.set("apiVersion", "authentication.k8s.io/v1");
  request.set("kind", "TokenRequest");
  const Value spec = request.object_at("spec");
  const Value audiences = spec.array_at("audiences");
  if (const Value audience = source.get("audience"); audience.is_string())
    audiences.push_back(audience);
  if (const Value seconds = source.get("expirationSeconds"); seconds.is_number())
    spec.set("expirationSeconds", seconds);
  const Value bound = spec.object_at("boundObjectRef");
  bound.set("apiVersion", "v1");
  bound.set("kind", "Pod");
  bound.set("name", pod.get({"metadata", "name"}));
  bound.set("uid", pod.get({"metadata", "uid"}));
  return json::write(request);
}

}  // namespace

bool PodTokens::wanted(Value pod) { return !sources_of(pod).empty(); }

bool PodTokens::fresh(Value pod, Time now) const {
  return std::ranges::all_of(sources_of(pod), [&](Value source) {
    const auto token = tokens_.find(key_of(source));
    return token != tokens_.end() && token->second.renew > now;
  });
}

std::optional<Time> PodTokens::due() const {
  std::optional<Time> first;
  for (const auto& [key, token] : tokens_)
    first = std::min(first.value_or(token.renew), token.renew);
  return first;
}

Result<std::string> PodTokens::text(Value source) const {
  const auto token = tokens_.find(key_of(source));
  if (token == tokens_.end()) return fail(Code::kUnavailable, "the token is not there yet");
  return token->second.text;
}

void PodTokens::fetch(Value pod, std::move_only_function<void(Status)> done) {
  const Time now = client_.loop().clock().now();
  for (const Value source : sources_of(pod)) {
    const std::string key = key_of(source);
    if (const auto token = tokens_.find(key); token != tokens_.end() && token->second.renew > now)
      continue;
    const std::string_view account = pod.get({"spec", "serviceAccountName"}).as_string();
    fetching_ = true;
    return client_.write({.verb = client::Verb::kCreate,
                          .resource = &accounts_,
                          .ns = std::string(pod.get({"metadata", "namespace"}).as_string()),
                          .name = account.empty() ? "default" : std::string(account),
                          .subresource = "token",
                          .body = request_body(source, pod)},
                         lifetime_.guard([this, key, done = std::move(done)](
                                             const Result<std::string>& answer) mutable {
                           fetching_ = false;
                           if (!answer) return done(std::unexpected(answer.error()));
                           done(took(key, *answer));
                         }));
  }
}

// What cannot be used fails: whoever asked must not ask again at once.
Status PodTokens::took(const std::string& key, std::string_view answer) {
  const auto unusable = [](std::string_view why) {
    return fail(Code::kInternal, fmt::format("the answer to a TokenRequest {}", why));
  };
  json::Arena arena;
  const auto tree = json::parse(arena, answer);
  if (!tree) return unusable("cannot be read: " + tree.error().message);
  const std::string_view text = tree->get({"status", "token"}).as_string();
  if (text.empty()) return unusable("has no token");
  const Time now = client_.loop().clock().now();
  const auto end = parse_time(tree->get({"status", "expirationTimestamp"}).as_string());
  if (!end) return unusable("does not say when the token expires");
  if (*end <= now) return unusable("has a token that has expired already");
  tokens_[key] = {.text = std::string(text), .renew = now + (*end - now) * kRenewAt / 100};
  return {};
}

}  // namespace muster::agent
