// Informers over the feed of a store: one order for all kinds, the stored objects themselves.
#include "client/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/metrics.h"
#include "client/informer.h"
#include "client/leader_transport.h"
#include "store/durability.h"

namespace muster::client {
namespace feed_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FeedTest : public ::testing::Test {
 protected:
  FeedTest() {
    store::Options options{.commit_inline = true};
    options.history_age = Duration::zero();
    options.history_events = kHistory;
    auto opened = store::Store::open(store::make_memory_durability(), registry_, loop_->clock(),
                                     metrics_, options);
    MUSTER_ASSERT(opened.has_value(), "a store in memory opens");
    store_ = *std::move(opened);
    transport_ = make_in_process_transport(
        *loop_, [](const auto&) { FAIL() << "the feed needs no requests"; }, store_.get());
    client_ = std::make_unique<Client>(*transport_, "test");
  }

  static constexpr std::size_t kHistory = 1'000;

  // An informer whose changes are noted, with those of all others, in one list.
  std::unique_ptr<Informer> informer(const api::Resource& resource, ListOptions options = {}) {
    auto made = std::make_unique<Informer>(*client_, resource, std::move(options));
    Informer& told = *made;
    made->on_change([this, &told](const ObjectPtr& before, const ObjectPtr& after) {
      const char sign = !before ? '+' : !after ? '-' : '~';
      changes_.push_back(sign + told.resource().plural + "/" +
                         (after ? after : before)->meta().name);
    });
    return made;
  }

  store::Revision put(const api::Resource& resource, const std::string& name,
                      const std::string& more = "", store::Revision expected = 0) {
    return write(store::Write::Op::kPut, resource, name, more, expected);
  }
  void remove(const api::Resource& resource, const std::string& name, store::Revision expected) {
    write(store::Write::Op::kDelete, resource, name, "", expected);
  }
  store::Revision write(store::Write::Op op, const api::Resource& resource, const std::string& name,
                        const std::string& more, store::Revision expected) {
    store::Revision revision = 0;
    store_->submit({.op = op,
                    .key = {resource.id, "d", name},
                    .expected = expected,
                    .head = R"({"metadata":{"name":")" + name + R"(","namespace":"d",)" + more +
                            R"("resourceVersion":")",
                    .tail = R"("}})"},
                   [&](Result<ObjectPtr> written) {
                     ASSERT_TRUE(written) << written.error().message;
                     revision = (*written)->revision();
                   });
    return revision;
  }
  void settle() { loop_->run_for(Duration::zero()); }
  std::vector<std::string> changes() {
    settle();
    return std::exchange(changes_, {});
  }

  const api::Registry& registry_ = api::Registry::builtin();
  const api::Resource& pods_ = *registry_.find("", "v1", "pods");
  const api::Resource& jobs_ = *registry_.find("batch", "v1", "jobs");
  const api::Resource& maps_ = *registry_.find("", "v1", "configmaps");
  Metrics metrics_;
  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(Time{});
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Client> client_;
  std::vector<std::string> changes_;
};

TEST_F(FeedTest, TellsTheStateAndThenEveryChange) {
  const auto first = put(pods_, "a");
  const auto pods = informer(pods_);
  pods->start();
  EXPECT_FALSE(pods->synced());
  EXPECT_EQ(pods->position(), 0u);
  EXPECT_THAT(changes(), ElementsAre("+pods/a"));
  EXPECT_TRUE(pods->synced());
  EXPECT_EQ(pods->position(), first);
  const auto second = put(pods_, "a", R"("labels":{"x":"1"},)", first);
  remove(pods_, "a", second);
  EXPECT_THAT(changes(), ElementsAre("~pods/a", "-pods/a"));
  EXPECT_EQ(pods->position(), second + 1);
  EXPECT_EQ(pods->find("d", "a"), nullptr);
}

TEST_F(FeedTest, AllKindsComeInTheOrderOfTheirRevisions) {
  const auto pods = informer(pods_), jobs = informer(jobs_);
  pods->start();
  jobs->start();
  settle();
  const auto job = put(jobs_, "j");
  put(pods_, "a");
  put(jobs_, "j", R"("labels":{"x":"1"},)", job);
  put(pods_, "b");
  EXPECT_THAT(changes(), ElementsAre("+jobs/j", "+pods/a", "~jobs/j", "+pods/b"));
}

// A later kind's write is seen by every informer that has not heard of anything for itself.
TEST_F(FeedTest, ThePositionIsThatOfAllKinds) {
  const auto pods = informer(pods_), jobs = informer(jobs_);
  pods->start();
  jobs->start();
  settle();
  const auto revision = put(jobs_, "j");
  settle();
  EXPECT_EQ(pods->position(), revision);
  EXPECT_EQ(jobs->position(), revision);
}

TEST_F(FeedTest, HandsOutTheStoredObjectsThemselves) {
  put(pods_, "a", R"("managedFields":[],)");
  const auto pods = informer(pods_);
  pods->forget_content();  // there is no copy that could be made smaller
  pods->start();
  settle();
  EXPECT_EQ(pods->find("d", "a"), store_->snapshot()->get({pods_.id, "d", "a"}));
}

