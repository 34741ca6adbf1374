#include "net/tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "net/names.h"
#include "net/pem.h"

namespace muster::net {
namespace {

// For TLS 1.2; the suites of TLS 1.3 are all fine.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr std::string_view kOnlyProtocol("\x08http/1.1");

// A socket as OpenSSL sees it. Its own socket BIO raises SIGPIPE when the peer has gone.
int bio_fd(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool is_temporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

int bio_read(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = recv(bio_fd(bio), into, static_cast<std::size_t>(size), 0);
  if (got == 0) errno = 0;  // the end of the stream leaves no reason
  if (got < 0 && is_temporary(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

int bio_write(BIO* bio, const char* from, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t put = send(bio_fd(bio), from, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (put < 0 && is_temporary(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(put);
}

long bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* make_socket_method() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_ctrl(method, bio_control);
  return method;
}

BIO* make_socket_bio(int fd) {
  static BIO_METHOD* const method = make_socket_method();
  BIO* bio = BIO_new(method);
  MUSTER_ASSERT(bio, "out of memory");
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio, 1);
  return bio;
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  const auto* ours = reinterpret_cast<const unsigned char*>(kOnlyProtocol.data());
  unsigned char* match = nullptr;
  const int found =
      SSL_select_next_proto(&match, chosen_size, ours, static_cast<unsigned>(kOnlyProtocol.size()),
                            offered, offered_size);
  *chosen = match;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// Sessions are not resumed: kubectl and our own client do not ask for it, and a ticket would carry
// a client certificate past the end of its validity.
Result<TlsContext> make_context(const SSL_METHOD* method) {
  TlsContext context(SSL_CTX_new(method), SSL_CTX_free);
  if (!context) return openssl_failure("cannot set up TLS");
  SSL_CTX* ctx = context.get();
  SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(ctx, kCiphers);
  SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(ctx, 0);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(ctx, 1);  // one recv() per record instead of two
  return context;
}

Status use_certificate(SSL_CTX* ctx, const std::string& certificate_pem,
                       const std::string& key_pem) {
  MUSTER_TRY(auto chain, read_certificates(certificate_pem));
  MUSTER_TRY(const auto key, read_private_key(key_pem));
  if (SSL_CTX_use_certificate(ctx, chain.front().get()) != 1 ||
      SSL_CTX_use_PrivateKey(ctx, key.get()) != 1 || SSL_CTX_check_private_key(ctx) != 1) {
    return openssl_failure("the certificate and the private key do not go together");
  }
  for (std::size_t i = 1; i < chain.size(); ++i) SSL_CTX_add1_chain_cert(ctx, chain[i].get());
  return {};
}

Status trust(SSL_CTX* ctx, const std::string& ca_pem) {
  MUSTER_TRY(const auto authorities, read_certificates(ca_pem));
  for (const CertificatePtr& authority : authorities) {
    X509_check_purpose(authority.get(), -1, 0);  // reads its extensions before threads share it
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), authority.get()) != 1) {
      return openssl_failure("cannot trust an authority");
    }
  }
  return {};
}

}  // namespace

Result<TlsContext> make_server_tls(const ServerTls& settings) {
  MUSTER_TRY(const TlsContext context, make_context(TLS_server_method()));
  SSL_CTX* ctx = context.get();
  MUSTER_CHECK(use_certificate(ctx, settings.certificate_pem, settings.private_key_pem));
  SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, nullptr);
  if (settings.client_ca_pem.empty()) return context;
  MUSTER_CHECK(trust(ctx, settings.client_ca_pem));
  MUSTER_TRY(const auto authorities, read_certificates(settings.client_ca_pem));
  for (const CertificatePtr& authority : authorities) SSL_CTX_add_client_CA(ctx, authority.get());
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);  // a certificate is optional, a bad one fatal
  return context;
}

Result<TlsContext> make_client_tls(const ClientTls& settings) {
  MUSTER_TRY(const TlsContext context, make_context(TLS_client_method()));
  SSL_CTX* ctx = context.get();
  if (!settings.ca_pem.empty()) {
    MUSTER_CHECK(trust(ctx, settings.ca_pem));
  } else if (settings.verify_server) {
    SSL_CTX_set_default_verify_paths(ctx);
  }
  if (!settings.certificate_pem.empty()) {
    MUSTER_CHECK(use_certificate(ctx, settings.certificate_pem, settings.private_key_pem));
  }
  SSL_CTX_set_verify(ctx, settings.verify_server ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_alpn_protos(ctx, reinterpret_cast<const unsigned char*>(kOnlyProtocol.data()),
                          static_cast<unsigned>(kOnlyProtocol.size()));
  return context;
}

Channel::Channel(int fd) : fd_(fd) {}
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;
Channel::~Channel() = default;
void Channel::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

Channel Channel::accepting(int fd, const TlsContext& context) {
  Channel channel(fd);
  channel.ssl_.reset(SSL_new(context.get()));
  MUSTER_ASSERT(channel.ssl_, "out of memory");
  BIO* bio = make_socket_bio(fd);
  SSL_set_bio(channel.ssl_.get(), bio, bio);
  SSL_set_accept_state(channel.ssl_.get());
  return channel;
}

Channel Channel::connecting(int fd, const TlsContext& context, const std::string& server_name) {
  Channel channel(fd);
  channel.ssl_.reset(SSL_new(context.get()));
  MUSTER_ASSERT(channel.ssl_, "out of memory");
  SSL* ssl = channel.ssl_.get();
  BIO* bio = make_socket_bio(fd);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_connect_state(ssl);
  if (address_bytes(server_name).empty()) {
    SSL_set_tlsext_host_name(ssl, server_name.c_str());
    SSL_set1_host(ssl, server_name.c_str());
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), server_name.c_str());
  }
  return channel;
}

// What an OpenSSL call that returned `result` wants next.
IoState Channel::outcome(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_NONE:
      return IoState::kDone;
    case SSL_ERROR_WANT_READ:
      return IoState::kWantRead;
    case SSL_ERROR_WANT_WRITE:
      return IoState::kWantWrite;
    case SSL_ERROR_ZERO_RETURN:
      return IoState::kEnded;
    case SSL_ERROR_SYSCALL:
      failure_ = errno ? std::strerror(errno) : "connection closed";
      break;
    default: {
      const long verdict = SSL_get_verify_result(ssl_.get());
      failure_ = openssl_failure("TLS").error().message;
      if (verdict != X509_V_OK) {
        failure_ += fmt::format(" ({})", X509_verify_cert_error_string(verdict));
      }
    }
  }
  ERR_clear_error();
  return IoState::kBroken;
}

