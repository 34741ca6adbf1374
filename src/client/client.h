// Objects of an API server, asynchronously. Used on the transport's loop; replies come there too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/schema/registry.h"
#include "base/result.h"
#include "base/rng.h"
#include "client/transport.h"
#include "client/written.h"
#include "json/document.h"

namespace muster::client {

enum class Verb : std::uint8_t { kCreate, kUpdate, kPatch, kDelete };
enum class PatchType : std::uint8_t { kJson, kMerge, kStrategic, kApply };

// The JSON that a write sends. A tree is handed over as it is to a server in this process, and
// becomes text for any other.
class Body {
 public:
  Body() = default;
  Body(std::string text) : text_(std::move(text)) {}
  Body(const char* text) : text_(text) {}
  // Of a copy: the caller's tree may go.
  Body(json::Value tree) : tree_(json::Document::of(tree)) {}

  bool empty() const { return tree_ == nullptr && text_.empty(); }
  std::string text() const;
  void put_into(http::Request& request) const;

 private:
  std::string text_;
  json::DocumentPtr tree_;
};

// One write, as data: a plan is a list of these, a log can print it, a test can compare it.
struct Operation {
  Verb verb = Verb::kCreate;
  const api::Resource* resource = nullptr;
  std::string ns;           // empty for cluster-scoped kinds
  std::string name;         // empty for a create
  std::string subresource;  // status, binding …
  Body body;                // the object, the patch, the DeleteOptions (may be empty)
  PatchType patch_type = PatchType::kMerge;
  bool force = false;   // kApply: take fields from other managers
  bool strict = false;  // unknown and duplicate fields are errors

  std::string summary() const;  // "create jobs.batch default/train-workers-0"
};

struct ListOptions {
  std::string ns;  // empty: all namespaces
  // Objects without spec and status (PartialObjectMetadata): for those who look at all kinds.
  bool metadata_only = false;
  std::string label_selector;
  std::string field_selector;
};

class Client {
 public:
  // `manager` is the User-Agent and the field manager of every write; `rng` spreads retries.
  Client(Transport& transport, std::string manager, Rng rng = Rng::from_system())
      : transport_(transport), manager_(std::move(manager)), rng_(rng) {}

  // The answer's body: an object, a list or a Status. An answer other than 2xx is an Error with the
  // Status' own reason, message and details.
  using Reply = std::move_only_function<void(Result<std::string>)>;
  void get(const api::Resource& resource, std::string_view ns, std::string_view name, Reply reply);
  void list(const api::Resource& resource, const ListOptions& options, Reply reply);
  // The same for writes, whose answer need not become text.
  using WriteReply = std::move_only_function<void(Result<Written>)>;
  void write(const Operation& operation, WriteReply reply);
  void raw_get(std::string target, Reply reply);

  // A watch or a log, as it comes.
  std::unique_ptr<Transport::Stream> stream(std::string target, Transport::StreamEvents events,
                                            bool metadata_only = false);

  Loop& loop() { return transport_.loop(); }
  Feed* feed() { return transport_.feed(); }
  Rng& rng() { return rng_; }

 private:
  http::Request request(std::string method, std::string target) const;
  void send(http::Request request, WriteReply reply);

  Transport& transport_;
  std::string manager_;
  Rng rng_;
};

// /apis/batch/v1/namespaces/default/jobs/x/status; parts that are empty are left out.
std::string url_path(const api::Resource& resource, std::string_view ns, std::string_view name = {},
                     std::string_view subresource = {});
std::string url_escape(std::string_view text);

// A Status body as the Error that it stands for.
Error error_of_status(int http_status, std::string_view body);

}  // namespace muster::client
