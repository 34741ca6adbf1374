// One informer per kind, shared by all controllers that look at it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "client/informer.h"

namespace muster::controllers {

class Informers {
 public:
  Informers(client::Client& client, const api::Registry& registry)
      : client_(client), registry_(registry) {}

  // All of these before start().

  // For those who take what they need of a version when it comes (Cache): between changes it knows
  // who an object is and whose, and no more unless somebody else asked for the whole objects.
  client::Informer& changes_of(std::string_view group, std::string_view version,
                               std::string_view plural);
  // Changes of those objects that carry a label: others are not even sent.
  client::Informer& labelled(std::string_view group, std::string_view version,
                             std::string_view plural, std::string_view label);
  // For those who look into objects between changes.
  client::Informer& of(std::string_view group, std::string_view version, std::string_view plural);
  // For those who look at metadata only, of all kinds: the shared informer if somebody asked for
  // the kind before, else a slim one.
  client::Informer& metadata_of(const api::Resource& resource);
  // Owners are looked at only when their children are known. A status is written by what was seen
  // of the children: with older children beside it a new life would count some of them twice.
  void know_first(client::Informer& children, client::Informer& owners) {
    children_of_[&owners] = &children;
  }

  void start();

 private:
  const api::Resource& known(std::string_view group, std::string_view version,
                             std::string_view plural) const;
  client::Informer& make(const api::Resource& resource, client::ListOptions options);
  client::Informer& kept(client::Informer& informer);

  client::Client& client_;
  const api::Registry& registry_;
  // By what they ask for: so they start in the same order in every run.
  std::map<std::string, std::unique_ptr<client::Informer>> informers_;
  std::set<const client::Informer*> kept_;  // those that keep the content of objects
  std::map<const client::Informer*, client::Informer*> children_of_;  // only looked up
  bool started_ = false;
};

}  // namespace muster::controllers
