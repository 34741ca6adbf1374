#include "cli/input/warnings.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/ascii.h"
#include "base/terminal_text.h"

namespace muster::cli {

std::string warning_text(std::string_view header) {
  const std::size_t open = header.find('"');
  if (!header.starts_with("299 ") || open == header.npos) return "";
  std::string out;
  for (std::size_t i = open + 1; i < header.size() && header[i] != '"'; ++i) {
    if (header[i] == '\\' && i + 1 < header.size()) ++i;
    out += header[i];
  }
  return out;
}

WarningTransport::WarningTransport(client::Transport& inner, Tell tell)
    : inner_(inner), told_(std::make_shared<Told>(std::move(tell))) {}

void WarningTransport::send(http::Request request, Done done) {
  inner_.send(std::move(request),
              [told = told_, done = std::move(done)](Result<client::Answer> answer) mutable {
                if (!told->is_open) return;
                if (answer) {
                  for (const auto& [name, value] : answer->headers) {
                    if (!equal_ignoring_case(name, "Warning")) continue;
                    std::string text = warning_text(value);
                    if (!text.empty() && told->texts.insert(text).second) told->tell(text);
                  }
                }
                done(std::move(answer));
              });
}

std::unique_ptr<client::Transport::Stream> WarningTransport::stream(http::Request request,
                                                                    StreamEvents events) {
  return inner_.stream(std::move(request), std::move(events));
}

void print_warning(std::string_view text) { fmt::print(stderr, "warning: {}\n", plain_text(text)); }

}  // namespace muster::cli
