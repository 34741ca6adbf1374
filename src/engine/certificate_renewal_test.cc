#include "engine/certificate_renewal.h"

#include <gtest/gtest.h>

#include <optional>

#include "store/testing/temp_directory.h"

namespace muster::engine {
namespace certificate_renewal_test {

constexpr Time kBegin{std::chrono::hours(24 * 365 * 50)};

// A loop whose clock can be set, as an administrator or a time server does it.
class SettableLoop final : public Loop, public Clock {
 public:
  Time now() const override { return inner_->clock().now() + offset_; }
  const Clock& clock() const override { return *this; }
  void post(Task task) override { inner_->post(std::move(task)); }
  TimerId after(Duration delay, Task task) override {
    return inner_->after(delay, std::move(task));
  }
  void cancel(TimerId timer) override { inner_->cancel(timer); }
  void watch_readable(int, std::function<void()>) override {}
  void unwatch(int) override {}
  void run() override { inner_->run(); }
  void stop() override { inner_->stop(); }

  void set_clock(Duration by) { offset_ += by; }
  void pass(Duration span) { inner_->run_for(span); }

 private:
  std::unique_ptr<VirtualLoop> inner_ = make_virtual_loop(kBegin);
  Duration offset_{};
};

class CertificateRenewalTest : public ::testing::Test {
 protected:
  Result<Credentials> open() { return open_credentials(dir_ / "data", {"localhost"}, loop_); }
  void serve() {
    in_use_ = open().value();
    renewal_.emplace(
        loop_, in_use_,
        CertificateRenewal::Actions{.open = [this] { return open(); },
                                    .put_to_use =
                                        [this](const Credentials& fresh) {
                                          ++renewals_;
                                          if (!fault_.empty())
                                            return Status(fail(Code::kUnavailable, fault_));
                                          in_use_ = fresh;
                                          return Status();
                                        }});
  }
  // Of all three certificates that a client and the server show each other.
  bool valid_now() {
    for (const std::string& pem :
         {in_use_.ca_pem, in_use_.server.certificate_pem, in_use_.admin.certificate_pem}) {
      const net::Validity validity = net::inspect_certificate(pem)->validity;
      if (loop_.now() < validity.not_before || loop_.now() >= validity.not_after) return false;
    }
    return true;
  }

  const store::testing::TempDirectory dir_;
  SettableLoop loop_;
  Credentials in_use_;
  int renewals_ = 0;
  std::string fault_;
  std::optional<CertificateRenewal> renewal_;
};

// They are made for a year, and renewed 30 days before its end.
TEST_F(CertificateRenewalTest, AServerThatRunsForLongRenewsThemBeforeTheirEnd) {
  serve();
  const std::string authority = in_use_.ca_pem;
  for (int year = 1; year <= 3; ++year) {
    loop_.set_clock(std::chrono::days(334));
    loop_.pass(std::chrono::hours(1));
    EXPECT_EQ(renewals_, year - 1) << "they are current";
    loop_.set_clock(std::chrono::days(1));
    EXPECT_TRUE(valid_now());
    loop_.pass(std::chrono::hours(1));
    EXPECT_EQ(renewals_, year);
  }
  EXPECT_EQ(in_use_.ca_pem, authority) << "it is good for ten years";
}

TEST_F(CertificateRenewalTest, AClockThatJumpsPastTheirEndLocksNobodyOutForLong) {
  for (const auto jump : {std::chrono::days(1'000), std::chrono::days(-1'800),
                          std::chrono::days(8'000), std::chrono::days(-7'000)}) {
    serve();
    loop_.set_clock(jump);
    EXPECT_FALSE(valid_now()) << jump.count();
    loop_.pass(CertificateRenewal::kLookEvery);
    EXPECT_TRUE(valid_now()) << jump.count();
  }
}

TEST_F(CertificateRenewalTest, AFailureIsTriedAgain) {
  serve();
  loop_.set_clock(std::chrono::days(1'000));
  fault_ = "the disk is full";
  loop_.pass(2 * CertificateRenewal::kLookEvery);
  EXPECT_EQ(renewals_, 2);
  EXPECT_FALSE(valid_now());
  fault_.clear();
  loop_.pass(CertificateRenewal::kLookEvery);
  EXPECT_TRUE(valid_now());
  loop_.pass(std::chrono::hours(1));
  EXPECT_EQ(renewals_, 3) << "and then no more";
}

}  // namespace certificate_renewal_test
}  // namespace muster::engine
