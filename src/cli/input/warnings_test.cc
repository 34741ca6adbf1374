#include "cli/input/warnings.h"

#include <gtest/gtest.h>

#include "base/metrics.h"
#include "store/durability.h"
#include "store/store.h"

namespace muster::cli {
namespace warnings_test {

// Without it informers behind this transport would list and watch beside the feed of their process.
TEST(WarningTransport, InformersBehindItReadTheFeedOfTheTransport) {
  const auto loop = make_virtual_loop(Time{});
  Metrics metrics;
  const auto store = store::Store::open(store::make_memory_durability(), api::Registry::builtin(),
                                        loop->clock(), metrics, {.commit_inline = true});
  ASSERT_TRUE(store);
  const auto inner = client::make_in_process_transport(
      *loop, [](std::shared_ptr<http::Exchange>) {}, store->get());
  WarningTransport transport(*inner, [](std::string_view) {});
  ASSERT_NE(inner->feed(), nullptr);
  EXPECT_EQ(transport.feed(), inner->feed());
}

}  // namespace warnings_test
}  // namespace muster::cli
