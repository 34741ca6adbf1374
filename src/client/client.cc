#include "client/client.h"

#include <fmt/format.h>

#include <array>

#include "base/error_code.h"
#include "json/parse.h"
#include "json/write.h"
#include "store/store.h"

namespace muster::client {
namespace {

constexpr std::array<std::string_view, 4> kPatchTypes = {
    "application/json-patch+json", "application/merge-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml"};

// The whole object will do where a server has no other form.
void ask_for(http::Request& request, std::string_view form) {
  for (auto& [name, value] : request.headers) {
    if (name == "Accept")
      value = fmt::format("application/json;as={};g=meta.k8s.io;v=v1,application/json", form);
  }
}

}  // namespace

std::string url_escape(std::string_view text) {
  constexpr std::string_view kPlain = "-_.~";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string url_path(const api::Resource& resource, std::string_view ns, std::string_view name,
                     std::string_view subresource) {
  std::string path = resource.gvk.group.empty() ? "/api/" : "/apis/" + resource.gvk.group + "/";
  path += resource.gvk.version;
  if (resource.namespaced && !ns.empty()) path += "/namespaces/" + url_escape(ns);
  path += "/" + resource.plural;
  if (!name.empty()) path += "/" + url_escape(name);
  if (!subresource.empty()) path += "/" + std::string(subresource);
  return path;
}

Error error_of_status(int http_status, std::string_view body) {
  Error error{.code = code_of("", http_status), .message = std::string(body.substr(0, 512))};
  json::Arena arena;
  const auto parsed = json::parse(arena, body);
  if (!parsed || parsed->get("kind").as_string() != "Status") return error;
  const json::Value details = parsed->get("details");
  error.code = code_of(parsed->get("reason").as_string(), http_status);
  error.message = parsed->get("message").as_string();
  error.name = details.get("name").as_string();
  error.group = details.get("group").as_string();
  error.kind = details.get("kind").as_string();
  error.uid = details.get("uid").as_string();
  error.retry_after_seconds = static_cast<int>(details.get("retryAfterSeconds").as_int());
  for (const json::Value cause : details.get("causes").items()) {
    error.causes.push_back({std::string(cause.get("reason").as_string()),
                            std::string(cause.get("message").as_string()),
                            std::string(cause.get("field").as_string())});
  }
  return error;
}

std::string Answer::text() const { return object == nullptr ? body : object->bytes(); }

std::string Body::text() const { return tree_ == nullptr ? text_ : json::write(tree_->root()); }

void Body::put_into(http::Request& request) const {
  request.body = text_;
  request.document = tree_;
}

std::string Operation::summary() const {
  constexpr std::array<std::string_view, 4> kVerbs = {"create", "update", "patch", "delete"};
  return fmt::format("{} {}{}{} {}{}{}", kVerbs[static_cast<std::size_t>(verb)],
                     resource->qualified(), subresource.empty() ? "" : "/", subresource, ns,
                     ns.empty() ? "" : "/", name);
}

http::Request Client::request(std::string method, std::string target) const {
  http::Request request{.method = std::move(method),
                        .target = std::move(target),
                        .headers = {},
                        .body = {},
                        .peer = {}};
  request.headers.emplace_back("Accept", "application/json");
  request.headers.emplace_back("User-Agent", manager_);
  return request;
}

void Client::send(http::Request request, WriteReply reply) {
  transport_.send(std::move(request), [reply = std::move(reply)](Result<Answer> answer) mutable {
    if (!answer) return reply(std::unexpected(std::move(answer).error()));
    if (answer->status / 100 != 2)
      return reply(std::unexpected(error_of_status(answer->status, answer->body)));
    reply(Written(*std::move(answer)));
  });
}

void Client::raw_get(std::string target, Reply reply) {
  send(request("GET", std::move(target)), std::move(reply));
}

void Client::get(const api::Resource& resource, std::string_view ns, std::string_view name,
                 Reply reply) {
  raw_get(url_path(resource, ns, name), std::move(reply));
}

void Client::list(const api::Resource& resource, const ListOptions& options, Reply reply) {
  std::string target = url_path(resource, options.ns);
  char separator = '?';
  const auto add = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    target += fmt::format("{}{}={}", std::exchange(separator, '&'), key, url_escape(value));
  };
  add("labelSelector", options.label_selector);
  add("fieldSelector", options.field_selector);
  http::Request list = request("GET", std::move(target));
  if (options.metadata_only) ask_for(list, "PartialObjectMetadataList");
  send(std::move(list), std::move(reply));
}

void Client::write(const Operation& operation, WriteReply reply) {
  constexpr std::array<const char*, 4> kMethods = {"POST", "PUT", "PATCH", "DELETE"};
  // A create names the collection, but for the subresources of an object that exists (binding,
  // eviction).
  const bool collection = operation.verb == Verb::kCreate && operation.subresource.empty();
  std::string target = url_path(*operation.resource, operation.ns, collection ? "" : operation.name,
                                operation.subresource);
  if (operation.verb != Verb::kDelete) target += "?fieldManager=" + url_escape(manager_);
  if (operation.verb == Verb::kPatch && operation.force) target += "&force=true";
  if (operation.strict) target += "&fieldValidation=Strict";
  http::Request out =
      request(kMethods[static_cast<std::size_t>(operation.verb)], std::move(target));
  if (!operation.body.empty()) {
    const bool patch = operation.verb == Verb::kPatch;
    out.headers.emplace_back(
        "Content-Type",
        patch ? kPatchTypes[static_cast<std::size_t>(operation.patch_type)] : "application/json");
  }
  operation.body.put_into(out);
  send(std::move(out), std::move(reply));
}

std::unique_ptr<Transport::Stream> Client::stream(std::string target,
                                                  Transport::StreamEvents events,
                                                  bool metadata_only) {
  http::Request watch = request("GET", std::move(target));
  if (metadata_only) ask_for(watch, "PartialObjectMetadata");
  return transport_.stream(std::move(watch), std::move(events));
}

}  // namespace muster::client
