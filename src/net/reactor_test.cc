#include "net/reactor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace muster::net {
namespace reactor_test {

// No new descriptor can be opened while this lives; those that are open stay.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(Reactor, WithoutDescriptorsItDoesNotStart) {
  const NoDescriptors none;
  const auto started = Reactor::start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::kUnavailable);
}

TEST(Reactor, OnceStartedItNeedsNoMoreDescriptors) {
  const auto started = Reactor::start();
  ASSERT_TRUE(started);
  const NoDescriptors none;
  Timer timer(**started);
}

}  // namespace reactor_test
}  // namespace muster::net
