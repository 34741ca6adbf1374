// How stored objects look in an answer: as they are, in another version, as partial metadata, as
// rows of a Table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/registry.h"
#include "base/http.h"
#include "base/result.h"
#include "json/value.h"
#include "server/media_type.h"
#include "store/store.h"

namespace muster::server {

enum class IncludeObject : std::uint8_t { kMetadata, kNone, kObject };
// kBadRequest in upstream's words.
Result<IncludeObject> parse_include_object(std::string_view text);

struct ListMeta {
  store::Revision revision = 0;
  std::string continue_token;
  std::optional<std::size_t> remaining;
};

class Renderer {
 public:
  Renderer(const api::Resource& resource, const Accepted& accepted, IncludeObject include, Time now)
      : resource_(&resource),
        shape_(accepted.shape),
        meta_version_(accepted.meta_version),
        include_(include),
        now_(now) {}

  // The text of one object, without an end of line. Where nothing has to be changed the stored
  // bytes themselves.
  http::Chunk object(const store::ObjectPtr& object) const;
  std::vector<http::Chunk> list(const std::vector<store::ObjectPtr>& items,
                                const ListMeta& meta) const;
  // {"type":…,"object":…} and an end of line. `first` says that Table columns have not been sent
  // yet.
  std::vector<http::Chunk> event(std::string_view type, const store::ObjectPtr& object,
                                 bool first) const;

  // An object of the kind that carries nothing but a version (and the annotation that ends initial
  // events).
  store::ObjectPtr bookmark(store::Revision revision, bool ends_initial_events) const;

 private:
  http::Chunk as_is(const store::ObjectPtr& object) const;
  std::string partial(const store::Object& object) const;
  std::string table(const std::vector<store::ObjectPtr>& items, const ListMeta& meta,
                    bool columns) const;
  std::string row_object(const store::ObjectPtr& object) const;

  const api::Resource* resource_;
  Shape shape_;
  std::string meta_version_;
  IncludeObject include_;
  Time now_;
};

// A stored object as a tree in the version of the resource.
json::Value tree_of(json::Arena& arena, const store::Object& object, const api::Resource& resource);
// The object with another resourceVersion in its text.
store::ObjectPtr with_revision(const store::Object& object, const api::Resource& resource,
                               store::Revision revision);

}  // namespace muster::server
