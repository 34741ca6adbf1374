#include "engine/certificate_renewal.h"

#include <gtest/gtest.h>

#include <optional>

#include "store/testing/temp_directory.h"

namespace muster::engine {
namespace certificate_renewal_test {

constexpr Time kBegin{std::chrono::hours(24 * 365 * 50)};

class CertificateRenewalTest : public ::testing::Test {
 protected:
  Result<Credentials> open() {
    return open_credentials(dir_ / "data", {"localhost"}, loop_->clock());
  }
  void serve() {
    in_use_ = open().value();
    renewal_.emplace(
        *loop_, in_use_,
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
    const Time now = loop_->clock().now();
    for (const std::string& pem :
         {in_use_.ca_pem, in_use_.server.certificate_pem, in_use_.admin.certificate_pem}) {
      const net::Validity validity = net::inspect_certificate(pem)->validity;
      if (now < validity.not_before || now >= validity.not_after) return false;
    }
    return true;
  }

  const store::testing::TempDirectory dir_;
  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(kBegin);
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
    loop_->set_clock(std::chrono::days(334));
    loop_->run_for(std::chrono::hours(1));
    EXPECT_EQ(renewals_, year - 1) << "they are current";
    loop_->set_clock(std::chrono::days(1));
    EXPECT_TRUE(valid_now());
    loop_->run_for(std::chrono::hours(1));
    EXPECT_EQ(renewals_, year);
  }
  EXPECT_EQ(in_use_.ca_pem, authority) << "it is good for ten years";
}

TEST_F(CertificateRenewalTest, AClockThatJumpsPastTheirEndLocksNobodyOutForLong) {
  for (const auto jump : {std::chrono::days(1'000), std::chrono::days(-1'800),
                          std::chrono::days(8'000), std::chrono::days(-7'000)}) {
    serve();
    loop_->set_clock(jump);
    EXPECT_FALSE(valid_now()) << jump.count();
    loop_->run_for(CertificateRenewal::kLookEvery);
    EXPECT_TRUE(valid_now()) << jump.count();
  }
}

TEST_F(CertificateRenewalTest, AFailureIsTriedAgain) {
  serve();
  loop_->set_clock(std::chrono::days(1'000));
  fault_ = "the disk is full";
  loop_->run_for(2 * CertificateRenewal::kLookEvery);
  EXPECT_EQ(renewals_, 2);
  EXPECT_FALSE(valid_now());
  fault_.clear();
  loop_->run_for(CertificateRenewal::kLookEvery);
  EXPECT_TRUE(valid_now());
  loop_->run_for(std::chrono::hours(1));
  EXPECT_EQ(renewals_, 3) << "and then no more";
}

}  // namespace certificate_renewal_test
}  // namespace muster::engine
