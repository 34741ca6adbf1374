#include "net/certificates.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/base64.h"
#include "net/names.h"
#include "net/pem.h"

namespace muster::net {
namespace {

template <auto Free>
struct FreeWith {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using BioPtr = std::unique_ptr<BIO, FreeWith<BIO_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, FreeWith<X509_EXTENSION_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, FreeWith<GENERAL_NAMES_free>>;

constexpr int kSerialBytes = 16;

template <class Write>
std::string write_pem(Write write) {
  const BioPtr out(BIO_new(BIO_s_mem()));
  write(out.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  return write_pem([&](BIO* out) { PEM_write_bio_X509(out, certificate); });
}

std::string pem_of(EVP_PKEY* key) {
  return write_pem(
      [&](BIO* out) { PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

bool set_random_serial(X509* certificate) {
  std::array<unsigned char, kSerialBytes> bytes;
  if (RAND_bytes(bytes.data(), kSerialBytes) != 1) return false;
  bytes[0] = (bytes[0] & 0x7f) | 0x40;  // positive and always 16 bytes long
  BIGNUM* number = BN_bin2bn(bytes.data(), kSerialBytes, nullptr);
  const bool done = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return done;
}

std::time_t seconds_of(Time time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

Time time_of(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  return Time(std::chrono::seconds(timegm(&parts)));
}

bool add_text(X509_NAME* name, int nid, const std::string& text) {
  return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool set_subject(X509* certificate, const Subject& subject) {
  X509_NAME* name = X509_get_subject_name(certificate);
  for (const std::string& organization : subject.organizations) {
    if (!add_text(name, NID_organizationName, organization)) return false;
  }
  return add_text(name, NID_commonName, subject.common_name);
}

bool add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool add_names(X509* certificate, const std::vector<std::string>& names) {
  const NamesPtr list(sk_GENERAL_NAME_new_null());
  for (const std::string& name : names) {
    const std::string address = address_bytes(name);
    const std::string& value = address.empty() ? name : address;
    ASN1_STRING* text =
        ASN1_STRING_type_new(address.empty() ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING);
    GENERAL_NAME* entry = GENERAL_NAME_new();
    ASN1_STRING_set(text, value.data(), static_cast<int>(value.size()));
    GENERAL_NAME_set0_value(entry, address.empty() ? GEN_DNS : GEN_IPADD, text);
    sk_GENERAL_NAME_push(list.get(), entry);
  }
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, list.get(), 0, 0) == 1;
}

struct Extension {
  int nid;
  const char* value;
};

struct Recipe {
  const Subject& subject;
  Validity validity;
  std::vector<std::string> names;
  std::vector<Extension> extensions;
  std::string private_key_pem = {};  // empty: a new one
};

Result<PrivateKeyPtr> key_of(const Recipe& recipe) {
  if (recipe.private_key_pem.empty()) return PrivateKeyPtr(EVP_EC_gen("P-256"));
  return read_private_key(recipe.private_key_pem);
}

// Signed by the authority, or by itself without one.
Result<KeyPair> make_certificate(const Recipe& recipe, const KeyPair* authority) {
  if (recipe.subject.common_name.empty()) {
    return fail(Code::kBadRequest, "a certificate needs a common name");
  }
  MUSTER_TRY(const PrivateKeyPtr key, key_of(recipe));
  CertificatePtr certificate(X509_new());
  CertificatePtr issuer;
  PrivateKeyPtr issuer_key;
  if (authority) {
    MUSTER_TRY(auto chain, read_certificates(authority->certificate_pem));
    issuer = std::move(chain.front());
    MUSTER_TRY(issuer_key, read_private_key(authority->private_key_pem));
  }
  X509* cert = certificate.get();
  X509* signer = issuer ? issuer.get() : cert;
  bool ok = key && cert && X509_set_version(cert, X509_VERSION_3) == 1 && set_random_serial(cert);
  ok = ok && ASN1_TIME_set(X509_getm_notBefore(cert), seconds_of(recipe.validity.not_before));
  ok = ok && ASN1_TIME_set(X509_getm_notAfter(cert), seconds_of(recipe.validity.not_after));
  ok = ok && X509_set_pubkey(cert, key.get()) == 1 && set_subject(cert, recipe.subject);
  ok = ok && X509_set_issuer_name(cert, X509_get_subject_name(signer)) == 1;
  for (const Extension& extension : recipe.extensions) {
    ok = ok && add_extension(cert, signer, extension.nid, extension.value);
  }
  ok = ok && (recipe.names.empty() || add_names(cert, recipe.names));
  ok = ok && X509_sign(cert, issuer_key ? issuer_key.get() : key.get(), EVP_sha256()) > 0;
  if (!ok) return openssl_failure("cannot make the certificate of " + recipe.subject.common_name);
  return KeyPair{pem_of(cert), pem_of(key.get())};
}

Recipe authority_of(const Subject& subject, Validity validity) {
  return {subject,
          validity,
          {},
          {{NID_basic_constraints, "critical,CA:TRUE"},
           {NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"},
           {NID_subject_key_identifier, "hash"}}};
}

std::vector<std::string> names_of(X509* certificate) {
  std::vector<std::string> found;
  const NamesPtr list(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(list.get()); ++i) {
    const GENERAL_NAME* entry = sk_GENERAL_NAME_value(list.get(), i);
    if (entry->type != GEN_DNS && entry->type != GEN_IPADD) continue;
    const ASN1_STRING* text = entry->type == GEN_DNS ? entry->d.dNSName : entry->d.iPAddress;
    const std::string bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                            static_cast<std::size_t>(ASN1_STRING_length(text)));
    found.push_back(entry->type == GEN_DNS ? canonical_name(bytes) : address_text(bytes));
  }
  return found;
}

}  // namespace

Result<KeyPair> make_authority(const Subject& subject, Validity validity) {
  return make_certificate(authority_of(subject, validity), nullptr);
}

Result<KeyPair> renew_authority(const KeyPair& authority, Validity validity) {
  MUSTER_TRY(const CertificateInfo info, inspect_certificate(authority.certificate_pem));
  Recipe recipe = authority_of(info.subject, validity);
  recipe.private_key_pem = authority.private_key_pem;
  return make_certificate(recipe, nullptr);
}

Result<KeyPair> make_server_certificate(const KeyPair& authority, const Subject& subject,
                                        const std::vector<std::string>& names, Validity validity) {
  return make_certificate({subject,
                           validity,
                           names,
                           {{NID_basic_constraints, "critical,CA:FALSE"},
                            {NID_key_usage, "critical,digitalSignature"},
                            {NID_ext_key_usage, "serverAuth"},
                            {NID_authority_key_identifier, "keyid"}}},
                          &authority);
}

Result<KeyPair> make_client_certificate(const KeyPair& authority, const Subject& subject,
                                        Validity validity) {
  return make_certificate({subject,
                           validity,
                           {},
                           {{NID_basic_constraints, "critical,CA:FALSE"},
                            {NID_key_usage, "critical,digitalSignature"},
                            {NID_ext_key_usage, "clientAuth"},
                            {NID_authority_key_identifier, "keyid"}}},
                          &authority);
}

Result<CertificateInfo> inspect_certificate(std::string_view certificate_pem) {
  MUSTER_TRY(const auto chain, read_certificates(certificate_pem));
  X509* certificate = chain.front().get();
  return CertificateInfo{
      .subject = subject_of(certificate),
      .validity = {time_of(X509_get0_notBefore(certificate)),
                   time_of(X509_get0_notAfter(certificate))},
      .names = names_of(certificate),
      .sha256 = fingerprint_of(certificate),
  };
}

bool covers(const CertificateInfo& certificate, const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [&](const std::string& name) {
    return std::ranges::count(certificate.names, canonical_name(name)) > 0;
  });
}

Status check_key_pair(const KeyPair& pair, std::string_view authority_pem) {
  MUSTER_TRY(const auto chain, read_certificates(pair.certificate_pem));
  MUSTER_TRY(const auto key, read_private_key(pair.private_key_pem));
  MUSTER_TRY(const auto authority, read_certificates(authority_pem));
  X509* certificate = chain.front().get();
  if (X509_check_private_key(certificate, key.get()) != 1) {
    return openssl_failure("the private key does not belong to the certificate");
  }
  if (X509_verify(certificate, X509_get0_pubkey(authority.front().get())) != 1) {
    return openssl_failure("the certificate was not issued by this authority");
  }
  return {};
}

std::string random_token() {
  std::string bytes(32, '\0');
  MUSTER_ASSERT(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), 32) == 1,
                "there is no randomness for secrets");
  return encode_base64url(bytes);
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  const auto* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          reinterpret_cast<unsigned char*>(out.data()), &size);
  MUSTER_ASSERT(done != nullptr, "OpenSSL has HMAC-SHA256");
  out.resize(size);
  return out;
}

}  // namespace muster::net
