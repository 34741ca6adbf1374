#include "server/router.h"

#include <algorithm>
#include <array>

#include "server/errors.h"
#include "server/handlers.h"

namespace muster::server {
namespace {

using Handler = void (*)(const CallPtr& call);

// The subresources that are views of the object itself.
Handler view_handler(std::string_view verb) {
  if (verb == "get") return get_object;
  if (verb == "update") return update_object;
  if (verb == "patch") return patch_object;
  return nullptr;
}

Handler scale_handler(std::string_view verb) {
  if (verb == "get") return get_scale;
  if (verb == "update") return update_scale;
  if (verb == "patch") return patch_scale;
  return nullptr;
}

Handler subresource_handler(std::string_view name, std::string_view verb) {
  static constexpr std::array<std::string_view, 4> kViews{"status", "finalize", "resize",
                                                          "ephemeralcontainers"};
  static constexpr std::array<std::string_view, 4> kConnects{"exec", "attach", "portforward",
                                                             "proxy"};
  if (std::ranges::find(kViews, name) != kViews.end()) return view_handler(verb);
  if (std::ranges::find(kConnects, name) != kConnects.end()) return connect_pod;
  if (name == "scale") return scale_handler(verb);
  if (name == "log") return read_pod_log;
  if (name == "binding") return bind_pod;
  if (name == "eviction") return evict_pod;
  if (name == "token") return create_token;
  return nullptr;
}

Handler object_handler(const api::Resource& resource, std::string_view verb) {
  if (resource.gvk.group == "authentication.k8s.io" || resource.gvk.group == "authorization.k8s.io")
    return create_review;
  if (resource.gvk.group.empty() && resource.plural == "bindings") return bind_pod;
  if (verb == "get") return get_object;
  if (verb == "list") return list_objects;
  if (verb == "watch") return watch_objects;
  if (verb == "create") return create_object;
  if (verb == "update") return update_object;
  if (verb == "patch") return patch_object;
  if (verb == "delete") return delete_object;
  if (verb == "deletecollection") return delete_collection;
  return nullptr;
}

// Whether such a path exists at all: namespaced kinds have their objects in a namespace, the others
// have not.
bool path_exists(const RequestInfo& info, const api::Resource& resource) {
  const bool is_namespace = resource.gvk.group.empty() && resource.plural == "namespaces";
  if (!resource.namespaced) return info.ns.empty() || is_namespace;
  return !info.ns.empty() || info.name.empty();
}

bool allows(const RequestInfo& info, const api::Resource& resource) {
  const std::string& verb = info.verb;
  const bool one_object = verb == "get" || verb == "update" || verb == "patch" || verb == "delete";
  if (verb != "watch" && one_object == info.name.empty()) return false;
  const bool across_namespaces = resource.namespaced && info.ns.empty();
  if (across_namespaces && verb != "list" && verb != "watch") return false;
  return resource.has_verb(verb);
}

Status negotiate_answer(Call& call) {
  const RequestInfo& info = call.info;
  const AcceptRules rules{
      .custom = call.resource->custom,
      .reshape = true,
      .watchable = info.name.empty() && (info.verb == "list" || info.verb == "watch")};
  MUSTER_TRY(call.accepted, negotiate(call.header("Accept"), rules));
  return {};
}

bool known_group(const Call& call) {
  return std::ranges::any_of(call.core->registry.groups(), [&](const api::GroupVersions& group) {
    return group.group == call.info.group;
  });
}

}  // namespace

void route(const CallPtr& call) {
  const RequestInfo& info = call->info;
  if (!info.is_resource) return answer_general(call);
  if (!known_group(*call)) return call->answer_text(404, "404 page not found\n");
  const api::Resource* resource =
      call->core->registry.find(info.group, info.version, info.resource);
  if (resource == nullptr || !path_exists(info, *resource))
    return call->answer_error(unknown_path());
  call->resource = resource;

  Handler handler = nullptr;
  if (info.subresource.empty()) {
    if (!allows(info, *resource)) return call->answer_error(method_not_allowed());
    handler = object_handler(*resource, info.verb);
  } else {
    call->subresource = resource->subresource(info.subresource);
    if (call->subresource == nullptr) return call->answer_error(unknown_path());
    const bool known =
        std::ranges::find(call->subresource->verbs, info.verb) != call->subresource->verbs.end();
    handler = known ? subresource_handler(info.subresource, info.verb) : nullptr;
  }
  if (handler == nullptr) return call->answer_error(method_not_allowed());
  if (const Status negotiated = negotiate_answer(*call); !negotiated)
    return call->answer_error(negotiated.error());
  if (!resource->deprecation_warning.empty())
    call->warnings.push_back(resource->deprecation_warning);
  if (resource->storage->qualified() == "events") {
    call->core->event_expiry.sweep_if_due(call->core->store, call->core->registry, call->started);
  }
  handler(call);
}

}  // namespace muster::server
