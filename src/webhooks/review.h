// An AdmissionReview (admission.k8s.io/v1) in, an AdmissionReview out: the rules of src/admission
// as an API server asks for them. Without sockets.
#pragma once

#include <string>
#include <string_view>

#include "admission/feature_gates.h"
#include "api/schema/registry.h"
#include "base/result.h"
#include "base/time.h"
#include "webhooks/hooks.h"
#include "webhooks/knowledge.h"

namespace muster::webhooks {

struct Settings {
  const api::Registry& registry;
  admission::FeatureGates gates;
  bool queueing = false;  // whether queues are muster's
};

// The answer: allowed, with what a mutating hook changes as a JSON Patch, or denied, with the
// Status that the client shall see. It counts only if the rules left no question in `knowledge`.
//
// Fails with kBadRequest if the body is no review that this hook can be asked for, whatever else it
// holds: anybody who reaches the port may send anything.
Result<std::string> answer_review(const Hook& hook, const Settings& settings,
                                  const Knowledge& knowledge, std::string_view body, Time now);

// What to answer when a question could not be settled: denied, with this error.
Result<std::string> deny_review(std::string_view body, const Error& error);

}  // namespace muster::webhooks
