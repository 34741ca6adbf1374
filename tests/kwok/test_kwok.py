"""kwok, unmodified, plays the nodes: its informers, leases and status patches must find in muster what they know of Kubernetes."""
import json
import os
import pathlib
import subprocess

import pytest

import blackbox

HERE = pathlib.Path(__file__).resolve().parent
NODES, REPLICAS, PODS_PER_JOB = 3, 2, 3


def job_set(name):
    pod = {'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'main', 'image': 'fake', 'resources': {'requests': {'cpu': '1'}}}]}}
    job = {'spec': {'parallelism': PODS_PER_JOB, 'completions': PODS_PER_JOB, 'completionMode': 'Indexed', 'template': pod}}
    return {'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind': 'JobSet', 'metadata': {'name': name}, 'spec': {
        'replicatedJobs': [{'name': 'workers', 'replicas': REPLICAS, 'template': job}]}}


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp('kwok')
    with blackbox.Muster(folder, '*,-agent') as made:
        settings = {**os.environ, 'KUBECONFIG': str(made.kubeconfig), 'RUN': str(folder), 'BIN': os.environ['KUBERNETES_BIN']}
        subprocess.run([HERE.parent / 'kubernetes' / 'start_kwok.sh'], env=settings, check=True)
        yield made
        subprocess.run([HERE.parent / 'kubernetes' / 'stop.sh'], env=settings, check=True)


def create(server, *objects):
    path = server.folder / 'objects.yaml'
    path.write_text('\n---\n'.join(map(json.dumps, objects)))
    blackbox.kubectl(server, 'create', '-f', str(path))


def listed(server, kind, *arguments):
    return json.loads(blackbox.kubectl(server, 'get', kind, '-o', 'json', *arguments))['items']


def conditions(item):
    return {c['type'] for c in item.get('status', {}).get('conditions', []) if c['status'] == 'True'}


def test_nodes_become_ready(server):
    create(server, *(blackbox.fake_node('node-%d' % i) for i in range(NODES)))
    blackbox.eventually(lambda: sum('Ready' in conditions(n) for n in listed(server, 'nodes', '-l', 'type=kwok')) == NODES, every=1)
    leases = {lease['metadata']['name'] for lease in listed(server, 'leases', '-n', 'kube-node-lease')}
    assert leases >= {'node-%d' % i for i in range(NODES)}


def test_a_jobset_is_scheduled_runs_and_completes(server):
    create(server, job_set('js'))
    blackbox.kubectl(server, 'wait', 'jobset/js', '--for=jsonpath={.status.terminalState}=Completed', '--timeout=90s')
    pods = listed(server, 'pods', '-l', 'jobset.sigs.k8s.io/jobset-name=js')
    assert len(pods) == REPLICAS * PODS_PER_JOB
    assert {pod['status']['phase'] for pod in pods} == {'Succeeded'}
    assert {pod['spec']['nodeName'] for pod in pods} <= {'node-%d' % i for i in range(NODES)}
    jobs = listed(server, 'jobs')
    assert [(len(jobs), job['status']['succeeded'], 'Complete' in conditions(job)) for job in jobs] == [(REPLICAS, PODS_PER_JOB, True)] * REPLICAS
