#include "agent/inputs/names.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "agent/inputs/address_pool.h"
#include "agent/inputs/hosts_file.h"
#include "base/errno_error.h"
#include "base/log.h"
#include "base/unique_fd.h"

namespace muster::agent {
namespace {

constexpr std::size_t kMaxMachineHosts = 64 << 10;

std::string read_machine_hosts() {
  const UniqueFd fd(::open("/etc/hosts", O_RDONLY | O_CLOEXEC));
  std::string text(kMaxMachineHosts, '\0');
  const ssize_t size = fd.valid() ? ::read(fd.get(), text.data(), text.size()) : 0;
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

// Admission has checked names already; but one that is none could forge a line or lead elsewhere.
bool is_name(std::string_view text, bool with_dots) {
  return !text.empty() && text.size() <= 253 && text[0] != '.' &&
         std::ranges::all_of(text, [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                  (c == '.' && with_dots);
         });
}

// The names of a pod as they stand behind its address; they say whose line it is.
std::string names_text(const Names::Pod& pod) {
  if (pod.subdomain.empty()) return pod.hostname;
  const std::string host = pod.hostname + "." + pod.subdomain;
  return fmt::format("{0}.{1}.svc.cluster.local\t{0}.{1}.svc\t{0}\t{2}", host, pod.ns,
                     pod.hostname);
}

// The names of the headless Service: each of its pods has such a line, so that they lead to all.
std::string service_text(const Names::Pod& pod) {
  return fmt::format("{0}.{1}.svc.cluster.local\t{0}.{1}.svc\t{0}", pod.subdomain, pod.ns);
}

bool is_service_text(std::string_view names) { return std::ranges::count(names, '\t') == 2; }

std::vector<std::string> lines_of(const Names::Pod& pod, std::uint32_t address) {
  std::vector<std::string> lines = {address_text(address) + "\t" + names_text(pod)};
  if (!pod.subdomain.empty()) lines.push_back(address_text(address) + "\t" + service_text(pod));
  return lines;
}

Result<std::optional<std::uint32_t>> known_address(std::string_view known) {
  if (known.empty()) return std::nullopt;
  MUSTER_TRY(const std::uint32_t address, parse_address(known));
  if (address >> 24 == 127) return address;
  return fail(Code::kInvalid, fmt::format("{} is no loopback address", known));
}

class LoopbackNames final : public Names {
 public:
  LoopbackNames(std::string directory, AddressBlock block)
      : directory_(std::move(directory)),
        block_(std::move(block)),
        pool_(block_.number()),
        machine_hosts_(read_machine_hosts()) {}

  Result<std::string> add(const Pod& pod, std::string_view known) override;
  void remove(std::string_view uid) override;
  void settle() override;
  std::string hosts_file(std::string_view ns) const override {
    return fmt::format("{}/{}", directory_, ns);
  }
  std::string block() const override { return fmt::format("127.{}.0.0/16", block_.number()); }

  Status load();

 private:
  struct Holder {
    Pod pod;
    std::uint32_t address = 0;
  };
  struct Namespace {
    HostsFile file;
    int pods = 0;
  };
  using Namespaces = std::map<std::string, Namespace, std::less<>>;

  static std::string key_of(const Pod& pod) { return pod.ns + "\n" + names_text(pod); }
  Result<Namespace*> open_namespace(const std::string& ns);
  Status hide(const Holder& holder);
  void close_namespace(Namespaces::iterator at);

  std::string directory_;
  AddressBlock block_;
  AddressPool pool_;
  std::string machine_hosts_;
  Namespaces namespaces_;
  std::map<std::string, Holder, std::less<>> pods_;  // by uid
  std::map<std::string, std::string> uid_by_name_;   // who has the name now
};

// The files of an earlier process: pods that still run see them, and they say who had which
// address.
Status LoopbackNames::load() {
  std::error_code error;
  std::filesystem::create_directory(directory_, error);
  for (std::filesystem::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    if (is_name(name, false)) MUSTER_CHECK(open_namespace(name));
  }
  if (error) return fail(Code::kInternal, fmt::format("{}: {}", directory_, error.message()));
  return {};
}

Result<LoopbackNames::Namespace*> LoopbackNames::open_namespace(const std::string& ns) {
  if (const auto at = namespaces_.find(ns); at != namespaces_.end()) return &at->second;
  MUSTER_TRY(HostsFile file, HostsFile::open(hosts_file(ns), machine_hosts_));
  for (const std::string& line : file.lines()) {
    const std::size_t tab = std::min(line.find('\t'), line.size() - 1);
    const auto address = parse_address(std::string_view(line).substr(0, tab));
    const std::string names = line.substr(tab + 1);
    if (address && !is_service_text(names)) pool_.remember(ns + "\n" + names, *address);
  }
  return &namespaces_.emplace(ns, Namespace{.file = std::move(file)}).first->second;
}

Result<std::string> LoopbackNames::add(const Pod& pod, std::string_view known) {
  if (const auto at = pods_.find(pod.uid); at != pods_.end())
    return address_text(at->second.address);
  if (!is_name(pod.ns, false) || !is_name(pod.hostname, true) ||
      !(pod.subdomain.empty() || is_name(pod.subdomain, false)))
    return fail(Code::kInvalid,
                fmt::format("\"{}.{}.{}\" is no host name", pod.hostname, pod.subdomain, pod.ns));
  MUSTER_TRY(Namespace* const ns, open_namespace(pod.ns));
  MUSTER_TRY(const auto kept, known_address(known));
  const std::string key = key_of(pod);
  // A pod of the same name that still ends has lost it to its successor.
  if (const auto former = uid_by_name_.find(key); former != uid_by_name_.end())
    MUSTER_CHECK(hide(pods_.find(former->second)->second));
  MUSTER_TRY(const std::uint32_t address, pool_.take(key, kept));
  for (const std::string& line : lines_of(pod, address)) {
    if (const Status shown = ns->file.show(line); !shown) {
      pool_.release(address);
      return std::unexpected(shown.error());
    }
  }
  uid_by_name_[key] = pod.uid;
  ++ns->pods;
  pods_.emplace(pod.uid, Holder{.pod = pod, .address = address});
  return address_text(address);
}

Status LoopbackNames::hide(const Holder& holder) {
  MUSTER_TRY(Namespace* const ns, open_namespace(holder.pod.ns));
  for (const std::string& line : lines_of(holder.pod, holder.address))
    MUSTER_CHECK(ns->file.hide(line));
  return {};
}

void LoopbackNames::remove(std::string_view uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  const Holder& holder = at->second;
  const auto name = uid_by_name_.find(key_of(holder.pod));
  if (name != uid_by_name_.end() && name->second == uid) {
    if (const Status hidden = hide(holder); !hidden)
      log::warn("a pod's name stays", {{"pod", uid}, {"error", hidden.error().message}});
    uid_by_name_.erase(name);
  }
  pool_.release(holder.address);
  const auto ns = namespaces_.find(holder.pod.ns);
  if (--ns->second.pods == 0) close_namespace(ns);
  pods_.erase(at);
}

// Without pods nobody reads the file; who had which address is remembered.
void LoopbackNames::close_namespace(Namespaces::iterator at) {
  ::unlink(hosts_file(at->first).c_str());
  namespaces_.erase(at);
}

void LoopbackNames::settle() {
  std::set<std::string> wanted;
  for (const auto& [key, uid] : uid_by_name_) {
    const Holder& holder = pods_.find(uid)->second;
    for (const std::string& line : lines_of(holder.pod, holder.address))
      wanted.insert(holder.pod.ns + "\n" + line);
  }
  for (auto at = namespaces_.begin(); at != namespaces_.end();) {
    const auto ns = at++;
    if (ns->second.pods == 0) {
      close_namespace(ns);
      continue;
    }
    for (const std::string& line : ns->second.file.lines()) {
      if (wanted.contains(ns->first + "\n" + line)) continue;
      if (const Status hidden = ns->second.file.hide(line); !hidden)
        log::warn("an old name stays", {{"line", line}, {"error", hidden.error().message}});
    }
  }
}

}  // namespace

Result<std::unique_ptr<Names>> Names::open(const std::string& directory,
                                           const AddressLocks& locks) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return errno_error(directory);
  MUSTER_TRY(AddressBlock block, AddressBlock::take(directory + "/block", locks));
  auto names = std::make_unique<LoopbackNames>(directory + "/hosts", std::move(block));
  MUSTER_CHECK(names->load());
  return names;
}

}  // namespace muster::agent
