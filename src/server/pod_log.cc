// pods/log: checks what is asked for; the text comes from the node agent.
#include "api/values/field_error.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/options.h"
#include "server/pod_containers.h"
#include "server/render.h"

namespace muster::server {
namespace {

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
  Result<LogRun> run = choose_log_run(pod, *container, wanted->previous);
  if (!run) return call->answer_error(run.error());
  LogSource* logs = call->core->options.logs;
  if (logs == nullptr) {
    return call->answer_error(
        {.code = Code::kInternal,
         .message = fmt::format("Internal error occurred: no agent of node \"{}\" serves logs here",
                                pod.get({"spec", "nodeName"}).as_string())});
  }
  wanted->container = *std::move(container);
  wanted->uid = object->meta().uid;
  wanted->run = run->number;
  wanted->container_id = std::move(run->container_id);
  call->hand_over();
  logs->serve(*std::move(wanted), call->exchange);
}

}  // namespace muster::server
