#include "engine/data_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/base64.h"
#include "base/log.h"
#include "base/time.h"
#include "engine/spread_folders.h"

namespace muster::engine {
namespace {

constexpr auto kAuthorityLife = std::chrono::days(3650);
constexpr auto kCertificateLife = std::chrono::days(365);
constexpr auto kRenewBefore = std::chrono::days(30);
// Certificates begin this long ago, so that they still count when a clock that was fast is put
// right. Nothing depends on their beginning.
constexpr auto kBackdate = std::chrono::days(365);
constexpr std::size_t kMinTokenKey = 32;

std::string trouble(std::string_view what, const std::string& file) {
  return fmt::format("cannot {} {}: {}", what, file, std::strerror(errno));
}

Status make_private_directory(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(dir).parent_path(), error);
  if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(Code::kUnavailable, trouble("create", dir));
  struct stat info{};
  if (::stat(dir.c_str(), &info) != 0) return fail(Code::kUnavailable, trouble("look at", dir));
  if (!S_ISDIR(info.st_mode)) return fail(Code::kInvalid, dir + " is not a directory");
  if ((info.st_mode & 077) != 0) {
    return fail(Code::kForbidden,
                fmt::format("{} holds keys but others may open it (mode {:o}); run: chmod 700 {}",
                            dir, info.st_mode & 0777, dir));
  }
  return {};
}

Status refuse_if_readable_by_others(const std::string& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) == 0 && (info.st_mode & 077) != 0) {
    return fail(Code::kForbidden,
                fmt::format("{} is secret but others may read it (mode {:o}); run: chmod 600 {}",
                            file, info.st_mode & 0777, file));
  }
  return {};
}

// A certificate and its key as two files, made anew when `usable` does not like what is there.
class KeyFiles {
 public:
  KeyFiles(const std::string& dir, std::string_view name)
      : base_(fmt::format("{}/pki/{}", dir, name)) {}

  Result<net::KeyPair> load() const {
    MUSTER_CHECK(refuse_if_readable_by_others(base_ + ".key"));
    MUSTER_TRY(std::string certificate, read_file(base_ + ".crt"));
    MUSTER_TRY(std::string key, read_file(base_ + ".key"));
    return net::KeyPair{std::move(certificate), std::move(key)};
  }
  bool exists() const {
    return std::filesystem::exists(base_ + ".key") && std::filesystem::exists(base_ + ".crt");
  }
  Status save(const net::KeyPair& pair) const {
    MUSTER_CHECK(write_private_file(base_ + ".key", pair.private_key_pem));
    return write_private_file(base_ + ".crt", pair.certificate_pem);
  }

 private:
  std::string base_;
};

// Not the server certificate's subject: OpenSSL takes equal subject and issuer for self-signed.
Result<net::KeyPair> make_authority(Time now) {
  return net::make_authority({"muster-ca", {}}, {now - kBackdate, now + kAuthorityLife});
}

bool is_current(const net::Validity& validity, Time now) {
  return validity.not_before <= now && validity.not_after > now + kRenewBefore;
}

// The clock has been put right, or is wrong now; nobody can tell which. So the certificate is
// renewed to cover both times, with its key: clients that trust it go on.
Result<net::KeyPair> renew_authority(const net::KeyPair& authority, const net::Validity& before,
                                     Time now) {
  log::warn(
      "the authority's certificate is not valid now and is renewed; if clients refuse it, is "
      "the clock right?",
      {{"now", format_time(now)},
       {"not_before", format_time(before.not_before)},
       {"not_after", format_time(before.not_after)}});
  return net::renew_authority(authority, {std::min(before.not_before, now - kBackdate),
                                          std::max(before.not_after, now + kAuthorityLife)});
}

// `names` empty: a client certificate of the admin.
Result<net::KeyPair> make_certificate(const net::KeyPair& authority,
                                      const std::vector<std::string>& names, Time now) {
  const net::Validity validity{now - kBackdate, now + kCertificateLife};
  return names.empty()
             ? net::make_client_certificate(authority, {"admin", {"system:masters"}}, validity)
             : net::make_server_certificate(authority, {"muster", {}}, names, validity);
}

Result<net::KeyPair> open_authority(const std::string& dir, Time now) {
  const KeyFiles files(dir, "ca");
  if (!files.exists()) {
    MUSTER_TRY(net::KeyPair authority, make_authority(now));
    MUSTER_CHECK(files.save(authority));
    return authority;
  }
  MUSTER_TRY(net::KeyPair authority, files.load());
  MUSTER_TRY(const net::CertificateInfo info, net::inspect_certificate(authority.certificate_pem));
  if (is_current(info.validity, now)) return authority;
  MUSTER_TRY(net::KeyPair renewed, renew_authority(authority, info.validity, now));
  MUSTER_CHECK(files.save(renewed));
  return renewed;
}

bool usable(const net::KeyPair& pair, const net::KeyPair& authority,
            const std::vector<std::string>& names, Time now) {
  const auto info = net::inspect_certificate(pair.certificate_pem);
  return info && is_current(info->validity, now) && net::covers(*info, names) &&
         net::check_key_pair(pair, authority.certificate_pem).has_value();
}

Result<net::KeyPair> open_certificate(const std::string& dir, std::string_view name,
                                      const net::KeyPair& authority,
                                      const std::vector<std::string>& names, Time now) {
  const KeyFiles files(dir, name);
  if (files.exists()) {
    MUSTER_TRY(net::KeyPair pair, files.load());
    if (usable(pair, authority, names, now)) return pair;
    log::info("renewing a certificate", {{"certificate", name}});
  }
  MUSTER_TRY(net::KeyPair pair, make_certificate(authority, names, now));
  MUSTER_CHECK(files.save(pair));
  return pair;
}

