"""The server dies or stops just after a barrier has opened: its JobSet ends well all the same, and every process starts once."""
import signal
import time

import pytest

from blackbox import Muster, eventually
from local_pods import apply, items, mount, pod_spec, shell, volume

PODS = 2
PROBE = {'exec': {'command': ['true']}, 'periodSeconds': 1}


def gang(name, notes):
    """Two pods that wait for each other behind an init container, beside a sidecar; a line for each start of a main process."""
    main = shell('echo "$HOSTNAME" >> /v/%s; sleep 1' % name, readinessProbe=PROBE, livenessProbe=PROBE, **mount(mountPath='/v'))
    spec = pod_spec(main, {**volume(hostPath={'path': str(notes)}), 'initContainers': [
        {'name': 'first', 'image': 'none', **shell('true')},
        {'name': 'beside', 'image': 'none', 'restartPolicy': 'Always', **shell('sleep 1000')}]})
    return {'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind': 'JobSet', 'metadata': {'name': name}, 'spec': {
        'groupSchedulingConfig': {}, 'failurePolicy': {'maxRestarts': 0}, 'replicatedJobs': [
            {'name': 'w', 'template': {'spec': {'completions': PODS, 'parallelism': PODS, 'completionMode': 'Indexed', 'backoffLimit': 0,
                                                'template': {'spec': spec}}}}]}}


@pytest.mark.parametrize('how', ['killed', 'stopped'])
def test_a_server_that_ends_when_a_barrier_opens_loses_no_job_set(tmp_path, shared, how):
    started = lambda name: (shared / name).read_text().split() if (shared / name).exists() else []
    with Muster(tmp_path, '*') as server:
        for milliseconds in (0, 10, 30, 100):
            name = 'after-%d' % milliseconds
            apply(server, gang(name, shared))
            eventually(lambda: started(name), every=0.001)
            time.sleep(milliseconds / 1000)
            if how == 'killed':
                server.process.send_signal(signal.SIGKILL)
                server.process.wait()
                server.process.stdout.close()
            else:
                server.stop()
            server.start()
            ended = lambda: [one['status'] for one in items(server, 'jobsets') if one['metadata']['name'] == name and one['status'].get('terminalState')]
            status = eventually(ended)[0]
            assert (status['terminalState'], status.get('restarts', 0)) == ('Completed', 0), status
            assert len(started(name)) == PODS
