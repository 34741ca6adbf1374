#include "net/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::net {
namespace certificates_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

const Validity kYear{Time(std::chrono::seconds(1'800'000'000)),
                     Time(std::chrono::seconds(1'831'536'000))};

KeyPair authority() { return make_authority({"muster-ca", {}}, kYear).value(); }

TEST(Certificates, AServerCertificateSaysWhatItWasMadeOf) {
  const KeyPair pair = make_server_certificate(authority(), {"muster", {"system"}},
                                               {"LocalHost", "127.0.0.1", "::1"}, kYear)
                           .value();
  const CertificateInfo info = inspect_certificate(pair.certificate_pem).value();
  EXPECT_EQ(info.subject.common_name, "muster");
  EXPECT_THAT(info.subject.organizations, ElementsAre("system"));
  EXPECT_THAT(info.names, ElementsAre("localhost", "127.0.0.1", "::1"));
  EXPECT_EQ(info.validity.not_before, kYear.not_before);
  EXPECT_EQ(info.validity.not_after, kYear.not_after);
  EXPECT_THAT(info.sha256, MatchesRegex("[0-9a-f]{64}"));
}

TEST(Certificates, CoversComparesNamesWithoutCaseAndAddressesByValue) {
  const CertificateInfo info =
      inspect_certificate(make_server_certificate(authority(), {"muster", {}},
                                                  {"node", "10.0.0.1", "fd00::1"}, kYear)
                              .value()
                              .certificate_pem)
          .value();
  EXPECT_TRUE(covers(info, {}));
  EXPECT_TRUE(covers(info, {"NODE", "10.0.0.1", "fd00:0::0:1"}));
  EXPECT_FALSE(covers(info, {"node", "10.0.0.2"}));
  EXPECT_FALSE(covers(info, {"other"}));
}

TEST(Certificates, AClientCertificateCarriesUserAndGroups) {
  const KeyPair pair =
      make_client_certificate(authority(), {"alice", {"admins", "dev"}}, kYear).value();
  const CertificateInfo info = inspect_certificate(pair.certificate_pem).value();
  EXPECT_EQ(info.subject.common_name, "alice");
  EXPECT_THAT(info.subject.organizations, ElementsAre("admins", "dev"));
  EXPECT_TRUE(info.names.empty());
}

TEST(Certificates, CheckKeyPairTellsStrangersApart) {
  const KeyPair ours = authority();
  const KeyPair theirs = authority();
  const KeyPair pair = make_client_certificate(ours, {"alice", {}}, kYear).value();
  const KeyPair other = make_client_certificate(ours, {"alice", {}}, kYear).value();
  EXPECT_TRUE(check_key_pair(pair, ours.certificate_pem).has_value());
  EXPECT_THAT(check_key_pair(pair, theirs.certificate_pem).error().message,
              HasSubstr("not issued by this authority"));
  EXPECT_THAT(check_key_pair({pair.certificate_pem, other.private_key_pem}, ours.certificate_pem)
                  .error()
                  .message,
              HasSubstr("does not belong to the certificate"));
}

TEST(Certificates, UnreadableTextIsAnErrorAndNotACrash) {
  const std::string good = authority().certificate_pem;
  for (const std::string& text :
       {std::string(), std::string("hello"), good.substr(0, good.size() / 2),
        good + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
    EXPECT_FALSE(inspect_certificate(text).has_value()) << text;
  }
  EXPECT_FALSE(make_client_certificate({good, "no key"}, {"alice", {}}, kYear).has_value());
  EXPECT_FALSE(make_authority({"", {}}, kYear).has_value());
}

TEST(Secrets, TokensAreLongAndNeverTheSame) {
  const std::string token = random_token();
  EXPECT_THAT(token, MatchesRegex("[A-Za-z0-9_-]{43}"));
  EXPECT_NE(token, random_token());
}

// RFC 4231, test case 2.
TEST(Hmac, IsTheStandardOne) {
  const std::string mac = hmac_sha256("Jefe", "what do ya want for nothing?");
  std::string hex;
  for (const char c : mac) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  EXPECT_EQ(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace certificates_test
}  // namespace muster::net
