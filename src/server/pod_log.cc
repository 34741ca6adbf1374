// pods/log: checks what is asked for; the text comes from the node agent. And the channels into
// pods that we do not offer.
#include <algorithm>

#include "api/field_error.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/options.h"
#include "server/render.h"

namespace muster::server {
namespace {

std::vector<std::string> container_names(json::Value pod) {
  std::vector<std::string> names;
  for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const json::Value container : pod.get({"spec", list}).items())
      names.emplace_back(container.get("name").as_string());
  }
  return names;
}

// The container that is meant; kBadRequest in upstream's words.
Result<std::string> choose_container(json::Value pod, std::string_view asked) {
  const std::string_view name = pod.get({"metadata", "name"}).as_string();
  const std::vector<std::string> names = container_names(pod);
  if (!asked.empty()) {
    if (std::ranges::find(names, asked) != names.end()) return std::string(asked);
    return std::unexpected(
        bad_request(fmt::format("container {} is not valid for pod {}", asked, name)));
  }
  if (names.size() == 1) return names.front();
  const json::Value preferred =
      pod.get({"metadata", "annotations", "kubectl.kubernetes.io/default-container"});
  if (std::ranges::find(names, preferred.as_string()) != names.end())
    return std::string(preferred.as_string());
  return std::unexpected(
      bad_request(fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                              name, fmt::join(names, " "))));
}

Result<std::optional<std::int64_t>> optional_int(const Query& query, std::string_view name) {
  if (query.get(name).empty()) return std::nullopt;
  MUSTER_TRY(const std::int64_t value, parse_int(query.get(name)));
  return value;
}

bool flag(const Query& query, std::string_view name) {
  return query.has(name) && query.get(name) != "false" && query.get(name) != "0";
}

Result<LogSource::Wanted> parse_log_options(const Call& call) {
  const Query& query = call.info.query;
  LogSource::Wanted wanted;
  wanted.ns = call.info.ns;
  wanted.pod = call.info.name;
  wanted.container = std::string(query.get("container"));
  wanted.follow = flag(query, "follow");
  wanted.previous = flag(query, "previous");
  wanted.timestamps = flag(query, "timestamps");
  MUSTER_TRY(wanted.tail_lines, optional_int(query, "tailLines"));
  MUSTER_TRY(wanted.limit_bytes, optional_int(query, "limitBytes"));
  MUSTER_TRY(wanted.since_seconds, optional_int(query, "sinceSeconds"));
  if (const std::string_view text = query.get("sinceTime"); !text.empty()) {
    wanted.since_time = parse_time(text);
    if (!wanted.since_time)
      return std::unexpected(bad_request(fmt::format("parsing time \"{}\": not RFC 3339", text)));
  }
  api::FieldErrors errors;
  if (wanted.tail_lines && *wanted.tail_lines < 0) {
    errors.invalid(api::Path("tailLines"), json::Value::of(*wanted.tail_lines),
                   "must be greater than or equal to 0");
  }
  if (wanted.limit_bytes && *wanted.limit_bytes < 1) {
    errors.invalid(api::Path("limitBytes"), json::Value::of(*wanted.limit_bytes),
                   "must be greater than 0");
  }
  if (wanted.since_seconds && wanted.since_time) {
    errors.add("FieldValueForbidden", api::Path("[]"),
               "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified");
  } else if (wanted.since_seconds && *wanted.since_seconds < 1) {
    errors.invalid(api::Path("sinceSeconds"), json::Value::of(*wanted.since_seconds),
                   "must be greater than 0");
  }
  if (!errors.empty())
    return std::unexpected(errors.to_error("PodLogOptions", "", "PodLogOptions", call.info.name));
  return wanted;
}

store::ObjectPtr find_pod(const Call& call) {
  return call.core->store.snapshot()->get({call.resource->id, call.info.ns, call.info.name});
}

}  // namespace

void read_pod_log(const CallPtr& call) {
  Result<LogSource::Wanted> wanted = parse_log_options(*call);
  if (!wanted) return call->answer_error(wanted.error());
  const store::ObjectPtr object = find_pod(*call);
  if (object == nullptr) return call->answer_error(not_found(*call->resource, call->info.name));
  json::Arena arena;
  const json::Value pod = tree_of(arena, *object, *call->resource);
  Result<std::string> container = choose_container(pod, wanted->container);
  if (!container) return call->answer_error(container.error());
  if (pod.get({"spec", "nodeName"}).as_string().empty())
    return call->answer(204, "", {});  // nothing can have been written
  LogSource* logs = call->core->options.logs;
  if (logs == nullptr) {
    return call->answer_error(
        {.code = Code::kInternal,
         .message = fmt::format("Internal error occurred: no agent of node \"{}\" serves logs here",
                                pod.get({"spec", "nodeName"}).as_string())});
  }
  wanted->container = *std::move(container);
  wanted->uid = object->meta().uid;
  call->hand_over();
  logs->serve(*std::move(wanted), call->exchange);
}

void connect_pod(const CallPtr& call) {
  if (call->resource->plural != "pods") {
    return call->answer_error(
        {.code = Code::kUnavailable, .message = "this server proxies no requests"});
  }
  const store::ObjectPtr object = find_pod(*call);
  if (object == nullptr) return call->answer_error(not_found(*call->resource, call->info.name));
  json::Arena arena;
  const json::Value pod = tree_of(arena, *object, *call->resource);
  if (pod.get({"spec", "nodeName"}).as_string().empty()) {
    return call->answer_error(
        bad_request(fmt::format("pod {} does not have a host assigned", call->info.name)));
  }
  call->answer_error(
      {.code = Code::kUnavailable, .message = "this server opens no channels into pods"});
}

}  // namespace muster::server
