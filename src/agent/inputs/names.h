// Addresses of this node's pods and the file in which they find each other.
//
// Each server has a block 127.X.0.0/16 for itself, each pod an address of it. All pods of a
// namespace share one hosts file that is bound over /etc/hosts: a name is in it before any process
// of the pod that has it is started. A pod that follows another of the same name gets its address,
// unless that one still runs: so names keep their meaning. See docs/names.md.
//
// Used on one thread; its few writes are small.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "agent/inputs/address_block.h"
#include "base/result.h"

namespace muster::agent {

class Names {
 public:
  // Takes the block that this directory had before, if it is free, else any other; holds it until
  // the process ends.
  static Result<std::unique_ptr<Names>> open(const std::string& directory,
                                             const AddressLocks& locks);
  virtual ~Names() = default;

  struct Pod {
    std::string ns;
    std::string uid;
    std::string hostname;
    std::string subdomain;  // empty: only the bare hostname is known
  };
  // The pod's address; the name resolves in all pods of the namespace when this returns. `known` is
  // what its status says already: it is kept.
  virtual Result<std::string> add(const Pod& pod, std::string_view known) = 0;
  virtual void remove(std::string_view uid) = 0;  // all its processes are gone
  // Every pod that was there before this process has been added again: the names of all others that
  // an earlier process left behind end.
  virtual void settle() = 0;
  // What pods of the namespace see as /etc/hosts; it exists when one has been added.
  virtual std::string hosts_file(std::string_view ns) const = 0;
  virtual std::string block() const = 0;  // "127.X.0.0/16"
};

}  // namespace muster::agent
