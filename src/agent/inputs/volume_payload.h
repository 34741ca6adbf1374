// The files of volumes that are made of objects: configMap, secret, downwardAPI, projected. Pure,
// but for the token.
#pragma once

#include <functional>

#include "agent/inputs/atomic_writer.h"
#include "agent/inputs/environment.h"
#include "agent/inputs/limits.h"
#include "agent/inputs/objects.h"
#include "base/result.h"
#include "json/value.h"

namespace muster::agent {

bool is_made_of_objects(json::Value volume);

// Counts what the files of one pod's volumes take, up to kMostPayload (limits.h).
class PayloadRoom {
 public:
  // A file with so many bytes, and the folders on the way to it. Code::kTooLarge: there is no room.
  Status take(std::string_view path, std::size_t bytes);

 private:
  std::size_t left_ = kMostPayload;
};

struct PayloadInputs {
  json::Value pod;
  const PodFacts& facts;
  const Objects& objects;
  const std::function<Result<std::string>(json::Value token_source)>& service_account_token;
  PayloadRoom& room;
};
// The error is the cause as a kubelet words it. Of two files with the same path the later one wins.
Result<Payload> payload_of(json::Value volume, const PayloadInputs& inputs);

}  // namespace muster::agent
