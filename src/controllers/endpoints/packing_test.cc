#include "controllers/endpoints/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

namespace muster::controllers::endpoints {
namespace packing_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Endpoint endpoint(int number, bool ready = true) {
  return {.addresses = {fmt::format("10.0.{}.{}", number / 250, number % 250)},
          .pod = fmt::format("p-{:04}", number),
          .ready = ready};
}

std::vector<Endpoint> range(int first, int last) {
  std::vector<Endpoint> out;
  for (int i = first; i < last; ++i) out.push_back(endpoint(i));
  return out;
}

class Packings : public ::testing::Test {
 protected:
  void have(const std::string& name, std::vector<Endpoint> endpoints) {
    slices_.push_back({.ref = {.name = name}, .endpoints = std::move(endpoints)});
  }
  // "name:count" of those that change, "-name" of those that are emptied.
  std::vector<std::string> packed(std::vector<Endpoint> wanted) {
    std::vector<const Slice*> existing;
    for (const Slice& slice : slices_) existing.push_back(&slice);
    packing_ = pack(existing, std::move(wanted));
    std::vector<std::string> out;
    for (const Packed& each : packing_.changed)
      out.push_back(
          fmt::format("{}:{}", each.slice ? each.slice->ref.name : "new", each.endpoints.size()));
    for (const Slice* slice : packing_.emptied) out.push_back("-" + slice->ref.name);
    return out;
  }

  std::list<Slice> slices_;
  Packing packing_;
};

TEST_F(Packings, ManyEndpointsMakeSlicesOfAHundred) {
  EXPECT_THAT(packed(range(0, 250)), ElementsAre("new:100", "new:100", "new:50"));
}

TEST_F(Packings, WhatIsThereAlreadyIsNotTouched) {
  have("a", range(0, 100));
  have("b", range(100, 150));
  EXPECT_THAT(packed(range(0, 150)), IsEmpty());
  EXPECT_THAT(packing_.unchanged, SizeIs(2));
}

TEST_F(Packings, AnotherConditionIsRefreshedInPlace) {
  have("a", range(0, 10));
  have("b", range(10, 20));
  std::vector<Endpoint> wanted = range(0, 20);
  wanted[3].ready = false;
  EXPECT_THAT(packed(wanted), ElementsAre("a:10"));
  EXPECT_EQ(packing_.changed[0].endpoints[3], endpoint(3, false));
}

TEST_F(Packings, NewOnesFillTheSlicesThatChangeAnyhowFullestFirst) {
  have("small", range(0, 10));
  have("large", range(100, 190));
  have("untouched", range(300, 310));
  std::vector<Endpoint> wanted = range(0, 9);
  for (const Endpoint& each : range(100, 189)) wanted.push_back(each);
  for (const Endpoint& each : range(300, 310)) wanted.push_back(each);
  for (const Endpoint& each : range(500, 515)) wanted.push_back(each);
  EXPECT_THAT(packed(wanted), ElementsAre("large:100", "small:13"));
}

TEST_F(Packings, ElseTheFullestUnchangedSliceThatTakesAllOfThem) {
  have("small", range(0, 10));
  have("fits", range(100, 190));
  have("too-full", range(200, 295));
  std::vector<Endpoint> wanted = range(0, 10);
  for (const Endpoint& each : range(100, 190)) wanted.push_back(each);
  for (const Endpoint& each : range(200, 295)) wanted.push_back(each);
  for (const Endpoint& each : range(500, 507)) wanted.push_back(each);
  EXPECT_THAT(packed(wanted), ElementsAre("fits:97"));
}

TEST_F(Packings, ElseANewOne) {
  have("a", range(0, 99));
  EXPECT_THAT(packed(range(0, 101)), ElementsAre("new:2"));
}

TEST_F(Packings, ASliceThatLosesAllIsEmptied) {
  have("a", range(0, 5));
  have("b", range(5, 10));
  EXPECT_THAT(packed(range(5, 10)), ElementsAre("-a"));
}

TEST_F(Packings, AnEmptySliceIsFilled) {
  have("placeholder", {});
  EXPECT_THAT(packed(range(0, 5)), ElementsAre("placeholder:5"));
}

TEST_F(Packings, TheSameEndpointTwiceIsKeptOnce) {
  have("a", range(0, 5));
  have("copy", range(0, 5));
  EXPECT_THAT(packed(range(0, 5)), ElementsAre("-copy"));
}

}  // namespace packing_test
}  // namespace muster::controllers::endpoints
