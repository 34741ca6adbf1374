// The Kubernetes release that is spoken here, as API server and nodes name it.
#pragma once

namespace muster::api {

inline constexpr const char* kGitVersion = "v1.36.3+muster";

}  // namespace muster::api