IoState Channel::handshake() {
  if (!ssl_) return IoState::kDone;
  ERR_clear_error();
  return outcome(SSL_do_handshake(ssl_.get()));
}

IoResult Channel::read(std::span<char> into) {
  if (ssl_) {
    ERR_clear_error();
    std::size_t got = 0;
    const IoState state = outcome(SSL_read_ex(ssl_.get(), into.data(), into.size(), &got));
    return {state, got};
  }
  const ssize_t got = recv(fd_, into.data(), into.size(), 0);
  if (got > 0) return {IoState::kDone, static_cast<std::size_t>(got)};
  if (got == 0) return {IoState::kEnded, 0};
  if (is_temporary(errno)) return {IoState::kWantRead, 0};
  failure_ = std::strerror(errno);
  return {IoState::kBroken, 0};
}

IoResult Channel::write(std::string_view bytes) {
  if (ssl_) {
    ERR_clear_error();
    std::size_t put = 0;
    const IoState state = outcome(SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &put));
    return {state, put};
  }
  const ssize_t put = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (put >= 0) return {IoState::kDone, static_cast<std::size_t>(put)};
  if (is_temporary(errno)) return {IoState::kWantWrite, 0};
  failure_ = std::strerror(errno);
  return {IoState::kBroken, 0};
}

bool Channel::has_pending() const { return ssl_ && SSL_has_pending(ssl_.get()) == 1; }

void Channel::say_goodbye() {
  if (!ssl_ || !SSL_is_init_finished(ssl_.get())) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

http::Peer Channel::peer() const {
  http::Peer peer;
  if (!ssl_ || SSL_get_verify_result(ssl_.get()) != X509_V_OK) return peer;
  X509* certificate = SSL_get0_peer_certificate(ssl_.get());
  if (!certificate) return peer;
  Subject subject = subject_of(certificate);
  peer.common_name = std::move(subject.common_name);
  peer.organizations = std::move(subject.organizations);
  peer.certificate_sha256 = fingerprint_of(certificate);
  return peer;
}

}  // namespace muster::net
