#include "cli/verbs/removal.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/clock.h"
#include "base/terminal_text.h"
#include "cli/follow/until.h"
#include "cli/input/durations.h"
#include "cli/input/lookup.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

constexpr Duration kSilence = std::chrono::seconds(2);  // then we say what takes so long

// Kinds whose controllers make pods, themselves or through others.
bool makes_pods(const api::Resource& resource) {
  const std::string& group = resource.gvk.group;
  return group == "jobset.x-k8s.io" || group == "batch" || group == "apps" ||
         resource.gvk.kind == "ReplicationController";
}

std::string options_body(const Removal& removal, const api::Resource& resource) {
  const std::string_view policy = propagation_policy(removal, resource);
  if (removal.grace_seconds < 0) return fmt::format(R"({{"propagationPolicy":"{}"}})", policy);
  return fmt::format(R"({{"propagationPolicy":"{}","gracePeriodSeconds":{}}})", policy,
                     removal.grace_seconds);
}

// The server answers with the object, or with a Status about it.
std::string uid_in(std::string_view answer) {
  json::Arena arena;
  const auto tree = json::parse(arena, answer);
  if (!tree) return "";
  const bool is_status = tree->get("kind").as_string() == "Status";
  return std::string(tree->get(is_status ? "details" : "metadata").get("uid").as_string());
}

struct Leaving {
  Doomed object;
  std::string uid;
};

// Another object of the same name is not the one that was deleted.
Status wait_until_gone(Connection& connection, const Leaving& leaving,
                       std::optional<Duration> timeout) {
  const Doomed& object = leaving.object;
  return wait_until(
      connection, *object.resource, object.ns, object.name, timeout, [&](json::Value now) {
        return now.is_null() ||
               (!leaving.uid.empty() && now.get({"metadata", "uid"}).as_string() != leaving.uid);
      });
}

// The same, but says what it waits for when that takes long.
Status wait_patiently(Connection& connection, const Leaving& leaving,
                      std::optional<Duration> timeout) {
  const bool brief = timeout && *timeout <= kSilence;
  const auto gone = wait_until_gone(connection, leaving, brief ? *timeout : kSilence);
  if (gone || brief || gone.error().code != Code::kTimeout) return gone;
  fmt::print(stderr,
             "waiting for {}/{} and what it owns to be gone; Ctrl-C leaves it to the server\n",
             qualified_singular(*leaving.object.resource), plain_text(leaving.object.name));
  return wait_until_gone(connection, leaving,
                         timeout ? std::optional(*timeout - kSilence) : std::nullopt);
}

// In the server's own words, with what may have been meant below.
int complain_missing(Connection& connection, const Doomed& one, const Error& error) {
  const int code = complain(error);
  if (error.code != Code::kNotFound) return code;
  const std::string help = meant_instead(connection, *one.resource, one.ns, one.name);
  if (!help.empty()) fmt::print(stderr, "  help: {}\n", help);
  return code;
}

std::string told(const Doomed& one, std::string_view word) {
  const std::string place =
      one.ns.empty() ? "" : fmt::format(" from {} namespace", plain_text(one.ns));
  return fmt::format("{} \"{}\" {}{}\n", qualified_singular(*one.resource), plain_text(one.name),
                     word, place);
}

}  // namespace

std::string_view propagation_policy(const Removal& removal, const api::Resource& resource) {
  if (removal.cascade == "orphan") return "Orphan";
  const bool deep = removal.cascade.empty() && removal.wait && makes_pods(resource);
  return deep || removal.cascade == "foreground" ? "Foreground" : "Background";
}

int remove_all(Connection& connection, const std::vector<Doomed>& doomed, const Removal& removal,
               std::string_view word) {
  const auto patience =
      parse_duration(removal.timeout.empty() ? "0" : removal.timeout, "--timeout");
  if (!patience) return complain(patience.error(), kUsage);
  int worst = kSucceeded;
  std::vector<Leaving> leaving;
  for (const Doomed& one : doomed) {
    MUSTER_ASSERT(!one.name.empty(), "one object is meant, not all of its kind");
    const auto answer = connection.write({.verb = client::Verb::kDelete,
                                          .resource = one.resource,
                                          .ns = one.ns,
                                          .name = one.name,
                                          .body = options_body(removal, *one.resource)});
    if (answer) {
      fmt::print("{}", told(one, word));
      std::fflush(stdout);
      leaving.push_back({one, uid_in(*answer)});
    } else if (answer.error().code != Code::kNotFound || !removal.ignore_missing) {
      worst = complain_missing(connection, one, answer.error());
      if (worst == kUnreachable) return worst;
    }
  }
  if (!removal.wait) return worst;
  const Duration end = monotonic_now() + *patience;
  for (const Leaving& one : leaving) {
    std::optional<Duration> left;
    if (*patience > Duration{}) left = std::max(Duration{}, end - monotonic_now());
    if (const auto gone = wait_patiently(connection, one, left); !gone)
      return complain(gone.error());
  }
  return worst;
}

}  // namespace muster::cli
