"""Three engines, one truth: the end of every scenario is the same in the simulation, on `muster serve`, and on a real Kubernetes with
`muster operator`, where kwok plays the nodes. Scenarios with the same feature gates run side by side in one server."""
import collections
import functools
import itertools
import json
import os
import pathlib
import subprocess
import threading
import time

import pytest
import yaml

import blackbox
import nodes
import stages
from cluster import Cluster, Operator

HERE = pathlib.Path(__file__).resolve().parent
KUBERNETES = HERE.parent / 'kubernetes'
SCENARIOS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(HERE.glob('*.yaml'))}
GROUPS = collections.defaultdict(dict)      # what can share a server: those that are about nodes have one of their own
for _name, _scenario in SCENARIOS.items():
    if any('timeoutAfterSeconds' in (o['spec'].get('groupSchedulingConfig') or {}) for o in _scenario['objects']):
        blackbox.NOTES.append('%s: simulated only, kwok plays no pods that give up' % _name)
        continue
    if any('loseNode' in step for step in _scenario.get('steps', [])) and not os.environ.get('MUSTER_SLOW_SCENARIOS'):
        blackbox.NOTES.append('%s: three minutes per engine, left out without MUSTER_SLOW_SCENARIOS=1' % _name)
        continue
    _own = nodes.needs_own_nodes(_scenario)
    GROUPS[_scenario.get('featureGates', ''), _name if _own else 'shared'][_name] = _scenario
VOLUMES = 4
PATIENCE = 240      # seconds for real time to get where virtual time got
REST = 5            # seconds after that: an end that is only passed through is none


class Embedded:
    """`muster serve` without its agent."""
    binds_claims = False

    def __init__(self, folder, gates):
        self.server = blackbox.Muster(folder, '*,-agent', *(['--feature-gates', gates] if gates else []))
        self.folder = self.server.folder

    def __enter__(self):
        self.server.start()
        self.kubeconfig = self.server.kubeconfig
        return self

    def __exit__(self, *_):
        self.server.stop()


class Kubernetes:
    """The real control plane with its own Job controller, and `muster operator`."""
    binds_claims = True

    def __init__(self, folder, gates):
        self.cluster = Cluster(folder, 0, NO_KWOK='1')
        self.folder, self.kubeconfig = folder, self.cluster.kubeconfig
        self.flags = ['--feature-gates', gates] if gates else []

    def __enter__(self):
        self.cluster.__enter__()
        try:
            self.cluster.install()
            self.operator = Operator(self.cluster, *self.flags).wait_until_ready()
        except BaseException:
            self.cluster.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.operator.stop()
        finally:
            self.cluster.__exit__()


ENGINES = {'embedded': Embedded, 'kubernetes': Kubernetes}


