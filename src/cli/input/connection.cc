#include "cli/input/connection.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "cli/input/warnings.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "client/https.h"
#include "store/data_directory.h"

namespace muster::cli {
namespace {

constexpr std::string_view kManager = "muster";

bool exists(const std::string& file) { return ::access(file.c_str(), F_OK) == 0; }

// $KUBECONFIG may list several files; the first that is there counts.
std::string first_of(std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const std::string file(list.substr(0, end));
    if (!file.empty() && exists(file)) return file;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return "";
}

std::string from_surroundings() {
  if (const char* const list = std::getenv("KUBECONFIG"); list != nullptr && *list != '\0')
    return first_of(list);
  const char* const home = std::getenv("HOME");
  return home == nullptr ? "" : first_of(std::string(home) + "/.kube/config");
}

http::Request request_for(std::string target, std::string_view form) {
  http::Request request{
      .method = "GET", .target = std::move(target), .headers = {}, .body = {}, .peer = {}};
  request.headers.emplace_back("Accept", form);
  request.headers.emplace_back("User-Agent", kManager);
  return request;
}

// The kubeconfig that the flags mean.
Result<std::string> find_kubeconfig(const ServerFlags& flags) {
  if (!flags.kubeconfig.empty()) return flags.kubeconfig;
  if (!flags.data_dir.empty()) {
    std::string file = flags.data_dir + "/kubeconfig";
    if (exists(file)) return file;
    return fail(Code::kUnavailable,
                fmt::format("no server keeps its objects in {}: start one with `muster serve "
                            "--data-dir {}`",
                            flags.data_dir, flags.data_dir));
  }
  std::string file = from_surroundings();
  if (!file.empty()) return file;
  return fail(Code::kUnavailable,
              "no server is named: --data-dir DIR takes the one that `muster serve --data-dir "
              "DIR` has started, --kubeconfig FILE or $KUBECONFIG any other");
}

// A kubeconfig that lies in a data directory is that of its server. Empty if it does not.
std::string data_dir_of(const std::string& kubeconfig) {
  const std::size_t slash = kubeconfig.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : kubeconfig.substr(0, slash);
  return exists(store::database_file(folder)) ? folder : "";
}

}  // namespace

Result<client::ServerConfig> find_server(const ServerFlags& flags) {
  MUSTER_TRY(const std::string file, find_kubeconfig(flags));
  MUSTER_TRY(client::ServerConfig server, client::load_kubeconfig(file, flags.context));
  if (!flags.ns.empty()) server.ns = flags.ns;
  return server;
}

Result<std::unique_ptr<Connection>> Connection::open(const ServerFlags& flags) {
  MUSTER_TRY(client::ServerConfig server, find_server(flags));
  MUSTER_TRY(auto out, open(std::move(server)));
  out->data_dir_ = data_dir_of(find_kubeconfig(flags).value_or(""));
  return out;
}

Result<std::unique_ptr<Connection>> Connection::open(client::ServerConfig server) {
  std::unique_ptr<Connection> out(new Connection);
  out->ns_ = server.ns;
  out->url_ = server.url;
  MUSTER_TRY(auto https, client::make_https_transport(*out->loop_, std::move(server)));
  out->join(std::move(https));
  return out;
}

Result<std::unique_ptr<Connection>> Connection::open_reconnecting(const ServerFlags& flags,
                                                                  Duration patience) {
  MUSTER_TRY(const client::ServerConfig server, find_server(flags));
  std::unique_ptr<Connection> out(new Connection);
  out->ns_ = server.ns;
  out->url_ = server.url;
  out->data_dir_ = data_dir_of(find_kubeconfig(flags).value_or(""));
  Loop& loop = *out->loop_;
  const auto connect = [&loop](client::ServerConfig place) {
    return client::make_https_transport(loop, std::move(place));
  };
  MUSTER_TRY(auto reconnecting,
             ReconnectingTransport::open(loop, {.patience = patience,
                                                .find = [flags] { return find_server(flags); },
                                                .connect = connect}));
  out->reconnecting_ = reconnecting.get();
  out->join(std::move(reconnecting));
  return out;
}

void Connection::join(std::unique_ptr<client::Transport> transport) {
  https_ = std::move(transport);
  transport_ = std::make_unique<WarningTransport>(*https_, print_warning);
  client_ = std::make_unique<client::Client>(*transport_, std::string(kManager));
}

void Connection::on_absence(std::function<void(std::string_view)> note,
                            std::function<void(const Error&)> lost) {
  MUSTER_ASSERT(reconnecting_ != nullptr, "only a reconnecting connection tells");
  reconnecting_->on_absence(std::move(note), std::move(lost));
}

Connection::Connection() : kinds_([this] { return get("/apis", kDiscoveryForm); }) {}

Result<std::string> Connection::await(const std::function<void(client::Client::Reply)>& ask) {
  std::optional<Result<std::string>> answer;
  ask([&](Result<std::string> body) {
    answer = std::move(body);
    loop_->stop();
  });
  while (!answer) loop_->run();  // a stop for another reason is not an answer
  if (!*answer && answer->error().code == Code::kUnavailable) {
    std::string text =
        fmt::format("the server at {} cannot be reached: {}", url_, answer->error().message);
    if (!data_dir_.empty())
      text += fmt::format("\n  help: muster serve --data-dir {} starts it again", data_dir_);
    return fail(Code::kUnavailable, std::move(text));
  }
  return *std::move(answer);
}

Result<std::string> Connection::get(std::string target, std::string_view form) {
  return await([&](client::Client::Reply reply) {
    transport_->send(
        request_for(std::move(target), form),
        [reply = std::move(reply)](Result<client::Answer> answer) mutable {
          if (!answer) return reply(std::unexpected(std::move(answer).error()));
          if (answer->status / 100 != 2) {
            return reply(std::unexpected(client::error_of_status(answer->status, answer->body)));
          }
          reply(answer->text());
        });
  });
}

Result<std::string> Connection::get(const api::Resource& resource, std::string_view name) {
  return get(client::url_path(resource, resource.namespaced ? ns_ : "", name));
}

Result<std::string> Connection::list(const api::Resource& resource, client::ListOptions options) {
  return await(
      [&](client::Client::Reply reply) { client_->list(resource, options, std::move(reply)); });
}

Result<std::string> Connection::write(const client::Operation& operation) {
  return await([&](client::Client::Reply reply) { client_->write(operation, std::move(reply)); });
}

Status Connection::watch(std::string target, std::string_view form, const Lines::Tell& line) {
  Status why;
  Lines lines(kLongestWatchLine);
  int status = 0;
  std::string refusal;
  const auto take = [&](std::string_view data) {
    if (status / 100 == 2) return lines.take(data, line);
    refusal += data.substr(0, kLongestWatchLine - std::min(kLongestWatchLine, refusal.size()));
  };
  const auto stream = transport_->stream(request_for(std::move(target), form),
                                         {.head = [&](int answered) { status = answered; },
                                          .data = take,
                                          .end =
                                              [&](Status ended) {
                                                why = std::move(ended);
                                                loop_->stop();
                                              }});
  loop_->run();
  if (why && status / 100 != 2 && status != 0)
    return std::unexpected(client::error_of_status(status, refusal));
  return why;
}

int exit_code_of(const Error& error) {
  switch (error.code) {
    case Code::kUnavailable:
      return kUnreachable;
    case Code::kTimeout:
      return kTimedOut;
    default:
      return kRefused;
  }
}

int complain(const Error& error) { return complain(error, exit_code_of(error)); }

}  // namespace muster::cli
