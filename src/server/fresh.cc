#include "server/fresh.h"

#include "server/errors.h"

namespace muster::server {
namespace {

constexpr Duration kFreshWait = std::chrono::seconds(3);

Error too_large(std::uint64_t wanted, std::uint64_t current) {
  Error error =
      timed_out(fmt::format("Too large resource version: {}, current: {}", wanted, current));
  error.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  error.retry_after_seconds = 1;
  return error;
}

}  // namespace

void when_reached(const CallPtr& call, store::Revision wanted, std::function<void()> then) {
  if (call->core->store.snapshot()->revision() >= wanted) return then();
  call->exchange->set_timer(kFreshWait, [call, wanted, then = std::move(then)] {
    const store::Revision current = call->core->store.snapshot()->revision();
    if (current >= wanted) return then();
    call->answer_error(too_large(wanted, current));
  });
}

Result<Renderer> make_renderer(const Call& call) {
  IncludeObject include = IncludeObject::kMetadata;
  if (call.accepted.shape == Shape::kTable) {
    MUSTER_TRY(include, parse_include_object(call.info.query.get("includeObject")));
  }
  return Renderer(*call.resource, call.accepted, include, call.core->clock.now());
}

}  // namespace muster::server
