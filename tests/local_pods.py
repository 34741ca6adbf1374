"""Pods that are processes of this machine, and what they may leave on it."""
import contextlib
import json
import os
import pathlib
import subprocess

import blackbox

SECONDS = 60
# A user without a name, a home or processes. Files of tests run side by side, so each worker has its own, and unit
# tests, which run beside them, have another (54321): limits count a user's processes.
STRANGER = 54400 + 10 * int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0').removeprefix('gw'))


def shell(script, **container):
    return {'command': ['sh', '-c', script], **container}


def python(script, *arguments, **container):
    return {'command': ['python3', '-c', script, *arguments], **container}


def mount(**more):
    """Of the volume `volume`."""
    return {'volumeMounts': [{'name': 'v', 'mountPath': '/v', **more}]}


def volume(**source):
    return {'volumes': [{'name': 'v', **source}]}


def pod_spec(container, spec):
    return {'restartPolicy': 'Never', 'terminationGracePeriodSeconds': 1, **spec, 'containers': [{'name': 'main', 'image': 'none', **container}]}


def pod(name, container, **spec):
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name}, 'spec': pod_spec(container, spec)}


def job_set(name, container, **spec):
    """One pod, w-0-0, that is not tried again."""
    return {'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind': 'JobSet', 'metadata': {'name': name}, 'spec': {'replicatedJobs': [
        {'name': 'w', 'template': {'spec': {'backoffLimit': 0, 'template': {'spec': pod_spec(container, spec)}}}}]}}


def call(server, *arguments, code=0, stdin=''):
    """muster against a server; what it printed, errors too."""
    done = subprocess.run([os.environ['MUSTER'], *map(str, arguments), '--kubeconfig', server.kubeconfig], input=stdin, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
    assert done.returncode == code, '%s: %d\n%s' % (arguments, done.returncode, done.stdout[-2000:])
    return done.stdout


def apply(server, *objects, code=0):
    return call(server, 'apply', '-f', '-', code=code, stdin=json.dumps({'apiVersion': 'v1', 'kind': 'List', 'items': objects}, indent=1))


def items(server, kind):
    return json.loads(call(server, 'get', kind, '-o', 'json'))['items']


def main_status(server, name):
    """Of the main container of a pod; empty before it has one."""
    found = [one['status'] for one in items(server, 'pods') if one['metadata']['name'] == name]
    return found[0].get('containerStatuses', [{}])[0] if found else {}


def main_state(server, name):
    """Its `waiting`, `running` or `terminated`."""
    return main_status(server, name).get('state', {})


def messages(server, name):
    """What events say about an object."""
    return [one['message'] for one in items(server, 'events') if one['involvedObject']['name'] == name]


def run(folder, file, *flags, user=None):
    """`muster run` in a folder that is its home and holds all it makes; exit code and output."""
    identity = {} if user is None else {'user': user, 'group': user, 'extra_groups': []}
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': str(folder), 'TMPDIR': str(folder)}
    done = subprocess.run([os.environ['MUSTER'], 'run', '-', *map(str, flags)], cwd=folder, env=environment, input=json.dumps(file, indent=1), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, **identity)
    return done.returncode, done.stdout


def processes_naming(text):
    """Command lines and environments of living processes that have this text."""
    found = {}
    for entry in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            words = (entry / 'cmdline').read_bytes() + (entry / 'environ').read_bytes()
        except OSError:
            continue        # it has just ended, or is not ours
        if str(text).encode() in words:
            found[int(entry.name)] = words
    return found


def mounts_naming(text):
    return [line for line in pathlib.Path('/proc/self/mountinfo').read_text().split('\n') if str(text) in line]


@contextlib.contextmanager
def serving(folder, *flags):
    """A server whose pods end before it does."""
    server = blackbox.Muster(folder, '*', *flags).start()
    try:
        yield server
    finally:
        names = [one['metadata']['name'] for one in items(server, 'pods')]
        if names:
            call(server, 'delete', 'pod', *names)
        blackbox.eventually(lambda: not any(any((server.data_dir / part).iterdir()) for part in ('pods', 'logs') if (server.data_dir / part).exists()))
        server.stop()
        blackbox.eventually(lambda: not processes_naming(folder))
