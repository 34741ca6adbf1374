#include "net/pem.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "base/digest.h"

namespace muster::net {
namespace {

struct BioFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using BioPtr = std::unique_ptr<BIO, BioFree>;

BioPtr reader_of(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string entry_text(X509_NAME* name, int position) {
  unsigned char* utf8 = nullptr;
  const int length =
      ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, position)));
  if (length < 0) return {};
  std::string text(reinterpret_cast<char*>(utf8), static_cast<std::size_t>(length));
  OPENSSL_free(utf8);
  return text;
}

// Refuses to be asked for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

}  // namespace

void OpensslFree::operator()(x509_st* certificate) const { X509_free(certificate); }
void OpensslFree::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

Result<std::vector<CertificatePtr>> read_certificates(std::string_view pem) {
  std::vector<CertificatePtr> found;
  const BioPtr in = reader_of(pem);
  while (X509* next = PEM_read_bio_X509(in.get(), nullptr, no_passphrase, nullptr)) {
    found.emplace_back(next);
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (found.empty() || !at_end) return openssl_failure("cannot read the PEM certificate");
  ERR_clear_error();
  return found;
}

Result<PrivateKeyPtr> read_private_key(std::string_view pem) {
  const BioPtr in = reader_of(pem);
  PrivateKeyPtr key(PEM_read_bio_PrivateKey(in.get(), nullptr, no_passphrase, nullptr));
  if (!key) return openssl_failure("cannot read the PEM private key");
  return key;
}

Subject subject_of(x509_st* certificate) {
  Subject subject;
  X509_NAME* name = X509_get_subject_name(certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_commonName, at)) >= 0;) {
    subject.common_name = entry_text(name, at);  // the last one counts, as in Go
  }
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_organizationName, at)) >= 0;) {
    subject.organizations.push_back(entry_text(name, at));
  }
  return subject;
}

std::string fingerprint_of(x509_st* certificate) {
  unsigned char* der = nullptr;
  const int length = i2d_X509(certificate, &der);
  if (length < 0) return {};
  std::string hex = hex_digest(DigestKind::kSha256,
                               {reinterpret_cast<char*>(der), static_cast<std::size_t>(length)});
  OPENSSL_free(der);
  return hex;
}

std::unexpected<Error> openssl_failure(std::string_view what) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return fail(Code::kInternal, fmt::format("{}: {}", what, reason ? reason : "unknown reason"));
}

}  // namespace muster::net
