#include "controllers/runtime/runner.h"

#include "base/log.h"

namespace muster::controllers {

Runner::Runner(std::string name, client::Client& client, std::vector<client::Informer*> sources,
               Planner planner)
    : name_(std::move(name)),
      client_(client),
      sources_(std::move(sources)),
      planner_(std::move(planner)),
      queue_(client.loop(), kWidth, [this](const QueueKey& key) { work(key); }) {}

bool Runner::current(const QueueKey& key) {
  for (client::Informer* source : sources_) {
    if (source->synced()) continue;
    source->on_synced([this, key] { queue_.add(key); });
    return false;
  }
  const auto at = awaited_.find(key);
  if (at == awaited_.end()) return true;
  const Time now = client_.loop().clock().now();
  std::erase_if(at->second, [now](const Awaited& write) {
    return write.source->position() >= write.revision || write.until <= now;
  });
  if (at->second.empty()) {
    awaited_.erase(at);
    return true;
  }
  queue_.add_after(key, kPatience);  // its event comes sooner, and brings the key with it
  return false;
}

void Runner::remember(const QueueKey& key, const client::Operation& write,
                      std::string_view answer) {
  for (const client::Informer* source : sources_) {
    if (&source->resource() != write.resource || write.verb == client::Verb::kDelete) continue;
    const store::Revision revision = client::to_revision(api::decode_meta(answer).resource_version);
    awaited_[key].push_back({source, revision, client_.loop().clock().now() + kPatience});
  }
}

void Runner::work(const QueueKey& key) {
  if (!current(key)) return queue_.done(key);
  auto plan = std::make_shared<const Plan>(planner_(key, client_.loop().clock().now()));
  if (!plan->empty()) {
    log::debug("plan",
               {{"controller", name_}, {"key", key.ns + "/" + key.name}, {"plan", plan->text()}});
  }
  perform(key, std::move(plan), 0);
}

void Runner::perform(const QueueKey& key, std::shared_ptr<const Plan> plan, std::size_t next) {
  if (next == plan->writes.size()) return finish(key, *plan);
  client_.write(plan->writes[next], [this, key, plan, next](Result<std::string> answer) mutable {
    if (!answer) return failed(key, plan->writes[next], answer.error());
    remember(key, plan->writes[next], *answer);
    perform(key, std::move(plan), next + 1);
  });
}

void Runner::finish(const QueueKey& key, const Plan& plan) {
  queue_.forget_failures(key);
  if (plan.look_again) queue_.add_after(key, *plan.look_again);
  queue_.done(key);
}

// The cache was stale, or the server is in trouble: the next plan, made of newer knowledge, gets
// there.
void Runner::failed(const QueueKey& key, const client::Operation& write, const Error& error) {
  const bool stale = error.code == Code::kConflict || error.code == Code::kAlreadyExists ||
                     error.code == Code::kNotFound;
  if (!stale) {
    log::warn("write failed",
              {{"controller", name_}, {"write", write.summary()}, {"error", error.message}});
  }
  queue_.add_failed(key);
  queue_.done(key);
}

}  // namespace muster::controllers
