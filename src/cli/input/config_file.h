// --config FILE: the flags of `serve` as YAML, by their names in camel case. A flag on the command
// line wins.
//
//   dataDir: /var/lib/muster
//   listen: 127.0.0.1:6443
//   controllers: ["*", "-job"]
//   featureGates: {ElasticJobSet: true}
#pragma once

#include "base/result.h"
#include "cli/verbs/commands.h"

namespace muster::cli {

// Does nothing if no file is named. Fails naming an unknown key, with its line.
Status apply_config_file(ServeOptions& options);

}  // namespace muster::cli
