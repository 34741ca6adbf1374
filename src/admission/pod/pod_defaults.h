// Defaults of pods and of the templates from which pods are made (spec: job 4.1).
#pragma once

#include <string_view>

#include "json/value.h"

namespace muster::admission {

// What pods and pod templates have in common.
void default_pod_spec(json::Value spec);
// {metadata, spec}; `owner` holds it under `key`, and it is added if absent.
void default_pod_template(json::Value owner, std::string_view key = "template");
// What only real pods get, to be applied before default_pod_spec().
void default_pod_only(json::Value spec);

void default_volume(json::Value volume);

// Amounts finer than 1m are rounded up to it. For every field that is a list of resources.
void round_resource_list(json::Value list);
void round_resources(json::Value resources);  // {limits, requests}

// "Always" for an image without a tag or with the tag "latest".
std::string_view default_pull_policy(std::string_view image);

}  // namespace muster::admission
