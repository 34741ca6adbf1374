"""What goes when something is deleted: children of an owner, the content of a namespace; and who is behind a Service."""
import json
import os
import subprocess

import pytest

import blackbox

JOBSET = '''
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: tree}
spec:
  replicatedJobs:
  - name: w
    replicas: 2
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          spec:
            restartPolicy: Never
            terminationGracePeriodSeconds: 2
            containers: [{name: c, image: process, command: [sleep, '600']}]
'''


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    with blackbox.Muster(tmp_path_factory.mktemp('collection')) as muster:
        yield muster


class Space:
    """A namespace of its own."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        blackbox.kubectl(server, 'create', 'namespace', name)

    def kubectl(self, *arguments, check=True):
        return blackbox.kubectl(self.server, '-n', self.name, *arguments, check=check)

    def create(self, manifest):
        program = os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl')
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        return subprocess.run([program, '-n', self.name, 'create', '-f', '-'], input=text, text=True, capture_output=True, timeout=60,
                              env=blackbox.environment(self.server.kubeconfig, self.server.folder))

    def names(self, kinds):
        return self.kubectl('get', kinds, '-o', 'name', '--ignore-not-found').split()

    def get(self, *what):
        return json.loads(self.kubectl('get', *what, '-o', 'json'))

    def start_tree(self):
        assert self.create(JOBSET).returncode == 0
        blackbox.eventually(lambda: self.running() == 4)

    def running(self):
        pods = self.get('pods')['items']
        return sum(pod['status'].get('phase') == 'Running' for pod in pods)


@pytest.fixture
def space(server, request):
    return Space(server, request.node.name.replace('_', '-').replace('test-', '')[:40])


def config_map(name, *owners, **metadata):
    references = [{'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': n, 'uid': u} for n, u in owners]
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name, 'ownerReferences': references, **metadata}}


def test_a_jobset_takes_its_tree_with_it(space):
    space.start_tree()
    space.kubectl('delete', 'jobset', 'tree')
    blackbox.eventually(lambda: not space.names('jobsets,jobs,pods,services,endpointslices'))


def test_in_the_foreground_the_root_goes_last(space):
    space.start_tree()
    space.kubectl('delete', 'jobset', 'tree', '--cascade=foreground')      # returns when it is gone
    assert space.names('jobsets,jobs,pods,services') == []


def test_orphans_stay_without_an_owner(space):
    space.start_tree()
    space.kubectl('delete', 'jobset', 'tree', '--cascade=orphan')
    assert space.names('jobsets') == []
    jobs = space.get('jobs')['items']
    assert len(jobs) == 2 and all('ownerReferences' not in job['metadata'] for job in jobs)
    assert space.running() == 4


def test_what_names_an_owner_that_never_was_goes(space):
    space.create(config_map('lost', ('nobody', '11111111-2222-3333-4444-555555555555')))
    blackbox.eventually(lambda: 'configmap/lost' not in space.names('configmaps'))


def test_an_owner_in_another_namespace_is_none(space, server):
    other = Space(server, 'elsewhere')
    other.create(config_map('owner'))
    uid = other.get('configmap', 'owner')['metadata']['uid']
    space.create(config_map('child', ('owner', uid)))
    blackbox.eventually(lambda: 'configmap/child' not in space.names('configmaps'))
    event = blackbox.eventually(lambda: [e for e in space.get('events')['items'] if e['reason'] == 'OwnerRefInvalidNamespace'])[0]
    assert event['message'] == ('ownerRef [v1/ConfigMap, namespace: %s, name: owner, uid: %s] does not exist in namespace "%s"'
                                % (space.name, uid, space.name))
    assert (event['type'], event['source']['component']) == ('Warning', 'garbage-collector-controller')
    assert other.names('configmaps') == ['configmap/owner']


def test_one_owner_of_two_is_enough(space):
    space.create(config_map('a'))
    space.create(config_map('b'))
    uids = [space.get('configmap', name)['metadata']['uid'] for name in 'ab']
    space.create(config_map('child', ('a', uids[0]), ('b', uids[1])))
    space.kubectl('delete', 'configmap', 'a')
    blackbox.eventually(lambda: len(space.get('configmap', 'child')['metadata']['ownerReferences']) == 1)
    assert space.get('configmap', 'child')['metadata']['ownerReferences'][0]['uid'] == uids[1]
    space.kubectl('delete', 'configmap', 'b')
    blackbox.eventually(lambda: not space.names('configmaps'))


def test_a_chain_goes_to_its_end_and_survives_a_restart(space, server):
    space.create(config_map('c-0'))
    for i in range(1, 6):
        uid = space.get('configmap', 'c-%d' % (i - 1))['metadata']['uid']
        space.create(config_map('c-%d' % i, ('c-%d' % (i - 1), uid)))
    server.restart()
    assert len(space.names('configmaps')) == 6
    space.kubectl('delete', 'configmap', 'c-0')
    blackbox.eventually(lambda: not space.names('configmaps'))


def test_a_namespace_goes_with_everything_in_it(space):
    space.start_tree()
    space.create(config_map('more'))
    space.kubectl('delete', 'namespace', space.name)
    assert space.name not in space.kubectl('get', 'namespaces')
    assert space.names('jobsets,jobs,pods,services,configmaps,secrets,serviceaccounts,events,endpointslices') == []


def test_a_namespace_says_what_holds_it_and_takes_nothing_new(space):
    space.create(config_map('held', finalizers=['x.y/z']))
    space.kubectl('delete', 'namespace', space.name, '--wait=false')
    refused = space.create(config_map('late'))
    assert 'is forbidden: unable to create new content in namespace %s because it is being terminated' % space.name in refused.stderr

    def conditions():
        status = json.loads(space.kubectl('get', 'namespace', space.name, '-o', 'json'))['status']
        assert status['phase'] == 'Terminating'
        return {c['type']: (c['status'], c['reason'], c['message']) for c in status.get('conditions', [])}
    blackbox.eventually(lambda: len(conditions()) == 5)
    assert conditions() == {
        'NamespaceDeletionDiscoveryFailure': ('False', 'ResourcesDiscovered', 'All resources successfully discovered'),
        'NamespaceDeletionGroupVersionParsingFailure': ('False', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'),
        'NamespaceDeletionContentFailure': (
            'False', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization'),
        'NamespaceContentRemaining': (
            'True', 'SomeResourcesRemain', 'Some resources are remaining: configmaps. has 1 resource instances'),
        'NamespaceFinalizersRemaining': (
            'True', 'SomeFinalizersRemain', 'Some content in the namespace has finalizers remaining: x.y/z in 1 resource instances'),
    }
    space.kubectl('patch', 'configmap', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
    space.kubectl('wait', 'namespace/' + space.name, '--for=delete', '--timeout=60s')


def test_a_headless_service_knows_its_pods_by_name(space):
    space.start_tree()

    def endpoints():
        slices = space.get('endpointslices', '-l', 'kubernetes.io/service-name=tree')['items']
        found = [e for s in slices for e in s['endpoints'] or []]
        return found if len(found) == 4 else None
    found = blackbox.eventually(endpoints)
    assert sorted(e['hostname'] for e in found) == ['tree-w-0-0', 'tree-w-0-1', 'tree-w-1-0', 'tree-w-1-1']
    pods = {pod['metadata']['name']: pod['metadata']['uid'] for pod in space.get('pods')['items']}
    assert {e['targetRef']['name']: e['targetRef']['uid'] for e in found} == pods
    blackbox.eventually(lambda: all(e['conditions'] == {'ready': True, 'serving': True, 'terminating': False} for e in endpoints() or [{}]))


def test_a_pod_that_never_found_a_node_goes_at_last(space):
    space.create({'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p', 'finalizers': ['x.y/z']},
                  'spec': {'schedulerName': 'nobody', 'containers': [{'name': 'c', 'image': 'process'}]}})
    space.kubectl('delete', 'pod', 'p', '--wait=false')
    blackbox.eventually(lambda: space.get('pod', 'p')['status']['phase'] == 'Failed')
    space.kubectl('patch', 'pod', 'p', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
    blackbox.eventually(lambda: not space.names('pods'))


def test_without_the_collector_children_stay(tmp_path):
    with blackbox.Muster(tmp_path, 'jobset,serviceaccount') as muster:
        space = Space(muster, 'alone')
        assert space.create(JOBSET).returncode == 0
        blackbox.eventually(lambda: len(space.names('jobs')) == 2)
        space.kubectl('delete', 'jobset', 'tree')
        with pytest.raises(AssertionError):
            blackbox.eventually(lambda: len(space.names('jobs')) < 2, seconds=3)
