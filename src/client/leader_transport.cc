#include "client/leader_transport.h"

namespace muster::client {
namespace {

class LeaderTransport final : public Transport {
 public:
  LeaderTransport(Transport& transport, const LeaderElection& election)
      : transport_(transport), election_(election) {}

  void send(http::Request request, Done done) override {
    if (request.method != "GET") request.not_after = election_.leads_until();
    transport_.send(std::move(request), std::move(done));
  }

  std::unique_ptr<Stream> stream(http::Request request, StreamEvents events) override {
    return transport_.stream(std::move(request), std::move(events));
  }

  Loop& loop() override { return transport_.loop(); }
  Feed* feed() override { return transport_.feed(); }

 private:
  Transport& transport_;
  const LeaderElection& election_;
};

}  // namespace

std::unique_ptr<Transport> make_leader_transport(Transport& transport,
                                                 const LeaderElection& election) {
  return std::make_unique<LeaderTransport>(transport, election);
}

}  // namespace muster::client
