// The logs of this node's containers: one file each, read back for `kubectl logs`, followed while
// they grow.
//
// serve() may be called from any thread; everything else happens on the loop.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/loop.h"
#include "server/api_server.h"

namespace muster::agent {

class FileLogs final : public server::LogSource {
 public:
  FileLogs(Loop& loop, std::string directory);
  ~FileLogs() override;

  void serve(Wanted wanted, std::shared_ptr<http::Exchange> exchange) override;

  // The file of a container that is about to write to it; its folder is made.
  std::string opened(std::string_view ns, std::string_view pod, std::string_view uid,
                     std::string_view container);
  // No more will be written: those who follow get the rest and the end.
  void closed(const std::string& file);

 private:
  struct Follower {
    std::shared_ptr<http::Exchange> exchange;
    int fd;
  };
  struct File {
    int watch = -1;  // inotify's, while somebody follows
    std::vector<Follower> followers;
  };

  std::string path(std::string_view ns, std::string_view pod, std::string_view uid,
                   std::string_view container) const;
  void answer(const Wanted& wanted, const std::shared_ptr<http::Exchange>& exchange);
  void follow(const std::string& file, int fd, std::shared_ptr<http::Exchange> exchange,
              std::string first);
  void drop(const std::string& file, const http::Exchange* exchange);
  void grew();
  void send_news(File& file);

  Loop& loop_;
  std::string directory_;
  int inotify_;
  std::map<std::string, File> files_;  // of containers that run, and those that are followed
  std::map<int, std::string> watched_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::agent
