#include "store/loader.h"

#include <fmt/format.h>

#include "store/background_rule.h"
#include "store/stored_version.h"

namespace muster::store {
namespace {

class Loader {
 public:
  Loader(const std::vector<ResourceName>& names, Time now, const Options& options, RecordRule rule)
      : maps_(names.size()),
        newest_(std::make_shared<Newest>(std::make_shared<const State>(kFirstRevision, maps_))),
        history_(std::make_unique<History>(names.size(), kFirstRevision, options)),
        now_(now),
        rule_(rule) {
    for (std::size_t id = 0; id < names.size(); ++id) {
      ids_.emplace(names[id].qualified(), static_cast<int>(id));
      versions_.push_back(storage_of_versions(names[id].group, names[id].plural));
    }
  }

  void take(const Record& record) {
    const auto id = ids_.find(record.resource);
    if (id == ids_.end()) {
      take_unknown(record);
    } else {
      take_known(*id, record);
    }
  }

  Result<LoadedStore> finish(const Durability::Loaded& loaded) {
    if (const std::string fault = rule_.finish(); !fault.empty())
      return fail(Code::kInternal, fault + "; `muster check` lists all that is wrong");
    if (!unknown_.empty()) {
      return fail(
          Code::kInternal,
          fmt::format("the data holds {} objects of kinds that this version of muster does not "
                      "know, the first "
                      "one is {} {}; start the version that wrote them, or delete them with it",
                      unknown_.size(), unknown_.begin()->first.first,
                      unknown_.begin()->first.second));
    }
    for (const auto& [name, id] : ids_) history_->drop_through(id, loaded.base);
    for (const Floor& floor : loaded.floors) {
      const auto id = ids_.find(floor.resource);
      if (id != ids_.end()) history_->drop_through(id->second, floor.revision);
    }
    newest_->set(std::make_shared<const State>(loaded.newest, std::move(maps_)));
    history_->trim(now_, live_bytes_);
    return LoadedStore{std::move(newest_), std::move(history_), live_bytes_};
  }

 private:
  void take_known(const std::pair<const std::string, int>& resource, const Record& record) {
    const auto& [name, id] = resource;
    const api::Resource* const storage = versions_[static_cast<std::size_t>(id)];
    auto object = std::make_shared<const Object>(
        record.ns, record.name,
        storage == nullptr ? std::string(record.text) : in_stored_version(record.text, *storage),
        record.revision);
    rule_.add(object, name);
    Event event =
        apply_change(maps_[static_cast<std::size_t>(id)],
                     record.deleted ? Write::Op::kDelete : Write::Op::kPut, std::move(object));
    if (event.previous) live_bytes_ -= memory_of(*event.previous);
    if (!record.deleted) live_bytes_ += memory_of(*event.object);
    history_->append(id, std::move(event), now_);
  }

  // A kind that this build does not serve: fine as long as nothing of it is alive.
  void take_unknown(const Record& record) {
    const auto key =
        std::make_pair(std::string(record.resource), make_path(record.ns, record.name));
    if (const auto earlier = unknown_.find(key); earlier != unknown_.end()) {
      history_->add_garbage(earlier->second);
      unknown_.erase(earlier);
    }
    if (record.deleted) {
      history_->add_garbage(record.revision);
    } else {
      unknown_.emplace(key, record.revision);
    }
  }

  std::map<std::string, int, std::less<>> ids_;
  std::vector<const api::Resource*> versions_;  // by id; of kinds of several versions
  std::vector<ObjectMap> maps_;
  std::shared_ptr<Newest> newest_;
  std::unique_ptr<History> history_;
  Time now_;
  BackgroundRule rule_;
  std::size_t live_bytes_ = 0;
  std::map<std::pair<std::string, std::string>, Revision> unknown_;
};

}  // namespace

Result<LoadedStore> load_store(Durability& disk, const std::vector<ResourceName>& names, Time now,
                               const Options& options, RecordRule rule) {
  Loader loader(names, now, options, rule);
  MUSTER_TRY(const Durability::Loaded loaded,
             disk.load([&](const Record& record) { loader.take(record); }));
  return loader.finish(loaded);
}

}  // namespace muster::store
