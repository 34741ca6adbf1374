// Requests of a leader: writes leave only while its lease is surely its own.
//
// A process may be stopped at any moment, for longer than its lease, with requests on their way to
// the socket. When it goes on, another leads: what it still wanted to write then must not be sent,
// and is not, because the time is looked at when the first byte is due (http::Request::not_after).
#pragma once

#include <memory>

#include "client/leader_election.h"
#include "client/transport.h"

namespace muster::client {

// Both outlive it. Writes that come too late fail with kUnavailable; reads always pass.
std::unique_ptr<Transport> make_leader_transport(Transport& transport,
                                                 const LeaderElection& election);

}  // namespace muster::client
