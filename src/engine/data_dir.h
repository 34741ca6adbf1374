// The data directory: created with mode 0700, its keys 0600; certificates, tokens and the
// kubeconfig in it.
//
//   DIR/muster.db      the store (docs/data-directory.md)
//   DIR/pki/           ca.{crt,key}, server.{crt,key}, admin.{crt,key}
//   DIR/pki/tokens.key what tokens of service accounts are signed with
//   DIR/tokens         one "token,user,group" per line: an admin and a reader
//   DIR/kubeconfig     how the admin's clients reach the server
//   DIR/logs/, pods/ … what belongs to pods (docs/data-directory.md)
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/certificates.h"

namespace muster::engine {

struct Token {
  std::string token;
  std::string user;
  std::string group;
};

struct Credentials {
  std::string ca_pem;
  net::KeyPair server;
  net::KeyPair admin;
  std::vector<Token> tokens;
  std::string token_key;  // signs the tokens of service accounts
};

// Creates it if it is missing; refuses one that others may open (S10).
Status make_data_dir(const std::string& dir);

// Creates what is missing, renews certificates that are near their end, not valid yet (the clock
// was put back) or do not cover the names, and refuses keys that others may read. The caller has
// locked the directory.
Result<Credentials> open_credentials(const std::string& dir,
                                     const std::vector<std::string>& server_names,
                                     const Clock& clock);

// When open_credentials would make none of the certificates anew.
Result<net::Validity> current_span(const Credentials& credentials);

// A certificate for a server that keeps nothing else.
struct ServingCertificate {
  std::string ca_pem;
  net::KeyPair server;
};
// DIR/pki/ca and server, as above; with an empty `dir` both live as long as the process.
Result<ServingCertificate> open_serving_certificate(const std::string& dir,
                                                    const std::vector<std::string>& names,
                                                    const Clock& clock);

std::string kubeconfig(const Credentials& credentials, const std::string& url);

// Replaces the file as a whole, mode 0600; readers see the old or the new one. One that is like
// that already is left alone: a server on a full disk can start again.
Status write_private_file(const std::string& file, std::string_view text);
Result<std::string> read_file(const std::string& file);

}  // namespace muster::engine
