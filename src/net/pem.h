// OpenSSL objects with owners, and reading them from PEM text. For the .cc files of this folder;
// the types are declared, not included, so that OpenSSL's headers stay out of ours.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/certificates.h"

struct x509_st;
struct evp_pkey_st;

namespace muster::net {

struct OpensslFree {
  void operator()(x509_st* certificate) const;
  void operator()(evp_pkey_st* key) const;
};
using CertificatePtr = std::unique_ptr<x509_st, OpensslFree>;
using PrivateKeyPtr = std::unique_ptr<evp_pkey_st, OpensslFree>;

// At least one certificate, in the order of the text.
Result<std::vector<CertificatePtr>> read_certificates(std::string_view pem);
Result<PrivateKeyPtr> read_private_key(std::string_view pem);

Subject subject_of(x509_st* certificate);
std::string fingerprint_of(x509_st* certificate);  // SHA-256 of the DER form, hex

// kInternal: "<what>: <the first reason in OpenSSL's queue>"; empties the queue.
std::unexpected<Error> openssl_failure(std::string_view what);

}  // namespace muster::net
