// Which user the pods of a JobSet run as, where each JobSet has one of its own (--pod-users), and
// which folders they share.
//
// A user is taken from a range when the first pod of the JobSet needs it, and kept until the last
// pod is gone. The book is a file, so that an agent that starts again finds the users of the pods
// that still run; claims in a folder of the machine keep servers apart that use the same range.
//
// Used on one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/group_folders.h"
#include "base/result.h"
#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::agent {

struct UserRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;  // inclusive
};

// The name of the pods that trust each other: those of a JobSet; else of one owner (a Job); else
// the pod alone. In one namespace only, because anyone who may write there chooses labels and
// owners. What these contain is escaped: the name has letters, digits and -_./% only. Pure.
std::string trust_group_of(json::Value pod);

class UserBook {
 public:
  struct Options {
    std::string file;           // the book
    std::string claims_folder;  // of all servers of this machine; made if it is missing
    UserRange range;
    std::function<bool(std::uint32_t)> is_taken;        // the machine knows such a user or group
    std::optional<GroupFolders::Options> folders = {};  // empty: pods share the machine's
  };
  static Result<std::unique_ptr<UserBook>> open(Options options);

  // The group's user, a new one if it has none. Its pod has it until drop().
  Result<runtime::User> user_for(const std::string& group, const std::string& pod_uid);
  // What pods of a group that has a user see as their own /tmp, /var/tmp and /dev/shm; none if
  // those are the machine's.
  Result<std::vector<runtime::Mount>> folders_of(const std::string& group) const;
  bool hides(const std::string& path) const;  // the machine's file of this path, from all pods
  // A pod that was there before: what its group has stays.
  void keep(const std::string& group, const std::string& pod_uid);
  void drop(const std::string& pod_uid);  // nothing of it is left
  void release_unused();                  // when all pods that are there have been kept

 private:
  explicit UserBook(Options options) : options_(std::move(options)) {}
  struct Entry {
    std::uint32_t user = 0;
    std::set<std::string> pods;
  };
  Status load();
  Status save() const;
  Result<std::uint32_t> take(const std::string& group);
  Result<bool> claim(std::uint32_t user) const;
  std::string claim_file(std::uint32_t user) const;
  void release(const std::string& group);
  bool has(std::uint32_t user) const;
  std::set<std::uint32_t> users() const;

  const Options options_;
  std::map<std::string, Entry> groups_;
  std::map<std::string, std::string> group_of_pod_;
  std::unique_ptr<GroupFolders> folders_;  // null: there are none
};

// Whether this machine's lists of users and groups have the number.
bool is_known_user_or_group(std::uint32_t number);

}  // namespace muster::agent
