"""The nodes of scenarios on real engines, where kwok plays them: what src/sim/node_group.cc and drain.cc do in the simulation."""
import collections
import json

import blackbox

STEPS = 'addNodes', 'loseNode', 'cordon', 'uncordon', 'drain', 'resizeNode'
DRAIN_PATIENCE = '120s'


class Numbers:
    """Gives out the numbers of nodes, none of them twice."""

    def __init__(self):
        self.next = collections.Counter()

    def create(self, group):
        prefix = group.get('prefix', 'node')
        begin = self.next[prefix]
        self.next[prefix] += group.get('count', 1)
        return [blackbox.fake_node('%s-%d' % (prefix, number), *map(group.get, ('labels', 'taints', 'allocatable')))
                for number in range(begin, self.next[prefix])]


def at_first(scenario):
    """The groups of nodes that a scenario begins with."""
    nodes = scenario.get('nodes', 4)
    return nodes if isinstance(nodes, list) else [{'count': nodes}]


def needs_own_nodes(scenario):
    """Whether others would notice its nodes, or it theirs."""
    return isinstance(scenario.get('nodes'), list) or any(step.keys() & set(STEPS) for step in scenario.get('steps', []))


def command(step):
    """A step that looks after a node, as a kubectl command."""
    if 'resizeNode' in step:
        room = step['resizeNode']['allocatable']
        patch = {'status': {'capacity': room, 'allocatable': room}}
        return 'patch', 'node', step['resizeNode']['name'], '--subresource=status', '--type=merge', '-p', json.dumps(patch)
    if 'drain' in step:
        return 'drain', step['drain'], '--force', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=' + DRAIN_PATIENCE
    if 'loseNode' in step:
        return 'delete', 'node', step['loseNode']
    return next((verb, step[verb]) for verb in ('cordon', 'uncordon') if verb in step)
