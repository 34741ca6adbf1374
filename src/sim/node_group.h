// Nodes as scenarios describe them: groups of alike ones, and the writes by which people look after
// them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/client.h"
#include "sim/place.h"

namespace muster::sim {

struct NodeGroup {
  int count = 1;
  std::string prefix = "node";  // node-0, node-1 …
  json::Value labels, taints, allocatable;
};

Result<NodeGroup> read_node_group(const Place& place);

// Gives out the numbers of nodes. None is given out twice, so that a node that is gone does not
// come back by accident.
class NodeNumbers {
 public:
  // A create for each node of the group.
  std::vector<client::Operation> create(const NodeGroup& group);

 private:
  std::map<std::string, int> next_;  // by prefix
};

// As `kubectl cordon` and `kubectl uncordon` do it.
client::Operation cordon_node(const std::string& node, bool cordoned);

// What a node can hold from now on; resources that `allocatable` does not name stay.
client::Operation resize_node(const std::string& node, json::Value allocatable);

}  // namespace muster::sim
