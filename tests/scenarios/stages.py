"""The pod rules of scenarios as stages for kwok: what src/sim/fake_nodes.cc does in virtual time, kwok does in real time."""
import json

import yaml

READY_MILLISECONDS = 1000       # from bound to ready, as in the simulation
DELETE_MILLISECONDS = 1000
BARRIER_MILLISECONDS = 3000     # at a barrier: kwok cannot see it open, but nothing depends on when it does
UNITS = {'ms': 1, 's': 1000, 'm': 60_000, 'h': 3_600_000}

READY = '''
{{ $now := Now }}
conditions:
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: Initialized}
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: Ready}
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: ContainersReady}
containerStatuses:
{{ range .spec.containers }}
- {image: {{ .image | Quote }}, name: {{ .name | Quote }}, ready: true, restartCount: 0, state: {running: {startedAt: {{ $now | Quote }}}}}
{{ end }}
{{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
podIP: {{ index . 0 | Quote }}
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
'''
WAITING = '''
{{ $now := Now }}
initContainerStatuses:
{{ range .spec.initContainers }}
- {image: {{ .image | Quote }}, name: {{ .name | Quote }}, ready: false, restartCount: 0, state: {running: {startedAt: {{ $now | Quote }}}}}
{{ end }}
phase: Pending
startTime: {{ $now | Quote }}
'''
END = '''
{{ $now := Now }}
conditions:
- {lastTransitionTime: {{ $now | Quote }}, status: "False", type: Ready, reason: %(condition)s}
- {lastTransitionTime: {{ $now | Quote }}, status: "False", type: ContainersReady, reason: %(condition)s}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: false
  restartCount: 0
  state: {terminated: {exitCode: %(code)d, reason: %(reason)s, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}
{{ end }}
phase: %(phase)s
'''


def milliseconds(text):
    digits = text.rstrip('msh')
    return int(digits) * UNITS[text[len(digits):]]


def rule_query(scenario):
    """A jq expression: the number of the rule that a pod of this scenario follows; the first that matches, "-" for a stranger."""
    names = json.dumps([o['metadata']['name'] for o in scenario['objects']])
    branches = []
    for number, rule in enumerate(scenario['pods']):
        labels = ['$l[%s] == %s' % (json.dumps(k), json.dumps(v)) for k, v in rule.get('match', {}).items()]
        branches.append('if %s then "%d"' % (' and '.join(labels) or 'true', number))
    chain = '%s else "%d" %s' % (' else '.join(branches), len(scenario['pods']), ' '.join(['end'] * len(branches)))
    mine = '(%s | index($l["jobset.sigs.k8s.io/jobset-name"] // $l["batch.kubernetes.io/job-name"] // "-"))' % names
    return '.metadata.labels as $l | if %s == null then "-" else %s end' % (mine, chain)


BARRIER, AT_BARRIER = '.metadata.annotations["muster.dev/barrier"]', '.status.initContainerStatuses'


def stage(name, query, number, phases, delay, next_state, *more):
    """`more`: what must be there, or, after a minus sign, must not."""
    alive = [{'key': '.metadata.deletionTimestamp', 'operator': 'DoesNotExist'}, {'key': '.status.phase', 'operator': 'In', 'values': phases},
             {'key': query, 'operator': 'In', 'values': [str(number)]},
             *({'key': key.lstrip('-'), 'operator': 'DoesNotExist' if key.startswith('-') else 'Exists'} for key in more)]
    return {'apiVersion': 'kwok.x-k8s.io/v1alpha1', 'kind': 'Stage', 'metadata': {'name': name}, 'spec': {
        'resourceRef': {'apiGroup': 'v1', 'kind': 'Pod'}, 'selector': {'matchExpressions': alive},
        'delay': {'durationMilliseconds': delay}, 'next': next_state}}


def of_scenario(name, scenario):
    query = rule_query(scenario)
    for number, rule in enumerate([*scenario['pods'], {'outcome': 'succeed'}]):     # the last: no rule matches
        if rule['outcome'] == 'hang':
            continue
        yield stage('%s-%d-ready' % (name, number), query, number, ['Pending'], READY_MILLISECONDS, {'statusTemplate': READY}, '-' + BARRIER)
        yield stage('%s-%d-waiting' % (name, number), query, number, ['Pending'], READY_MILLISECONDS, {'statusTemplate': WAITING},
                    BARRIER, '-' + AT_BARRIER)
        yield stage('%s-%d-passed' % (name, number), query, number, ['Pending'], BARRIER_MILLISECONDS, {'statusTemplate': READY},
                    BARRIER, AT_BARRIER)
        if rule['outcome'] == 'run':
            continue
        failed = rule['outcome'] == 'fail'
        values = {'condition': 'PodFailed' if failed else 'PodCompleted', 'code': rule.get('exitCode', 1) if failed else 0,
                  'reason': 'Error' if failed else 'Completed', 'phase': 'Failed' if failed else 'Succeeded'}
        yield stage('%s-%d-end' % (name, number), query, number, ['Running'], milliseconds(rule.get('after', '1s')),
                    {'statusTemplate': END % values})


def document(scenarios):
    gone = {'apiVersion': 'kwok.x-k8s.io/v1alpha1', 'kind': 'Stage', 'metadata': {'name': 'pod-delete'}, 'spec': {
        'resourceRef': {'apiGroup': 'v1', 'kind': 'Pod'},
        'selector': {'matchExpressions': [{'key': '.metadata.deletionTimestamp', 'operator': 'Exists'}]},
        'delay': {'durationMilliseconds': DELETE_MILLISECONDS}, 'next': {'delete': True}}}
    stages = [gone, *(s for name, scenario in scenarios.items() for s in of_scenario(name.replace('_', '-'), scenario))]
    return yaml.safe_dump_all(stages)
