#include "server/pod_containers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "server/errors.h"

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

// Null if the node has not spoken of it.
json::Value container_status(json::Value pod, std::string_view container) {
  for (const std::string_view list :
       {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}) {
    for (const json::Value status : pod.get({"status", list}).items())
      if (status.get("name").as_string() == container) return status;
  }
  return {};
}

std::string_view why_waiting(std::string_view reason) {
  if (reason == "ErrImagePull") return "image can't be pulled";
  if (reason == "ImagePullBackOff") return "trying and failing to pull image";
  return reason;
}

// Whether such an end is one of a run that there was.
bool has_id(json::Value terminated) { return !terminated.get("containerID").as_string().empty(); }

LogRun run(std::int64_t number, json::Value id) {
  return {static_cast<int>(std::max<std::int64_t>(0, number)), std::string(id.as_string())};
}

}  // namespace

Result<std::string> choose_container(json::Value pod, std::string_view asked) {
  const std::string_view name = pod.get({"metadata", "name"}).as_string();
  const std::vector<std::string> names = container_names(pod);
  if (!asked.empty()) {
    if (std::ranges::find(names, asked) != names.end()) return std::string(asked);
    return std::unexpected(
        bad_request(fmt::format("container {} is not valid for pod {}", asked, name)));
  }
  const json::Value main = pod.get({"spec", "containers"});
  if (main.size() == 1) return std::string(main.items().begin()->get("name").as_string());
  return std::unexpected(
      bad_request(fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                              name, fmt::join(names, " "))));
}

bool is_running(json::Value pod, std::string_view container) {
  return container_status(pod, container).get({"state", "running"}).is_object();
}

Result<LogRun> choose_log_run(json::Value pod, std::string_view container, bool previous) {
  const std::string where = fmt::format("container \"{}\" in pod \"{}\"", container,
                                        pod.get({"metadata", "name"}).as_string());
  const auto refusal = [&](std::string_view what) {
    return std::unexpected(bad_request(fmt::format("{} {}", where, what)));
  };
  const json::Value status = container_status(pod, container);
  if (!status.is_object()) return refusal("is not available");
  const json::Value running = status.get({"state", "running"});
  const json::Value terminated = status.get({"state", "terminated"});
  const json::Value last = status.get({"lastState", "terminated"});
  const std::int64_t restarts = status.get("restartCount").as_int();
  // While the next run waits for its start, the last one is the newest there is.
  const bool waits = !running.is_object() && !terminated.is_object();
  const LogRun last_run = run(waits ? restarts : restarts - 1, last.get("containerID"));
  if (previous) {
    if (has_id(last)) return last_run;
    return std::unexpected(bad_request(fmt::format("previous terminated {} not found", where)));
  }
  if (running.is_object()) return run(restarts, status.get("containerID"));
  if (has_id(terminated)) return run(restarts, terminated.get("containerID"));
  if (has_id(last)) return last_run;
  if (terminated.is_object() || last.is_object()) return refusal("is terminated");
  const std::string_view reason = status.get({"state", "waiting", "reason"}).as_string();
  if (reason.empty()) return refusal("is waiting to start - no logs yet");
  return refusal(fmt::format("is waiting to start: {}", why_waiting(reason)));
}

}  // namespace muster::server
