"""A few kilobytes of a pod that expand to more than any machine has: the pod says so, and neither the server nor its next start minds."""
import pathlib
import re

from blackbox import eventually
from local_pods import apply, items, main_state, messages, mount, pod, serving, shell, volume

MEGABYTE = 1_000_000
BIG = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'big'}, 'data': {'key': 'x' * MEGABYTE}}
FROM_BIG = {'configMapKeyRef': {'name': 'big', 'key': 'key'}}
BOMBS = [
    pod('doubling', shell('true', env=[{'name': 'A0', 'value': 'x' * 10}] + [
        {'name': 'A%d' % i, 'value': '$(A%d)$(A%d)' % (i - 1, i - 1)} for i in range(1, 41)])),
    pod('files', shell('true', **mount()), **volume(configMap={
        'name': 'big', 'items': [{'key': 'key', 'path': 'f%d' % i} for i in range(3000)]})),
    pod('whole-maps', shell('true', envFrom=[{'configMapRef': {'name': 'big'}, 'prefix': 'P%d' % i} for i in range(6000)])),
    pod('keys', shell('true', env=[{'name': 'V%d' % i, 'valueFrom': FROM_BIG} for i in range(6000)])),
    pod('arguments', {'command': ['true'] + ['$(V)'] * 6000, 'env': [{'name': 'V', 'valueFrom': FROM_BIG}]}),
]
LIMIT = r'more than \d+ (bytes|MiB)|at most'
MEMORY = 400 * 1024  # KiB, far more than a server with these objects needs and far less than any of them expands to


def said(server, name):
    """What a pod says of itself, in its state or in events."""
    states = main_state(server, name)
    what = states.get('terminated') or states.get('waiting') or {}
    return [what.get('message') or '', *messages(server, name)]


def peak(server):
    return int(re.search(r'VmHWM:\s+(\d+)', pathlib.Path('/proc/%d/status' % server.process.pid).read_text())[1])


def succeeded(server, name):
    return any(one['metadata']['name'] == name and one['status'].get('phase') == 'Succeeded' for one in items(server, 'pods'))


def test_what_expands_ends_neither_the_server_nor_its_next_start(shared):
    shared.chmod(0o711)
    with serving(shared) as server:
        apply(server, BIG, *BOMBS, pod('neighbour', shell('true')))
        for life in range(2):
            for bomb in BOMBS:
                name = bomb['metadata']['name']
                eventually(lambda: any(re.search(LIMIT, words) for words in said(server, name)))
            eventually(lambda: succeeded(server, 'neighbour'))
            assert peak(server) < MEMORY
            server.restart()
        apply(server, pod('later', shell('true')))
        eventually(lambda: succeeded(server, 'later'))
        assert peak(server) < MEMORY
