// Certificates and secrets: a small authority on P-256 keys, PEM text in and out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace muster::net {

struct KeyPair {
  std::string certificate_pem;
  std::string private_key_pem;
};

struct Validity {
  Time not_before;
  Time not_after;
};

struct Subject {
  std::string common_name;
  std::vector<std::string> organizations;
};

Result<KeyPair> make_authority(const Subject& subject, Validity validity);
// The same key and subject for another time: whoever trusts the old certificate trusts what this
// one signs.
Result<KeyPair> renew_authority(const KeyPair& authority, Validity validity);

// `names` are DNS names and numeric addresses; they become the subject alternative names.
Result<KeyPair> make_server_certificate(const KeyPair& authority, const Subject& subject,
                                        const std::vector<std::string>& names, Validity validity);

// The subject is the user (CN) and its groups (O).
Result<KeyPair> make_client_certificate(const KeyPair& authority, const Subject& subject,
                                        Validity validity);

struct CertificateInfo {
  Subject subject;
  Validity validity;
  std::vector<std::string> names;  // subject alternative names, addresses in canonical form
  std::string sha256;              // of the DER form, hex
};

// Of the first certificate in the text.
Result<CertificateInfo> inspect_certificate(std::string_view certificate_pem);

// Whether each of the names (DNS or numeric address) is among the certificate's names.
bool covers(const CertificateInfo& certificate, const std::vector<std::string>& names);

// Whether the authority signed the certificate and the key belongs to it: what to ask of files
// found on disk before they are used.
Status check_key_pair(const KeyPair& pair, std::string_view authority_pem);

std::string random_token();  // 32 bytes of OpenSSL's generator, base64url, 43 letters
std::string hmac_sha256(std::string_view key, std::string_view text);  // 32 bytes

}  // namespace muster::net
