#include "client/feed.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <vector>

#include "base/log.h"
#include "json/parse.h"
#include "store/selection.h"

namespace muster::client {
namespace {

// Changes that are told in one task: other tasks of the loop have their turn in between.
constexpr std::size_t kBatch = 256;

// One informer.
struct Member {
  int resource = 0;
  bool metadata_only = false;
  store::Selection selection;
  Source::Listener listener;
  bool told = false;  // it has been given the state
  bool gone = false;
};
using MemberPtr = std::shared_ptr<Member>;

// The tree of one object, read when it is first asked for.
class Content {
 public:
  explicit Content(const store::Object& object) : object_(object) {}

  // Null if these bytes are no object, which the store does not let happen.
  json::Value tree() {
    if (!arena_) {
      arena_.emplace(object_.bytes().size() * 2);
      const auto parsed = json::parse(*arena_, object_.bytes());
      if (parsed) tree_ = *parsed;
      if (!parsed) log::error("a stored object cannot be read", {{"path", object_.path()}});
    }
    return tree_;
  }

 private:
  const store::Object& object_;
  std::optional<json::Arena> arena_;
  json::Value tree_;
};

void tell_object(const Member& member, const ObjectPtr& object, Content& content) {
  const json::Value tree = member.metadata_only ? json::Value() : content.tree();
  const bool is_readable = member.metadata_only || !tree.is_null();
  if (is_readable && member.selection.matches(*object, tree))
    return member.listener.put({.object = object, .content = tree, .kept = object});
  member.listener.remove(object->path());
}

}  // namespace

class Feed::Teller : public std::enable_shared_from_this<Teller> {
 public:
  Teller(store::Store& store, Loop& loop) : store_(store), loop_(loop) {}

  void join(MemberPtr member) {
    newcomers_.push_back(std::move(member));
    schedule();
  }

  void leave(const MemberPtr& member) {
    member->gone = true;
    std::erase(newcomers_, member);
    if (!telling_) return remove_gone(member->resource);
    left_.push_back(member->resource);
  }

  store::Revision position() const { return position_; }

  void lose_track() {
    changes_ = nullptr;
    schedule();
  }

 private:
  // Any thread: the store calls it when there is something new.
  void schedule() {
    if (scheduled_.exchange(true)) return;
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->work();
    });
  }

  // While something is told informers may come, which wait for the next turn, and go.
  void work() {
    scheduled_ = false;
    telling_ = true;
    welcome(std::exchange(newcomers_, {}));
    tell_changes();
    telling_ = false;
    for (const int resource : std::exchange(left_, {})) remove_gone(resource);
  }

  void tell_changes() {
    if (members_.empty()) return;
    if (!changes_) return begin_again();
    const auto events = changes_->poll(kBatch);
    if (!events) return begin_again();
    for (const store::Event& event : *events) tell(event);
    position_ = changes_->position();
    if (!events->empty()) schedule();  // there may be more
  }

  void tell(const store::Event& event) {
    Content content(*event.object);
    for (const MemberPtr& member : members_[event.resource]) {
      if (member->gone || !member->told) continue;
      if (event.type == store::Event::Type::kDeleted) {
        member->listener.remove(event.object->path());
      } else {
        tell_object(*member, event.object, content);
      }
    }
  }

  // All that come at once are told the state of one revision: the one up to which the others have
  // been told everything. If that is forgotten, all begin again.
  void welcome(const std::vector<MemberPtr>& newcomers) {
    bool new_kinds = false;
    for (const MemberPtr& member : newcomers) {
      new_kinds |= !members_.contains(member->resource);
      members_[member->resource].push_back(member);
    }
    if (new_kinds && changes_ && !subscribe(position_)) changes_ = nullptr;
    if (!changes_) return;
    for (const MemberPtr& member : newcomers) {
      const auto state = store_.snapshot_at(member->resource, position_);
      if (!state) return changes_.reset();
      tell_state(*member, **state);
    }
  }

  // At first, and when the store has forgotten what comes next because this loop was busy for long.
  void begin_again() {
    const store::SnapshotPtr newest = store_.snapshot();
    if (!subscribe(newest->revision())) return schedule();  // forgotten just now: once more
    position_ = newest->revision();
    for (const auto& [resource, members] : members_) {
      for (const MemberPtr& member : members) tell_state(*member, *newest);
    }
    schedule();
  }

  bool subscribe(store::Revision after) {
    std::vector<int> kinds;
    for (const auto& [resource, members] : members_) kinds.push_back(resource);
    auto changes = store_.watch(std::move(kinds), after, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->schedule();
    });
    if (!changes) return false;
    changes_ = *std::move(changes);
    return true;
  }

  static void tell_state(Member& member, const store::Snapshot& state) {
    if (member.gone) return;
    member.told = true;
    member.listener.state_begins();
    state.scan(member.resource, {member.selection.ns(), "", ""}, [&](const ObjectPtr& object) {
      Content content(*object);
      if (!member.gone) tell_object(member, object, content);
      return !member.gone;
    });
    if (!member.gone) member.listener.state_ends();
  }

  void remove_gone(int resource) {
    std::erase_if(members_[resource], [](const MemberPtr& member) { return member->gone; });
  }

  store::Store& store_;
  Loop& loop_;
  std::map<int, std::vector<MemberPtr>>
      members_;  // by resource; a kind stays once it was asked for
  std::vector<MemberPtr> newcomers_;
  std::vector<int> left_;  // resources of those that went while something was told
  std::unique_ptr<store::Subscription> changes_;  // null: every member needs the state first
  store::Revision position_ = 0;
  std::atomic<bool> scheduled_ = false;
  bool telling_ = false;
};

// An informer's place in the feed.
class Feed::Seat final : public Source {
 public:
  Seat(const std::shared_ptr<Teller>& teller, MemberPtr member)
      : teller_(teller), member_(std::move(member)) {}
  ~Seat() override {
    if (const auto teller = teller_.lock()) teller->leave(member_);
  }

  store::Revision position() const override {
    const auto teller = teller_.lock();
    return teller && member_->told ? teller->position() : 0;
  }

 private:
  const std::weak_ptr<Teller> teller_;
  const MemberPtr member_;
};

Feed::Feed(store::Store& store, Loop& loop) : teller_(std::make_shared<Teller>(store, loop)) {}
Feed::~Feed() = default;

void Feed::begin_again() { teller_->lose_track(); }

std::unique_ptr<Source> Feed::open(const api::Resource& resource, const ListOptions& options,
                                   Source::Listener listener) {
  auto selection = store::Selection::parse(resource, options.ns, "", options.label_selector,
                                           options.field_selector);
  MUSTER_ASSERT(selection.has_value(),
                "informers of this process ask with selectors that are sound");
  auto member = std::make_shared<Member>(Member{.resource = resource.id,
                                                .metadata_only = options.metadata_only,
                                                .selection = *std::move(selection),
                                                .listener = std::move(listener)});
  teller_->join(member);
  return std::make_unique<Seat>(teller_, std::move(member));
}

}  // namespace muster::client
