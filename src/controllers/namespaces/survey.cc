#include "controllers/namespaces/survey.h"

#include <algorithm>

#include "api/views/pod_phase.h"
#include "controllers/runtime/spans.h"
#include "json/parse.h"

namespace muster::controllers::namespaces {
namespace {

Result<json::Value> read(json::Arena& arena, const Result<std::string>& list) {
  if (!list) return std::unexpected(list.error());
  return json::parse(arena, *list);
}

KindContent count(const api::Resource& resource, json::Value list) {
  KindContent kind{.resource = &resource};
  for (const json::Value object : list.get("items").items()) {
    const json::Value metadata = object.get("metadata");
    ++kind.objects;
    if (metadata.get("deletionTimestamp").is_null()) ++kind.untouched;
    for (const json::Value finalizer : metadata.get("finalizers").items())
      ++kind.finalizers[std::string(finalizer.as_string())];
  }
  return kind;
}

std::chrono::seconds longest_grace(json::Value pods) {
  std::int64_t longest = 0;
  for (const json::Value pod : pods.get("items").items()) {
    if (api::is_end_phase(pod.get({"status", "phase"}).as_string())) continue;
    longest = std::max(longest, pod.get({"spec", "terminationGracePeriodSeconds"}).as_int());
  }
  return span_of(longest);
}

}  // namespace

std::vector<const api::Resource*> kinds_in_namespaces(const api::Registry& registry) {
  std::vector<const api::Resource*> out;
  for (const api::Resource* resource : registry.resources()) {
    if (resource->namespaced && resource->storage == resource && resource->has_verb("delete") &&
        resource->has_verb("list"))
      out.push_back(resource);
  }
  return out;
}

std::shared_ptr<Survey> Survey::start(client::Client& client, const api::Registry& registry,
                                      std::string ns, Done done) {
  const std::shared_ptr<Survey> survey(new Survey(client, std::move(ns), std::move(done)));
  const api::Resource* const pods = registry.find("", "v1", "pods");
  survey->waiting_ = kinds_in_namespaces(registry);
  std::erase(survey->waiting_, pods);
  std::ranges::reverse(survey->waiting_);  // taken from the end
  survey->read_pods(*pods);
  return survey;
}

// Whole pods, for their time of grace.
void Survey::read_pods(const api::Resource& pods) {
  ++under_way_;
  client_.list(pods, {.ns = ns_},
               [self = shared_from_this(), &pods](const Result<std::string>& list) {
                 json::Arena arena;
                 const auto tree = read(arena, list);
                 if (tree) self->content_.pod_grace = longest_grace(*tree);
                 self->took(pods, tree);
               });
}

void Survey::pump() {
  if (!done_) return;
  if (content_.has_pods()) waiting_.clear();
  while (under_way_ < kUnderWay && !waiting_.empty()) {
    const api::Resource& resource = *waiting_.back();
    waiting_.pop_back();
    ++under_way_;
    client_.list(resource, {.ns = ns_, .metadata_only = true},
                 [self = shared_from_this(), &resource](const Result<std::string>& list) {
                   json::Arena arena;
                   self->took(resource, read(arena, list));
                 });
  }
  if (under_way_ == 0) std::exchange(done_, nullptr)(std::move(content_));
}

void Survey::took(const api::Resource& resource, const Result<json::Value>& list) {
  --under_way_;
  if (list) {
    KindContent kind = count(resource, *list);
    if (kind.objects > 0) content_.kinds.push_back(std::move(kind));
  } else if (list.error().code != Code::kNotFound) {  // a kind that is no longer served holds none
    content_.errors.push_back(list.error().message);
  }
  pump();
}

}  // namespace muster::controllers::namespaces
