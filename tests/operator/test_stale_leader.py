"""R7 with real processes: the leading `muster operator` is stopped (SIGSTOP) in the middle of its work, past its lease, and goes on when another leads.

Two operators against `muster serve`, which has no JobSet controller of its own. Every Job is made once in each attempt, whoever leads.
The same 200 and 5,000 times in virtual time, where every write is judged: src/sim/stale_leader_test.cc.
"""
import json
import os
import random
import signal
import ssl
import threading
import time
import urllib.request

import pytest

import blackbox

FREEZES = int(os.environ.get('MUSTER_REAL_FREEZES', '5'))
REPLICAS = 40
CONFIG = '''apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: true, leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 300ms, resourceNamespace: default, resourceName: leader}
'''
JOBS, SETS = '/apis/batch/v1/namespaces/default/jobs', '/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets'
LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/leader'


class Api:
    """The server, asked directly: what kubectl takes to start is longer than a freeze should wait for."""

    def __init__(self, server):
        self.url = server.server
        self.context = ssl.create_default_context(cafile=str(server.data_dir / 'pki' / 'ca.crt'))
        self.context.load_cert_chain(*server.certificate('admin'))

    def send(self, method, path, body=None, kind='application/json', timeout=30):
        request = urllib.request.Request(self.url + path, method=method, data=body and json.dumps(body).encode(), headers={'Content-Type': kind})
        return urllib.request.urlopen(request, context=self.context, timeout=timeout)

    def ask(self, *request, **more):
        with self.send(*request, **more) as answer:
            return json.load(answer)


class Births:
    """Every Job that was ever made, as a watch tells it."""

    def __init__(self, api):
        self.seen = {}      # (set, attempt, name): uids
        version = api.ask('GET', JOBS)['metadata']['resourceVersion']
        self.stream = api.send('GET', JOBS + '?watch=1&resourceVersion=' + version, timeout=600)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.stream:
            event = json.loads(line)
            if event['type'] == 'ADDED':
                meta = event['object']['metadata']
                key = (meta['ownerReferences'][0]['uid'], meta['labels']['jobset.sigs.k8s.io/restart-attempt'], meta['name'])
                self.seen.setdefault(key, []).append(meta['uid'])


def job_set(name):
    pod = {'restartPolicy': 'Never', 'containers': [{'name': 'main', 'image': 'none'}]}
    job = {'spec': {'parallelism': 1, 'completions': 1, 'template': {'spec': pod}}}
    return {'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind': 'JobSet', 'metadata': {'name': name},
            'spec': {'failurePolicy': {'maxRestarts': 100}, 'replicatedJobs': [{'name': 'w', 'replicas': REPLICAS, 'template': job}]}}


@pytest.fixture
def server(tmp_path):
    with blackbox.Muster(tmp_path, 'garbage,serviceaccount') as running:
        yield running


@pytest.fixture
def operators(server):
    config = server.folder / 'config.yaml'
    config.write_text(CONFIG)
    made = []
    for number in range(2):
        log = server.folder / ('operator-%d.log' % number)
        command = [os.environ['MUSTER'], 'operator', '--kubeconfig', server.kubeconfig, '--controllers', 'jobset', '--config', config]
        made.append((blackbox.start_program(command, log, r'operates')[0], log))
    yield [process for process, _ in made]
    for process, log in made:
        process.send_signal(signal.SIGCONT)
        blackbox.stop_program(process, log)


def holder(api):
    return api.ask('GET', LEASE)['spec']['holderIdentity']


def fail_one_job(api, name):
    """What a Job controller would say: the whole set starts again."""
    now = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())
    reason = {'reason': 'BackoffLimitExceeded', 'message': 'x', 'status': 'True', 'lastTransitionTime': now, 'lastProbeTime': now}
    status = {'startTime': now, 'failed': 1, 'conditions': [{**reason, 'type': 'FailureTarget'}, {**reason, 'type': 'Failed'}]}
    api.ask('PATCH', '%s/%s-w-0/status' % (JOBS, name), {'status': status}, 'application/merge-patch+json')


def test_a_leader_that_was_stopped_makes_nothing_twice(server, operators):
    api, rng = Api(server), random.Random(7)
    births = Births(api)
    blackbox.eventually(lambda: holder(api))
    by_pid = {str(process.pid): process for process in operators}
    for freeze in range(FREEZES):
        name = 'set-%d' % freeze
        api.ask('POST', SETS, job_set(name))
        blackbox.eventually(lambda: len([key for key in births.seen if key[2].startswith(name + '-w-')]) == REPLICAS)
        leads = holder(api)
        leader = by_pid[leads.split('_')[1]]
        fail_one_job(api, name)
        time.sleep(rng.uniform(0, 0.05))        # deleting, or making them anew
        leader.send_signal(signal.SIGSTOP)
        blackbox.eventually(lambda: holder(api) != leads)
        time.sleep(rng.uniform(0, 0.5))
        leader.send_signal(signal.SIGCONT)
        blackbox.eventually(lambda: len([key for key in births.seen if key[1] == '1' and key[2].startswith(name + '-w-')]) == REPLICAS)
    time.sleep(3)       # whoever still believes in its lease has renewed it, or has not
    twice = {key: uids for key, uids in births.seen.items() if len(uids) > 1}
    assert not twice
    assert len(births.seen) == 2 * REPLICAS * FREEZES
    assert len(api.ask('GET', JOBS)['items']) == REPLICAS * FREEZES
