// A hosts file that many processes read while it changes.
//
// It is bound over /etc/hosts of running pods, so it cannot be replaced by another file, only be
// written in place, and no reader may ever meet half a line. Therefore a line lies in a slot, a
// multiple of kSlot bytes filled up with blanks; a line is hidden while its first byte is '#', and
// shown or hidden by writing that one byte. Slots of hidden lines are used again, so that the file
// grows with the number of pods that run and not with the number of those that ever ran.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::agent {

class HostsFile {
 public:
  static constexpr std::size_t kSlot = 128;
  static constexpr std::size_t kMaxFile = std::size_t{64} << 20;  // names of some 250,000 pods
  // So many hidden lines stay as they are: pods that come again find theirs.
  static constexpr std::size_t kKeptHidden = 256;

  // Makes the file if it is not there, with localhost and the machine's own lines; else finds its
  // slots again.
  static Result<HostsFile> open(const std::string& path, std::string_view machine_hosts);

  // Lines are without the line feed and begin with an address. Showing what is shown and hiding
  // what is hidden changes nothing.
  Status show(const std::string& line);
  Status hide(const std::string& line);

  std::vector<std::string> lines() const;  // shown and hidden, as far as they are remembered

 private:
  struct Slot {
    std::size_t offset = 0;
    std::size_t size = 0;
    std::uint64_t hidden = 0;  // when, counted from 1; 0 if it is shown
  };

  explicit HostsFile(UniqueFd fd) : fd_(std::move(fd)) {}
  bool load(std::string_view text);  // false if it is no file of ours
  Status make(std::string_view machine_hosts);
  Status write_at(std::size_t offset, std::string_view bytes) const;
  Status write_hidden(const std::string& line);
  void note_hidden(const std::string& line, Slot& slot);

  UniqueFd fd_;
  std::size_t size_ = 0;
  std::uint64_t hidings_ = 0;
  std::map<std::string, Slot, std::less<>> slots_;                         // by line
  std::map<std::size_t, std::map<std::uint64_t, std::string>> hidden_by_;  // slot size, then when
};

}  // namespace muster::agent
