// decode() of a custom resource.
#pragma once

#include "api/decode/decode.h"

namespace muster::api {

// `schema` is that of the whole object: its metadata is decoded like that of built-in kinds.
Result<json::Value> decode_custom(json::Arena& arena, json::Value in, const Schema& schema,
                                  DecodeReport& report);

}  // namespace muster::api
