// What a server remarks on besides its answers (Warning headers), told once each.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "client/transport.h"

namespace muster::cli {

// The text of `299 - "text"`; empty if it is none. Pure.
std::string warning_text(std::string_view header);

// Passes everything on to the inner transport, which outlives it. When it has gone no answer is
// delivered any more: the loop of an engine that winds up still runs then.
class WarningTransport final : public client::Transport {
 public:
  using Tell = std::function<void(std::string_view text)>;
  WarningTransport(client::Transport& inner, Tell tell);

  ~WarningTransport() override { told_->is_open = false; }

  void send(http::Request request, Done done) override;
  std::unique_ptr<Stream> stream(http::Request request, StreamEvents events) override;
  Loop& loop() override { return inner_.loop(); }
  client::Feed* feed() override { return inner_.feed(); }

 private:
  // Shared with answers under way.
  struct Told {
    Tell tell;
    std::set<std::string, std::less<>> texts = {};
    bool is_open = true;
  };
  client::Transport& inner_;
  std::shared_ptr<Told> told_;
};

// "warning: …" on standard error.
void print_warning(std::string_view text);

}  // namespace muster::cli
