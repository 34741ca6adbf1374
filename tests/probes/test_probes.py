"""Probes of pods that are processes: what they find shows in statuses and events, in Kubernetes' own words."""
import re

import pytest

import blackbox
from local_pods import apply, main_status, messages

SERVER = {'command': ['python3', '-m', 'http.server', '--bind', '$(POD_IP)', '8080'],
          'env': [{'name': 'POD_IP', 'valueFrom': {'fieldRef': {'fieldPath': 'status.podIP'}}}],
          'ports': [{'name': 'web', 'containerPort': 8080}]}
SLEEPER = {'command': ['sleep', '1000']}
OFTEN = {'periodSeconds': 1, 'timeoutSeconds': 30}      # a busy machine is slow to answer, and that is not what is looked at

# A container, and what becomes of it: whether it gets ready, whether it is restarted, and what an event says.
PODS = {
    'http-ready': ({**SERVER, 'readinessProbe': {'httpGet': {'port': 'web'}, **OFTEN}}, True, False, None),
    'http-lost': ({**SERVER, 'livenessProbe': {'httpGet': {'port': 'web', 'path': '/nothing'}, **OFTEN}}, None, True,
                  'Liveness probe failed: HTTP probe failed with statuscode: 404'),
    'tcp-ready': ({**SERVER, 'readinessProbe': {'tcpSocket': {'port': 'web'}, **OFTEN}}, True, False, None),
    'tcp-unready': ({**SLEEPER, 'readinessProbe': {'tcpSocket': {'port': 9}, **OFTEN}}, False, False,
                    r'Readiness probe failed: dial tcp 127\.\S+:9: connect: connection refused'),
    'exec-started': ({**SLEEPER, 'startupProbe': {'exec': {'command': ['true']}, **OFTEN}}, True, False, None),
    'exec-unready': ({**SLEEPER, 'readinessProbe': {'exec': {'command': ['sh', '-c', 'echo not yet; exit 3']}, **OFTEN}}, False,
                     False, 'Readiness probe failed: not yet'),
    'exec-slow': ({**SLEEPER, 'startupProbe': {'exec': {'command': ['sleep', '60']}, 'failureThreshold': 1, **OFTEN, 'timeoutSeconds': 1}}, False, True,
                  'Startup probe failed: command timed out: "sleep 60" timed out after 1s'),
    'grpc-unready': ({**SERVER, 'readinessProbe': {'grpc': {'port': 8080}, **OFTEN}}, False, False,
                     'Readiness probe failed: error: failed to connect service at .*: the server does not speak HTTP/2'),
}


def pod(name, container):
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name},
            'spec': {'terminationGracePeriodSeconds': 1, 'containers': [{'name': 'main', 'image': 'none', **container}]}}


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    with blackbox.Muster(tmp_path_factory.mktemp('probes')) as muster:
        apply(muster, *(pod(name, row[0]) for name, row in PODS.items()))
        yield muster


def ready_and_restarts(server, name):
    found = main_status(server, name)
    return found.get('ready'), found.get('restartCount', 0)


@pytest.mark.parametrize('name', PODS)
def test_what_becomes_of_it(server, name):
    _, ready, restarted, event = PODS[name]
    if event:
        blackbox.eventually(lambda: any(re.fullmatch(event, message.strip()) for message in messages(server, name)))
    if ready:
        blackbox.eventually(lambda: ready_and_restarts(server, name)[0])
    if restarted:
        blackbox.eventually(lambda: ready_and_restarts(server, name)[1] > 0)
    if ready is not None:
        assert ready_and_restarts(server, name)[0] == ready
    if not restarted:
        assert ready_and_restarts(server, name)[1] == 0
