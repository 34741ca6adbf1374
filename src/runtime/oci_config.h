// The config.json of a container with a root file system of its own, as OCI runtimes read it
// (docs/oci.md). Pure.
//
// The container brings its mounts only. Process, host name and IPC namespaces are those that the
// runtime has made already, the network is the machine's, and limits are on the caller: whatever
// the OCI runtime starts inherits them.
#pragma once

#include <linux/capability.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/runtime.h"

namespace muster::runtime {

// Who calls the OCI runtime. Anybody but root becomes the only user of the container, where he is
// called 0: these runtimes know no other way.
struct OciCaller {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  // How many files a program may open, and up to how many it may raise that. Said, not inherited:
  // runc is a program that raises its own.
  std::uint64_t open_files = 1024;
  std::uint64_t most_open_files = 1024;
};

inline constexpr const char* kOciRoot = "rootfs";  // in the bundle

// `mounts` are in the order in which they are made, after the usual ones (/proc, /dev, /sys).
std::string oci_config(const RunSpec& run, const std::vector<Mount>& mounts,
                       const OciCaller& caller);

// What root may do in a container: nothing that reaches beyond it. So neither device files nor raw
// sockets, the network being the machine's.
struct OciCapability {
  int number;
  const char* name;
};
inline constexpr std::array<OciCapability, 11> kOciCapabilities = {{
    {CAP_CHOWN, "CAP_CHOWN"},
    {CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
    {CAP_FOWNER, "CAP_FOWNER"},
    {CAP_FSETID, "CAP_FSETID"},
    {CAP_KILL, "CAP_KILL"},
    {CAP_SETGID, "CAP_SETGID"},
    {CAP_SETUID, "CAP_SETUID"},
    {CAP_SETPCAP, "CAP_SETPCAP"},
    {CAP_NET_BIND_SERVICE, "CAP_NET_BIND_SERVICE"},
    {CAP_SYS_CHROOT, "CAP_SYS_CHROOT"},
    {CAP_SETFCAP, "CAP_SETFCAP"},
}};

}  // namespace muster::runtime
