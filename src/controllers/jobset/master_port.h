// MASTER_PORT: where the pods of a gang meet (docs/barrier.md).
//
// All pods of an attempt get the same, however often its Jobs are planned: the first Job writes it
// down, as an annotation, and the others follow. Where pods have ports of their own any will do,
// and it is a hash. Where they share those of a machine, it is the first one from there on that
// nobody listens at and no other gang was given. To find it out means to open sockets: a plan asks
// for a port, the controller finds one, and the next plan is given it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "controllers/jobset/child.h"
#include "controllers/runtime/port_is_free.h"

namespace muster::controllers::jobset {

// Of a Job whose pods have ranks.
inline constexpr std::string_view kMasterPort = "muster.dev/master-port";

// Below those that the kernel gives away by itself, as it is set up by default.
inline constexpr int kFirstMasterPort = 10'000, kLastMasterPort = 29'999;

struct PortRequest {
  std::string set_uid;
  std::int32_t attempt = 0;
  bool operator==(const PortRequest&) const = default;
};
struct GivenPort {
  PortRequest request;
  int port = 0;
};

// The port that unfinished Jobs of the attempt were given, if there are some.
std::optional<int> master_port_of(std::span<const Child* const> active);
// A new one. If all are taken, one of them: the program will say so.
int choose_master_port(std::string_view set_uid, std::int32_t attempt, const PortIsFree& is_free);

// Ports that gangs of this machine were given: they are not free, though nobody may listen there
// yet. With an empty `is_free` it remembers nothing.
class MasterPorts {
 public:
  explicit MasterPorts(PortIsFree is_free) : machine_(std::move(is_free)) {}

  void changed(const Child* before, const Child* after);  // null: it was not, or is no more
  // Finds a port for Jobs that are not to be seen yet. Opens sockets.
  GivenPort take(const PortRequest& request);

  bool shared() const { return machine_ != nullptr; }
  bool is_free(int port) const;

 private:
  // Enough for all plans under way at once, whose Jobs are on their way.
  static constexpr std::size_t kMostTaken = 256;

  PortIsFree machine_;
  std::map<int, int> jobs_;  // by port, how many that have not ended
  std::deque<int> taken_;    // the latest
};

}  // namespace muster::controllers::jobset
