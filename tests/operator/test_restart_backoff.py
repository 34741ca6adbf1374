"""A JobSet that fails at once waits before it is restarted, also across a restart of the server; with `muster operator` it does not."""
import json
import os
import time

import pytest

import blackbox

POD = {'restartPolicy': 'Never', 'containers': [{'name': 'main', 'image': 'none'}]}
JOBSET = {'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind': 'JobSet', 'metadata': {'name': 'hasty'},
          'spec': {'failurePolicy': {'maxRestarts': 100}, 'replicatedJobs': [
              {'name': 'w', 'template': {'spec': {'template': {'spec': POD}}}}]}}
OTHERS = 'garbage,serviceaccount'       # no Job controller: the test plays it


def get(server, *what):
    return json.loads(blackbox.kubectl(server, 'get', *what, '-o', 'json'))


def create(server):
    (server.folder / 'hasty.json').write_text(json.dumps(JOBSET))
    blackbox.kubectl(server, 'create', '-f', str(server.folder / 'hasty.json'))


def restart(server, attempt):
    """The Job of this attempt fails, and the failure is counted."""
    blackbox.eventually(lambda: get(server, 'jobs', '-l', 'jobset.sigs.k8s.io/restart-attempt=%d' % attempt)['items'])
    now = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())
    end = {'reason': 'BackoffLimitExceeded', 'message': 'x', 'status': 'True', 'lastTransitionTime': now, 'lastProbeTime': now}
    status = {'startTime': now, 'failed': 1, 'conditions': [{**end, 'type': 'FailureTarget'}, {**end, 'type': 'Failed'}]}
    blackbox.kubectl(server, 'patch', 'job', 'hasty-w-0', '--subresource=status', '--type=merge', '-p', json.dumps({'status': status}))
    blackbox.eventually(lambda: get(server, 'jobset', 'hasty')['status']['restarts'] == attempt + 1)


def restarted(server):
    """What is stored of the latest restart; None if nothing is."""
    conditions = get(server, 'jobset', 'hasty')['status']['conditions']
    return next((c['message'] for c in conditions if c['type'] == 'muster.dev/Restarted'), None)


def test_restarts_wait_longer_each_time_and_the_next_server_knows(tmp_path):
    with blackbox.Muster(tmp_path, 'jobset,' + OTHERS) as server:
        create(server)
        for attempt in range(3):
            restart(server, attempt)
        assert restarted(server).endswith('waits 1 s')
        server.restart()
        restart(server, 3)
        assert restarted(server).endswith('waits 2 s')


@pytest.fixture
def operated(tmp_path):
    with blackbox.Muster(tmp_path, OTHERS) as server:
        log = tmp_path / 'operator.log'
        command = [os.environ['MUSTER'], 'operator', '--kubeconfig', server.kubeconfig, '--controllers', 'jobset', '--no-leader-elect']
        process, _ = blackbox.start_program(command, log, r'operates')
        yield server
        blackbox.stop_program(process, log)


def test_an_operator_restarts_at_once(operated):
    create(operated)
    for attempt in range(4):
        restart(operated, attempt)
    assert restarted(operated) is None
