// get and list (spec: apimachinery 4.1, 4.2).
#include "server/continue_token.h"
#include "server/errors.h"
#include "server/fresh.h"
#include "server/handlers.h"
#include "server/options.h"
#include "server/render.h"
#include "store/selection.h"

namespace muster::server {
namespace {

void get_now(const CallPtr& call) {
  const api::Resource& resource = *call->resource;
  const store::ObjectPtr object =
      call->core->store.snapshot()->get({resource.id, std::string(call->ns()), call->info.name});
  if (object == nullptr) return call->answer_error(not_found(resource, call->info.name));
  const Result<Renderer> renderer = make_renderer(*call);
  if (!renderer) return call->answer_error(renderer.error());
  std::vector<http::Chunk> body;
  body.push_back(renderer->object(object));
  body.push_back(http::Chunk::literal("\n"));
  call->answer_json(200, std::move(body));
}

// --- list ---

struct ListPlan {
  ListOptions options;
  store::Selection selection;
  ListScope scope = ListScope::kCluster;
  store::Revision at_least = 0;
  store::Revision exactly = 0;  // 0: the newest
  std::size_t limit = 0;        // 0: all
  ContinueToken after;
};

// Which version the request wants to see (the table of 4.1).
Status choose_version(ListPlan& plan) {
  const ListOptions& options = plan.options;
  if (options.resource_version.empty()) return {};
  const Result<std::uint64_t> version = parse_version(options.resource_version);
  if (!version)
    return std::unexpected(invalid_list_version(options.resource_version, version.error()));
  if (*version == 0) {
    plan.limit = 0;  // upstream serves this from its cache, whole
    return {};
  }
  plan.at_least = *version;
  if (options.match == "Exact" || (options.match.empty() && plan.limit > 0))
    plan.exactly = *version;
  return {};
}

Status take_continue(ListPlan& plan) {
  const ListOptions& options = plan.options;
  if (!options.resource_version.empty() && options.resource_version != "0") {
    return std::unexpected(
        bad_request("specifying resource version is not allowed when using continue"));
  }
  Result<ContinueToken> token = decode_continue(options.continue_token, plan.scope);
  if (!token)
    return std::unexpected(bad_request("invalid continue token: " + token.error().message));
  plan.after = *std::move(token);
  plan.exactly = plan.after.revision;
  return {};
}

Result<ListPlan> plan_list(const Call& call) {
  const api::Resource& resource = *call.resource;
  ListPlan plan;
  MUSTER_TRY(plan.options, parse_list_options(call.info.query, false));
  MUSTER_TRY(plan.selection,
             store::Selection::parse(resource, call.ns(), call.info.name,
                                     plan.options.label_selector, plan.options.field_selector));
  if (resource.namespaced)
    plan.scope = call.ns().empty() ? ListScope::kAllNamespaces : ListScope::kNamespace;
  if (plan.options.limit > 0) plan.limit = static_cast<std::size_t>(plan.options.limit);
  if (!plan.options.continue_token.empty()) {
    MUSTER_CHECK(take_continue(plan));
  } else {
    MUSTER_CHECK(choose_version(plan));
  }
  return plan;
}

struct Page {
  std::vector<store::ObjectPtr> items;
  bool more = false;
  std::size_t remaining = 0;
};

// The objects after plan.after. With a limit it goes on past the page to count what remains.
Page read_page(const store::Snapshot& snapshot, const ListPlan& plan,
               const api::Resource& resource) {
  Page page;
  const std::string& ns = plan.selection.ns();
  const store::Snapshot::Range range{ns, plan.scope == ListScope::kNamespace ? ns : plan.after.ns,
                                     plan.after.name};
  const bool first_page = plan.after.name.empty();
  const bool all = plan.selection.selects_all();
  snapshot.scan(resource.id, range, [&](const store::ObjectPtr& object) {
    if (plan.limit > 0 && page.items.size() == plan.limit) {
      page.more = true;
      ++page.remaining;
      return all && !first_page;  // only then is counting needed
    }
    if (all || plan.selection.matches(*object)) page.items.push_back(object);
    return true;
  });
  if (page.more && first_page && all)
    page.remaining = snapshot.count(resource.id, ns) - page.items.size();
  return page;
}

Result<store::SnapshotPtr> snapshot_for(const Call& call, const ListPlan& plan) {
  const store::SnapshotPtr newest = call.core->store.snapshot();
  if (plan.exactly == 0 || plan.exactly == newest->revision()) return newest;
  return call.core->store.snapshot_at(call.resource->id, plan.exactly);
}

void answer_expired(const CallPtr& call, const ListPlan& plan) {
  if (plan.options.continue_token.empty()) {
    return call->answer_error({.code = Code::kExpired,
                               .message = "The resourceVersion for the provided list is too old."});
  }
  const Error error{.code = Code::kExpired,
                    .message =
                        "The provided continue parameter is too old to display a consistent list "
                        "result. You can start a new list "
                        "without the continue parameter, or use the continue token in this "
                        "response to retrieve the remainder of "
                        "the results. Continuing with the provided token results in an "
                        "inconsistent list - objects that were "
                        "created, modified, or deleted between the time the first chunk was "
                        "returned and now may show up in the "
                        "list."};
  const ContinueToken inconsistent{0, plan.after.ns, plan.after.name};
  call->answer_error(error, encode_continue(inconsistent, plan.scope));
}

void list_now(const CallPtr& call, const ListPlan& plan) {
  const Result<store::SnapshotPtr> snapshot = snapshot_for(*call, plan);
  if (!snapshot && snapshot.error().code == Code::kExpired) return answer_expired(call, plan);
  if (!snapshot) return call->answer_error(snapshot.error());
  const Result<Renderer> renderer = make_renderer(*call);
  if (!renderer) return call->answer_error(renderer.error());
  const Page page = read_page(**snapshot, plan, *call->resource);
  ListMeta meta{.revision = plan.exactly != 0 ? plan.exactly : (*snapshot)->revision(),
                .continue_token = {},
                .remaining = {}};
  if (page.more) {
    const api::Meta& last = page.items.back()->meta();
    meta.continue_token = encode_continue({meta.revision, last.ns, last.name}, plan.scope);
    if (plan.selection.selects_all()) meta.remaining = page.remaining;
  }
  call->answer_json(200, renderer->list(page.items, meta));
}

}  // namespace

void get_object(const CallPtr& call) {
  const std::string_view wanted = call->info.query.get("resourceVersion");
  if (wanted.empty() || wanted == "0") return get_now(call);
  const Result<std::uint64_t> version = parse_version(wanted);
  if (!version) return call->answer_error(invalid_version(wanted, version.error()));
  when_reached(call, *version, [call] { get_now(call); });
}

void list_objects(const CallPtr& call) {
  Result<ListPlan> plan = plan_list(*call);
  if (!plan) return call->answer_error(plan.error());
  const store::Revision wanted = plan->at_least;
  when_reached(call, wanted, [call, plan = *std::move(plan)] { list_now(call, plan); });
}

}  // namespace muster::server