Result<std::vector<Token>> open_tokens(const std::string& dir) {
  const std::string file = dir + "/tokens";
  if (!std::filesystem::exists(file)) {
    MUSTER_CHECK(
        write_private_file(file, fmt::format("{},admin,system:masters\n{},reader,muster:readers\n",
                                             net::random_token(), net::random_token())));
  }
  MUSTER_CHECK(refuse_if_readable_by_others(file));
  MUSTER_TRY(const std::string text, read_file(file));
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t first = line.find(','), second = line.find(',', first + 1);
    if (line.empty()) continue;
    if (first == 0 || second == std::string::npos) {
      return fail(Code::kInvalid, file + ": a line is not \"token,user,group\": " +
                                      std::to_string(tokens.size() + 1));
    }
    tokens.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1),
                      line.substr(second + 1)});
  }
  return tokens;
}

Result<std::string> open_token_key(const std::string& dir) {
  const std::string file = dir + "/pki/tokens.key";
  if (!std::filesystem::exists(file)) MUSTER_CHECK(write_private_file(file, net::random_token()));
  MUSTER_CHECK(refuse_if_readable_by_others(file));
  Result<std::string> key = read_file(file);
  if (key && key->size() < kMinTokenKey) {  // anybody could guess it, and sign with it
    return fail(Code::kInvalid,
                fmt::format("{} is too short to be a key; remove it, and a new one is made", file));
  }
  return key;
}

}  // namespace

Result<std::string> read_file(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail(errno == ENOENT ? Code::kNotFound : Code::kForbidden, trouble("open", file));
  std::string text;
  char buffer[16384];
  ssize_t got = 0;
  while ((got = ::read(fd, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  const std::string why = got < 0 ? trouble("read", file) : "";
  ::close(fd);
  if (got < 0) return fail(Code::kInvalid, why);
  return text;
}

Status write_private_file(const std::string& file, std::string_view text) {
  const Result<std::string> present = read_file(file);
  if (present && *present == text && refuse_if_readable_by_others(file)) return {};
  const std::string next = file + ".new";
  ::unlink(next.c_str());
  const int fd = ::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return fail(Code::kUnavailable, trouble("create", next));
  bool good = true;
  while (good && !text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    good = wrote > 0;
    if (good) text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  good = good && ::fsync(fd) == 0;
  ::close(fd);
  if (!good || ::rename(next.c_str(), file.c_str()) != 0)
    return fail(Code::kUnavailable, trouble("write", file));
  return {};
}

Status make_data_dir(const std::string& dir) {
  MUSTER_CHECK(make_private_directory(dir));
  spread_folders_in(dir);
  return {};
}

Result<Credentials> open_credentials(const std::string& dir,
                                     const std::vector<std::string>& server_names,
                                     const Clock& clock) {
  MUSTER_CHECK(make_private_directory(dir + "/pki"));
  const Time now = clock.now();
  MUSTER_TRY(const net::KeyPair authority, open_authority(dir, now));
  Credentials credentials{
      .ca_pem = authority.certificate_pem, .server = {}, .admin = {}, .tokens = {}};
  MUSTER_TRY(credentials.server, open_certificate(dir, "server", authority, server_names, now));
  MUSTER_TRY(credentials.admin, open_certificate(dir, "admin", authority, {}, now));
  MUSTER_TRY(credentials.tokens, open_tokens(dir));
  MUSTER_TRY(credentials.token_key, open_token_key(dir));
  return credentials;
}

Result<net::Validity> current_span(const Credentials& credentials) {
  net::Validity span{Time::min(), Time::max()};
  for (const std::string* pem : {&credentials.ca_pem, &credentials.server.certificate_pem,
                                 &credentials.admin.certificate_pem}) {
    MUSTER_TRY(const net::CertificateInfo info, net::inspect_certificate(*pem));
    span.not_before = std::max(span.not_before, info.validity.not_before);
    span.not_after = std::min<Time>(span.not_after, info.validity.not_after - kRenewBefore);
  }
  return span;
}

Result<ServingCertificate> open_serving_certificate(const std::string& dir,
                                                    const std::vector<std::string>& names,
                                                    const Clock& clock) {
  const Time now = clock.now();
  if (dir.empty()) {
    MUSTER_TRY(const net::KeyPair authority, make_authority(now));
    MUSTER_TRY(net::KeyPair server, make_certificate(authority, names, now));
    return ServingCertificate{authority.certificate_pem, std::move(server)};
  }
  MUSTER_CHECK(make_private_directory(dir));
  MUSTER_CHECK(make_private_directory(dir + "/pki"));
  MUSTER_TRY(const net::KeyPair authority, open_authority(dir, now));
  MUSTER_TRY(net::KeyPair server, open_certificate(dir, "server", authority, names, now));
  return ServingCertificate{authority.certificate_pem, std::move(server)};
}

std::string kubeconfig(const Credentials& credentials, const std::string& url) {
  return fmt::format(R"(apiVersion: v1
kind: Config
clusters:
- name: muster
  cluster:
    server: {}
    certificate-authority-data: {}
users:
- name: admin
  user:
    client-certificate-data: {}
    client-key-data: {}
contexts:
- name: muster
  context:
    cluster: muster
    user: admin
current-context: muster
)",
                     url, encode_base64(credentials.ca_pem),
                     encode_base64(credentials.admin.certificate_pem),
                     encode_base64(credentials.admin.private_key_pem));
}

}  // namespace muster::engine
