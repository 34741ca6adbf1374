// What a controller decided: data, printable, without any effect of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/views/meta.h"
#include "base/time.h"
#include "client/client.h"
#include "json/value.h"

namespace muster::controllers {

struct ObjectRef {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string field_path = {};  // the part that is meant: spec.containers{main}
};
ObjectRef ref_of(const api::Meta& meta, std::string_view api_version, std::string_view kind);
ObjectRef ref_of(json::Value object, std::string_view api_version, std::string_view kind);

// Something that people should be told about an object (kubectl describe, kubectl get events).
struct Event {
  ObjectRef regarding;
  bool warning = false;
  std::string reason;
  std::string message;
  std::string action = "Reconciling";  // what was being done; told in the form kSeries only
};

// Names one decision of an InFlight (in_flight.h).
using DecisionId = std::uint64_t;

struct Write {
  client::Operation operation;
  bool may_exist = false;  // a create: an object of that name, whoever made it, will do
  // Told when this write has succeeded. `{}` in its message stands for the name in the answer.
  std::optional<Event> when_done = {};
  // Told if it was refused. `{}` in its message stands for the error.
  std::optional<Event> when_refused = {};
  std::string refusal = "{}";  // how to word it in its step's refusals; `{}` stands for the error
  DecisionId decision = 0;     // that it carries out; 0: none that anybody keeps track of
};

// Writes that go out together, in any order. A step begins when all of the step before succeeded.
struct Step {
  std::vector<Write> writes;
  // Told if some were refused. `{}` in its message stands for the refusals, one per line.
  std::optional<Event> when_refused = {};
};

struct Plan {
  std::vector<Step> steps;
  std::vector<Event> events;           // told when every step succeeded
  std::optional<Duration> look_again;  // even if nothing changes until then
  // Nobody waits for it: carried out only after so long, as it looks then; a busy runner takes a
  // few times as long.
  std::optional<Duration> may_wait;
  std::string reason;  // why, for the decision log
  // What makes it impossible to go on; the pass counts as failed and is repeated with back-off.
  std::string error;

  // Adds a write to the last step, or in a new one.
  void write(Write write);
  void then(Write write) { steps.push_back({.writes = {std::move(write)}}); }

  bool has_writes() const;
  std::vector<client::Operation> operations() const;  // of all steps, in their order
  std::string text() const;
};

}  // namespace muster::controllers
