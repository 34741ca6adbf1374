// DELETE of a collection: not atomic, like upstream's. Answers the list as it was before.
#include "server/delete_plan.h"
#include "server/errors.h"
#include "server/fresh.h"
#include "server/handlers.h"
#include "store/selection.h"

namespace muster::server {
namespace {

// Deletes under way at once. Enough to fill the store's groups, few enough to leave room for
// others.
constexpr std::size_t kMaxUnderWay = 64;

class CollectionDelete : public std::enable_shared_from_this<CollectionDelete> {
 public:
  CollectionDelete(CallPtr call, DeleteOptions options, std::vector<store::ObjectPtr> items,
                   store::Revision revision)
      : call_(std::move(call)),
        options_(std::move(options)),
        items_(std::move(items)),
        revision_(revision) {}

  // A delete that needs no write ends before start() returns and calls this again: the loop that
  // runs already goes on then, so that the depth of the stack does not grow with the collection.
  void go_on() {
    if (std::exchange(looping_, true)) return;
    while (next_ < items_.size() && under_way_ < kMaxUnderWay && !failure_) start(*items_[next_++]);
    looping_ = false;
    if (under_way_ == 0 && !std::exchange(answered_, true)) answer();
  }

 private:
  void start(const store::Object& item) {
    ++under_way_;
    const api::Resource& resource = *call_->resource;
    carry_out(
        call_,
        [&resource, target = DeleteTarget{item.meta().ns, item.meta().name, nullptr},
         options = options_](Attempt& attempt) {
          return plan_delete(attempt, resource, target, options);
        },
        [self = shared_from_this()](const Result<Outcome>& outcome, const store::ObjectPtr&) {
          --self->under_way_;
          if (!outcome && outcome.error().code != Code::kNotFound && !self->failure_)
            self->failure_ = outcome.error();
          self->go_on();
        });
  }

  void answer() {
    if (failure_) return call_->answer_error(*failure_);
    const Result<Renderer> renderer = make_renderer(*call_);
    if (!renderer) return call_->answer_error(renderer.error());
    call_->answer_json(
        200,
        renderer->list(items_, {.revision = revision_, .continue_token = {}, .remaining = {}}));
  }

  const CallPtr call_;
  const DeleteOptions options_;
  const std::vector<store::ObjectPtr> items_;
  const store::Revision revision_;
  std::size_t next_ = 0;
  std::size_t under_way_ = 0;
  bool looping_ = false;
  bool answered_ = false;
  std::optional<Error> failure_;
};

Result<std::shared_ptr<CollectionDelete>> plan_collection(const CallPtr& call) {
  json::Arena arena;
  MUSTER_TRY(const DeleteOptions options,
             parse_delete_options(arena, call->request(), call->info.query, call->core->registry));
  MUSTER_TRY(const ListOptions wanted, parse_list_options(call->info.query, false));
  if (!wanted.resource_version.empty()) {
    if (const auto version = parse_version(wanted.resource_version); !version)
      return std::unexpected(invalid_list_version(wanted.resource_version, version.error()));
  }
  const api::Resource& resource = *call->resource;
  MUSTER_TRY(const store::Selection selection,
             store::Selection::parse(resource, call->ns(), "", wanted.label_selector,
                                     wanted.field_selector));
  std::vector<store::ObjectPtr> items;
  const store::SnapshotPtr snapshot = call->core->store.snapshot();
  const auto limit = wanted.limit > 0 ? static_cast<std::size_t>(wanted.limit) : SIZE_MAX;
  snapshot->scan(resource.id, {call->ns(), "", ""}, [&](const store::ObjectPtr& object) {
    if (selection.matches(*object)) items.push_back(object);
    return items.size() < limit;
  });
  return std::make_shared<CollectionDelete>(call, options, std::move(items), snapshot->revision());
}

}  // namespace

void delete_collection(const CallPtr& call) {
  const Result<std::shared_ptr<CollectionDelete>> work = plan_collection(call);
  if (!work) return call->answer_error(work.error());
  (*work)->go_on();
}

}  // namespace muster::server
