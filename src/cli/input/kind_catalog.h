// The kinds of a server by the names that people and files give them.
//
// Kinds of Kubernetes in v1 and JobSets are the same everywhere and known without asking. For any
// other word the server's discovery is asked, once.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/registry.h"
#include "base/result.h"

namespace muster::cli {

// How discovery is asked for at /apis, all groups in one answer.
inline constexpr std::string_view kDiscoveryForm =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

class KindCatalog {
 public:
  // The server's discovery. Without one, for files that are looked at before there is a server, the
  // kinds of this binary are all.
  using Ask = std::function<Result<std::string>()>;
  explicit KindCatalog(Ask ask = {});
  KindCatalog(const KindCatalog&) = delete;

  // By plural, singular, kind, short name or an alias of ours (js), with or without ".group" or
  // ".version.group"; letters in any case. Fails with a guess at what was meant. What it returns
  // lives as long as the catalog.
  Result<const api::Resource*> find(std::string_view word);
  // As objects name theirs. Fails likewise.
  Result<const api::Resource*> find_kind(std::string_view api_version, std::string_view kind);

 private:
  struct Row {
    const api::Resource* resource = nullptr;
    bool preferred = true;  // of its group's versions
  };

  Status learn();
  Status read(std::string_view discovery);
  const api::Resource* match(const std::vector<Row>& rows, std::string_view word) const;
  Error unknown_word(std::string_view word) const;
  Error unknown_kind(std::string_view api_version, std::string_view kind) const;

  Ask ask_;
  bool learnt_ = false;
  std::vector<Row> everywhere_;
  std::vector<Row> here_;
  std::deque<api::Resource> discovered_;
};

}  // namespace muster::cli
