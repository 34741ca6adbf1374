// pods/exec and pods/attach: checks what is asked for; the program is the node agent's. And the
// channels that we do not offer.
#include "base/websocket.h"
#include "server/authorization.h"
#include "server/channels.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/options.h"
#include "server/pod_containers.h"
#include "server/render.h"

namespace muster::server {
namespace {

bool flag(const Query& query, std::string_view name) {
  const std::string_view value = query.get(name);
  return value == "true" || value == "1";
}

ProgramSource::Wanted parse_wanted(const Call& call) {
  const Query& query = call.info.query;
  return {.ns = call.info.ns,
          .pod = call.info.name,
          .uid = {},
          .container = std::string(query.get("container")),
          .command = query.all("command"),
          .input = flag(query, "stdin"),
          .output = flag(query, "stdout"),
          .error_output = flag(query, "stderr"),
          .tty = flag(query, "tty")};
}

// Finishes what is wanted by what the pod says, and says whether the container runs.
Result<bool> find_container(const Call& call, ProgramSource::Wanted& wanted) {
  const store::ObjectPtr object =
      call.core->store.snapshot()->get({call.resource->id, call.info.ns, call.info.name});
  if (object == nullptr) return std::unexpected(not_found(*call.resource, call.info.name));
  json::Arena arena;
  const json::Value pod = tree_of(arena, *object, *call.resource);
  MUSTER_TRY(wanted.container, choose_container(pod, wanted.container));
  if (pod.get({"spec", "nodeName"}).as_string().empty()) {
    return std::unexpected(
        bad_request(fmt::format("pod {} does not have a host assigned", call.info.name)));
  }
  wanted.uid = object->meta().uid;
  return is_running(pod, wanted.container);
}

// A GET opens a channel as well as a POST does, so it needs the same right.
Status check_right_to_create(const Call& call) {
  if (call.info.verb == "create" || !http::wants_upgrade(call.request())) return {};
  return check_also_allowed(*call.core, call.user, call.info, "create");
}

Status check_streams(const ProgramSource::Wanted& wanted, bool is_attach) {
  if (!wanted.input && !wanted.output && !wanted.error_output) {
    return std::unexpected(bad_request("you must specify at least one of stdin, stdout, stderr"));
  }
  if (!is_attach && wanted.command.empty()) {
    return std::unexpected(bad_request("you must specify at least one command for the container"));
  }
  if (is_attach && wanted.input) {
    return std::unexpected(bad_request(fmt::format(
        "nothing can be sent to the standard input of container {}: attach without stdin",
        wanted.container)));
  }
  return {};
}

Status check_upgrade(const http::Request& request) {
  if (!http::wants_upgrade(request))
    return std::unexpected(bad_request("Upgrade request required"));
  if (!http::wants_websocket(request))
    return std::unexpected(bad_request("channels into pods are WebSockets here, not SPDY"));
  MUSTER_CHECK(http::check_websocket_request(request));
  if (choose_channel_protocol(request).empty()) {
    return std::unexpected(
        bad_request("the WebSocket's protocol has to be v5.channel.k8s.io or v4.channel.k8s.io"));
  }
  return {};
}

}  // namespace

void connect_pod(const CallPtr& call) {
  const bool is_attach = call->info.subresource == "attach";
  if (call->resource->plural != "pods" || (!is_attach && call->info.subresource != "exec")) {
    return call->answer_error(
        {.code = Code::kUnavailable, .message = "this server forwards nothing to pods or nodes"});
  }
  ProgramSource::Wanted wanted = parse_wanted(*call);
  const auto check = [&]() -> Status {
    MUSTER_TRY(const bool running, find_container(*call, wanted));
    MUSTER_CHECK(check_right_to_create(*call));
    MUSTER_CHECK(check_streams(wanted, is_attach));
    // Before the upgrade is looked at: kubectl shows what its second try, with SPDY, is told.
    if (!running) return std::unexpected(container_not_found(wanted.container));
    return check_upgrade(call->request());
  };
  if (const Status status = check(); !status) return call->answer_error(status.error());
  ProgramSource* programs = call->core->options.programs;
  if (programs == nullptr) {
    return call->answer_error(
        {.code = Code::kUnavailable, .message = "no agent here opens channels into pods"});
  }
  const auto session =
      std::make_shared<ChannelSession>(call, wanted, choose_channel_protocol(call->request()));
  is_attach ? programs->attach(std::move(wanted), session)
            : programs->exec(std::move(wanted), session);
}

}  // namespace muster::server
