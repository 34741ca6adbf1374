// What happens to an object between decoding and the store. Pure functions of the object and a
// read-only view of other objects: called in-process by the server, served as webhooks on a real
// cluster.
//
// The server calls, for a create: default_object, (field tracking), mutate, prepare_create,
// validate_create. For an update: default_object, (field tracking), mutate, prepare_update,
// validate_update.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/registry.h"
#include "api/values/field_error.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace muster::admission {

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete };

// Other objects, as admission may look at them (newest snapshot).
class View {
 public:
  virtual ~View() = default;
  // The object's JSON text; empty if there is none.
  virtual std::string_view find(std::string_view group, std::string_view plural,
                                std::string_view ns, std::string_view name) const = 0;
  // Every object of a kind, in all namespaces if `ns` is empty.
  virtual std::vector<std::string_view> list(std::string_view group, std::string_view plural,
                                             std::string_view ns) const = 0;
  // Those of a namespace that the caller can use; it looks closely itself. A view leaves out what
  // does not begin with the prefix, or does not carry the labels, if that is cheap to tell.
  struct Likeness {
    std::string_view name_prefix;
    std::string_view labels;  // "a=b,c=d"
  };
  virtual std::vector<std::string_view> list_like(std::string_view group, std::string_view plural,
                                                  std::string_view ns,
                                                  const Likeness& /*likeness*/) const {
    return list(group, plural, ns);
  }
};

struct FeatureGates;  // feature_gates.h

struct Context {
  Operation operation = Operation::kCreate;
  const api::Resource* resource = nullptr;  // in the version of the request
  std::string_view subresource;             // empty for the object itself
  std::string_view ns;
  std::string_view name;
  std::string_view user;  // who asks
  Time now{};
  bool dry_run = false;
  bool queueing = true;  // queues are ours; where Kueue runs, its own webhooks see to them
  const View* view = nullptr;
  const FeatureGates* gates = nullptr;
  std::vector<std::string>* warnings = nullptr;  // sent as Warning headers
};

// The defaults of the kind (upstream: scheme defaulting, or the schema's defaults of a custom
// resource).
void default_object(const Context& context, json::Value object);

// Mutating admission: namespace lifecycle, service account, priority, tolerations; JobSet and Kueue
// webhooks' defaulting; pod injection for JobSets. `old` is null on create.
Status mutate(const Context& context, json::Value object, json::Value old);

// What the kind's strategy does before validation: clears or restores status, keeps what a
// subresource may not touch, sets generation. On update `object` may be rewritten from `old`.
void prepare_create(const Context& context, json::Value object);
void prepare_update(const Context& context, json::Value object, json::Value old);

// All faults at once. Metadata rules included.
api::FieldErrors validate_create(const Context& context, json::Value object);
api::FieldErrors validate_update(const Context& context, json::Value object, json::Value old);

}  // namespace muster::admission