TEST_F(FeedTest, TheTreeIsReadOnceForAllInformersOfAKind) {
  std::vector<const char*> seen;  // where the text of the name lies
  const auto one = informer(pods_), other = informer(pods_);
  for (const auto& each : {one.get(), other.get()}) {
    each->on_change([&seen, each](const auto&, const auto&) {
      seen.push_back(each->content().get({"metadata", "name"}).as_string().data());
    });
    each->start();
  }
  settle();
  put(pods_, "a");
  settle();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_TRUE(one->content().is_null()) << "it lives until the change has been told";
}

TEST_F(FeedTest, InformersThatComeTogetherSeeOneState) {
  put(jobs_, "j");
  put(pods_, "a");
  const auto pods = informer(pods_), jobs = informer(jobs_);
  pods->start();
  jobs->start();
  bool both = false;
  pods->on_synced([&] { put(jobs_, "later"); });
  jobs->on_synced([&] { both = jobs->find("d", "later") == nullptr; });
  settle();
  EXPECT_TRUE(both) << "what was written while the state was told is a change, of all kinds";
  EXPECT_THAT(changes(), ElementsAre("+pods/a", "+jobs/j", "+jobs/later"));
}

TEST_F(FeedTest, OneThatComesLaterIsToldTheStateThatTheOthersKnow) {
  const auto pods = informer(pods_);
  pods->start();
  put(pods_, "a");
  settle();
  changes_.clear();
  put(jobs_, "j");
  const auto jobs = informer(jobs_), more = informer(pods_);
  jobs->start();
  more->start();
  put(pods_, "b");
  // The state is that before j: both are then told j and b in their order.
  EXPECT_THAT(changes(), ElementsAre("+pods/a", "+jobs/j", "+pods/b", "+pods/b"));
  EXPECT_TRUE(jobs->synced());
}

TEST_F(FeedTest, SelectorsLetObjectsComeAndGo) {
  const auto pods = informer(pods_, {.label_selector = "x=1"});
  pods->start();
  auto at = put(pods_, "a", R"("labels":{"x":"1"},)");
  put(pods_, "b", R"("labels":{"x":"2"},)");
  EXPECT_THAT(changes(), ElementsAre("+pods/a"));
  at = put(pods_, "a", R"("labels":{"x":"2"},)", at);
  EXPECT_THAT(changes(), ElementsAre("-pods/a"));
  at = put(pods_, "a", R"("labels":{"x":"1"},)", at);
  EXPECT_THAT(changes(), ElementsAre("+pods/a"));

  const auto by_name = informer(maps_, {.ns = "d", .field_selector = "metadata.name=m"});
  by_name->start();
  put(maps_, "m");
  put(maps_, "n");
  EXPECT_THAT(changes(), ElementsAre("+configmaps/m"));
  const auto elsewhere = informer(maps_, {.ns = "other"});
  elsewhere->start();
  EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(FeedTest, MetadataAloneAreNotParsed) {
  const auto pods = informer(pods_, {.metadata_only = true});
  bool has_tree = true;
  pods->on_change([&](const auto&, const auto&) { has_tree = !pods->content().is_null(); });
  pods->start();
  put(pods_, "a");
  settle();
  EXPECT_FALSE(has_tree);
}

// As after a long sleep of this loop: the differences are told.
TEST_F(FeedTest, WhenTheHistoryIsGoneItBeginsAgain) {
  const auto pods = informer(pods_);
  pods->start();
  auto kept = put(pods_, "kept");
  const auto gone = put(pods_, "gone");
  settle();
  changes_.clear();
  remove(pods_, "gone", gone);
  for (std::size_t i = 0; i < 2 * kHistory; ++i) kept = put(pods_, "kept", "", kept);
  put(pods_, "new");
  store_->compact();
  EXPECT_THAT(changes(), ElementsAre("~pods/kept", "+pods/new", "-pods/gone"));
  EXPECT_EQ(pods->position(), store_->snapshot()->revision());
}

TEST_F(FeedTest, InformersMayComeAndGoWhileAChangeIsTold) {
  auto first = informer(pods_);
  auto second = informer(pods_);
  std::unique_ptr<Informer> third;
  first->on_change([&](const auto&, const auto& after) {
    if (!after || after->meta().name != "b") return;
    second = nullptr;
    third = informer(pods_);
    third->start();
  });
  first->start();
  second->start();
  put(pods_, "a");
  EXPECT_THAT(changes(), ElementsAre("+pods/a", "+pods/a"));
  put(pods_, "b");
  EXPECT_THAT(changes(), ElementsAre("+pods/b", "+pods/a", "+pods/b"));
  put(pods_, "c");
  EXPECT_THAT(changes(), ElementsAre("+pods/c", "+pods/c"));
}

// More changes than one task tells: the rest comes in the next ones, in order.
TEST_F(FeedTest, ManyChangesAreToldInPieces) {
  const auto pods = informer(pods_), jobs = informer(jobs_);
  pods->start();
  jobs->start();
  settle();
  std::vector<std::string> expected;
  for (int i = 0; i < 900; ++i) {
    const auto& kind = i % 3 == 0 ? jobs_ : pods_;
    put(kind, std::to_string(i));
    expected.push_back("+" + kind.plural + "/" + std::to_string(i));
  }
  EXPECT_EQ(changes(), expected);
}

TEST_F(FeedTest, ALeaderReadsItToo) {
  const LeaderElection election(*client_, registry_, {.identity = "a"}, [] {}, [] {});
  const auto transport = make_leader_transport(*transport_, election);
  EXPECT_NE(transport->feed(), nullptr);
  EXPECT_EQ(transport->feed(), transport_->feed());
}

}  // namespace feed_test
}  // namespace muster::client