def volume(name):
    """What a claim of a scenario is bound to, where somebody binds claims."""
    return {'apiVersion': 'v1', 'kind': 'PersistentVolume', 'metadata': {'name': name}, 'spec': {
        'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'hostPath': {'path': '/nonexistent/' + name}}}


def apply_file(engine, name, *objects):
    path = engine.folder / (name + '.json')
    path.write_text('\n---\n'.join(map(json.dumps, objects)))
    blackbox.kubectl(engine, 'create', '-f', str(path))


def kind_of(target):
    """As kubectl takes it: Workload.v1beta2.kueue.x-k8s.io where the kind alone is ambiguous."""
    group, _, version = target.get('apiVersion', '').rpartition('/')
    return '%s.%s.%s' % (target['kind'], version, group) if version else target['kind']


def perform(engine, name, step, number, numbers):
    if 'patch' in step:
        target = step['patch']
        blackbox.kubectl(engine, 'patch', kind_of(target), target['name'], '--type=merge', '-p', json.dumps(target['with']))
    elif 'delete' in step:
        target = step['delete']
        blackbox.kubectl(engine, 'delete', kind_of(target), target['name'], '--wait=false',
                         '--cascade=' + target.get('propagation', 'Background').lower())
    elif 'create' in step:
        apply_file(engine, '%s-%d' % (name, number), step['create'])
    elif 'addNodes' in step:
        apply_file(engine, '%s-%d' % (name, number), *numbers.create(step['addNodes']))
    else:
        blackbox.kubectl(engine, *nodes.command(step))


def play(engine, name, scenario, numbers, failures):
    try:
        apply_file(engine, name, *scenario['objects'])
        for number, step in enumerate(scenario.get('steps', [])):
            time.sleep(stages.milliseconds(step.get('after', '0s')) / 1000)
            perform(engine, name, step, number, numbers)
    except AssertionError as error:
        failures[name] = str(error)


def belongs(item, names):
    meta = item['metadata']
    labels = meta.get('labels', {})
    owners = {owner['name'] for owner in meta.get('ownerReferences', [])}
    own = {meta['name'], labels.get('jobset.sigs.k8s.io/jobset-name'), labels.get('batch.kubernetes.io/job-name'), *owners}
    return bool(own & names)


def difference(engine, scenario, name, items):
    """How the engine's objects differ from the end of the simulated run, in words; empty when they do not."""
    names = {o['metadata']['name'] for o in scenario['objects']}
    path = engine.folder / (name + '-state.json')
    path.write_text(json.dumps({'items': [item for item in items if belongs(item, names)]}))
    done = subprocess.run([os.environ['MUSTER'], 'sim', str(HERE / (name + '.yaml')), '--compare', str(path)], capture_output=True, text=True)
    return '' if done.returncode == 0 else done.stdout + done.stderr


@functools.cache
def compared_kinds(name):
    """The kinds whose objects make up the end of a scenario, as kubectl takes them."""
    return subprocess.run([os.environ['MUSTER'], 'sim', str(HERE / (name + '.yaml')), '-o', 'kinds'],
                          capture_output=True, text=True, check=True).stdout.strip()


def differences(engine, scenarios):
    """Those that are not where the simulation ended, and how."""
    found = {}
    for kinds, names in itertools.groupby(sorted(scenarios, key=compared_kinds), compared_kinds):
        items = json.loads(blackbox.kubectl(engine, 'get', kinds, '-o', 'json'))['items']
        found |= {name: difference(engine, scenarios[name], name, items) for name in names}
    return {name: text for name, text in found.items() if text}


def run_side_by_side(engine, scenarios):
    """What still differs from the simulation when patience ends, by scenario."""
    failures = {}
    numbers = nodes.Numbers()
    first = max((nodes.at_first(scenario) for scenario in scenarios.values()), key=lambda groups: sum(group.get('count', 1) for group in groups))
    manifests = [node for group in first for node in numbers.create(group)]
    apply_file(engine, 'nodes', *manifests)
    blackbox.eventually(lambda: blackbox.kubectl(engine, 'get', 'nodes').count(' Ready ') >= len(manifests))
    if engine.binds_claims:
        apply_file(engine, 'volumes', *(volume('volume-%d' % i) for i in range(VOLUMES)))
    players = [threading.Thread(target=play, args=(engine, name, scenario, numbers, failures)) for name, scenario in scenarios.items()]
    for player in players:
        player.start()
    for player in players:
        player.join()
    end = time.monotonic() + PATIENCE
    played = open_ones = {name: scenario for name, scenario in scenarios.items() if name not in failures}
    while open_ones and time.monotonic() < end:
        time.sleep(2)
        still = differences(engine, open_ones)
        open_ones = {name: played[name] for name in still}
    time.sleep(REST)
    return {**failures, **differences(engine, played)}


@pytest.mark.parametrize('group', GROUPS, ids=lambda group: ' '.join(filter(None, group)))
@pytest.mark.parametrize('kind', ENGINES)
def test_same_end_as_simulated(kind, group, tmp_path):
    scenarios, gates = GROUPS[group], group[0]
    (tmp_path / 'pod_stages.yaml').write_text(stages.document(scenarios))
    with ENGINES[kind](tmp_path, gates) as engine:
        settings = {**os.environ, 'KUBECONFIG': str(engine.kubeconfig), 'RUN': str(tmp_path), 'BIN': os.environ['KUBERNETES_BIN'],
                    'KWOK_POD_STAGES': str(tmp_path / 'pod_stages.yaml')}
        subprocess.run([KUBERNETES / 'start_kwok.sh'], env=settings, check=True)
        try:
            differing = run_side_by_side(engine, scenarios)
        finally:
            subprocess.run([KUBERNETES / 'stop.sh'], env=settings, check=True)
    assert not differing, '\n'.join('%s:\n%s' % pair for pair in differing.items())
    blackbox.NOTES.append('%s: %d scenarios end as simulated' % (kind, len(scenarios)))
