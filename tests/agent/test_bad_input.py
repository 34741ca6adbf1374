"""Pods that cannot run, and pods that mean no good: the pod's state, an event and `muster run` say what is wrong; nothing is left behind."""
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import time

import pytest

import blackbox
from local_pods import (STRANGER, apply, call, items, job_set, main_state, messages, mount, mounts_naming, pod, processes_naming, python, run, serving, shell,
                        volume)

ROOT = os.geteuid() == 0
LINE = 10_000_000
STAYS = 'a process that nobody asked for'
ODD = 'a\n\x1b[31m\x01\u202e=\u00e9\'"$(NONE)`id`'
EMPTY = {'volumes': [{'name': 'v', 'emptyDir': {}}, {'name': 'w', 'emptyDir': {}}]}
BIND = 'import socket, sys; socket.create_server(("127.0.0.1", int(sys.argv[1])))'
DAEMON = '''
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        time.sleep(1000)
    os._exit(0)
os.wait()
'''
# Links out of the volume, and a tree that is deeper than any path, whose end cannot be entered.
TRAPS = '''
import os, sys
os.chdir('/v')
os.symlink(sys.argv[1], 'folder'), os.symlink(sys.argv[1] + '/kept', 'file'), os.symlink('../../../../../../..', 'up'), os.mkfifo('pipe')
for _ in range(300):
    os.mkdir('d' * 200), os.chdir('d' * 200)
os.chmod('.', 0)
'''


def after(*command):
    """A pod whose init container has been in the volume before."""
    return {**EMPTY, 'initContainers': [{'name': 'first', 'image': 'none', 'command': list(command), **mount()}]}


# A container and its pod; why it stands still or has ended; what its state (if it ever has one) and an event say.
PODS = {
    'missing': ({'command': ['/no/such/program']}, {}, 'StartError', r'exec: "/no/such/program": stat /no/such/program: no such file or directory'),
    'not-in-path': ({'command': ['no-such-program']}, {}, 'StartError', r'exec: "no-such-program": executable file not found in \$PATH'),
    'not-executable': ({'command': ['/etc/passwd']}, {}, 'StartError', r'exec: "/etc/passwd": permission denied'),
    'a-folder': ({'command': ['/etc']}, {}, 'StartError', r'exec: "/etc": is a directory'),
    'no-program': ({'command': ['/v/text'], **mount()}, after('sh', '-c', 'echo text > /v/text; chmod 755 /v/text'), 'StartError',
                   r'exec /v/text: exec format error'),
    'long-argument': ({'command': ['echo', 'x' * 200_000]}, {}, 'StartError',
                      r'word 1 of the command line \(command\) has more than 131071 bytes, the most that a program can be given'),
    'no-folder': (shell('true', workingDir='/no/such/folder'), {}, 'StartError', r'chdir to "/no/such/folder": no such file or directory'),
    'wrong-root': (shell('id'), {'securityContext': {'runAsNonRoot': True, 'runAsUser': 0}}, 'CreateContainerConfigError',
                   r"container's runAsUser breaks non-root policy \(pod: \"wrong-root_default\(.*\)\", container: main\)"),
    'zero-byte': (shell('true', env=[{'name': 'ODD', 'value': 'a\0b'}]), {}, 'CreateContainerConfigError',
                  r"environment variable ODD can't contain null \(\\x00\)"),
    'expression': (shell('true', env=[{'name': 'UP', 'value': '../..'}], **mount(subPathExpr='$(UP)/etc')), EMPTY, 'CreateContainerConfigError',
                   r"unable to provision SubPath `../../etc`: must not contain '\.\.'"),
    'link': (shell('true', **mount(subPath='l')), after('ln', '-s', '/etc', '/v/l'), 'CreateContainerConfigError',
             r'failed to prepare subPath for volumeMount "v" of container "main": l: Too many levels of symbolic links'),
    'link-before': (shell('true', **mount(subPath='l/etc')), after('ln', '-s', '/', '/v/l'), 'CreateContainerConfigError',
                    r'failed to prepare subPath for volumeMount "v" of container "main": l/etc: Not a directory'),
    'link-in-target': (shell('true', volumeMounts=[{'name': 'v', 'mountPath': '/v'}, {'name': 'w', 'mountPath': '/v/l/x'}]),
                       after('ln', '-s', '/etc', '/v/l'), 'StartError', r'cannot make /v/l/x: Not a directory'),
    'over-everything': (shell('true', **mount(mountPath='/')), EMPTY, 'StartError', r'"/" is no place for a mount'),
    'last-words-outside': (shell('true', terminationMessagePath='/../../etc/x'), {}, 'StartError', r'"/../../etc/x" is no place for a mount'),
    'no-host-folder': (shell('true', **mount()), volume(hostPath={'path': '/no/such/folder', 'type': 'Directory'}), 'ContainerCreating',
                       r'MountVolume.SetUp failed for volume "v" : hostPath type check failed: /no/such/folder is not a directory'),
    'all-processes': (shell('true', **mount()), volume(hostPath={'path': '/proc'}), 'ContainerCreating',
                      r'MountVolume.SetUp failed for volume "v" : hostPath /proc is not allowed: it shows the processes of all pods'),
    'processes-below': (shell('true', **mount(subPath='proc')), volume(hostPath={'path': '/'}), 'StartError',
                        r'cannot mount /proc: it shows the processes of all pods'),
    'no-map': (shell('true', **mount()), volume(configMap={'name': 'absent'}), 'ContainerCreating',
               r'MountVolume.SetUp failed for volume "v" : configmap "absent" not found'),
    'other-volume': (shell('true', **mount()), volume(nfs={'server': 'x', 'path': '/'}), 'ContainerCreating',
                     r'MountVolume.SetUp failed for volume "v" : the process runtime has no volumes of type nfs'),
}

# Pods that end, with which exit code, and what their log says then.
ENDS = {
    'n' * 253: (shell('echo long'), {}, 0, 'long\n'),
    'unwritable': (shell('echo x > file', workingDir='/proc/sys'), {}, 2, r'.*cannot create file: .*\n'),
    'odd-bytes': (python('import os; print(ascii(os.environb[b"ODD"]))', env=[{'name': 'ODD', 'value': ODD}]), {}, 0, re.escape(ascii(ODD.encode())) + '\n'),
    'read-only-map': (shell('rm -f /v/*; ln -sf /etc/passwd /v/key; cat /v/key', **mount()), volume(configMap={'name': 'kube-root-ca.crt'}), 1,
                      r"(?s).*Read-only file system.*"),
    'whole-machine': (shell('ls -A /v/proc; ls -d /v/etc', **mount()), volume(hostPath={'path': '/'}), 0, '/v/etc\n'),
    'long-words': (shell('head -c 100000 /dev/zero | tr "\\0" y > /dev/termination-log; exit 3'), {}, 3, ''),
    'daemon': (python(DAEMON, STAYS), {}, 0, ''),
    'limited': (shell('cat /proc/self/cgroup', resources={'limits': {'memory': '64Mi', 'cpu': '1'}}), {}, 0, '(?s).*'),
}

# What the API does not even take, and the words.
NOT_TAKEN = {
    'subPath up': (pod('x', shell('true', **mount(subPath='../x')), **EMPTY), "subPath: Invalid value: \"../x\": must not contain '..'"),
    'subPath from the root': (pod('x', shell('true', **mount(subPath='/etc')), **EMPTY), 'subPath: Invalid value: "/etc": must be a relative path'),
    'key with a slash': ({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x'}, 'data': {'a/b': ''}}, 'data[a/b]: Invalid value'),
    'key of dots': ({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x'}, 'data': {'..': ''}}, "data[..]: Invalid value: \"..\": must not be '..'"),
    'file up': (pod('x', shell('true', **mount()), **volume(configMap={'name': 'c', 'items': [{'key': 'a', 'path': '../x'}]})),
                "items[0].path: Invalid value: \"../x\": must not contain '..'"),
    'host path up': (pod('x', shell('true', **mount()), **volume(hostPath={'path': '/tmp/../etc'})), 'hostPath.path: Invalid value: "/tmp/../etc"'),
    'volume name': (pod('x', shell('true', **mount()), volumes=[{'name': '../v', 'emptyDir': {}}]), 'volumes[0].name: Invalid value: "../v"'),
    'pod name': (pod('../../etc', shell('true')), 'metadata.name: Invalid value: "../../etc"'),
    'long name': (pod('x' * 254, shell('true')), 'must be no more than 253'),
    'name of a variable': (pod('x', shell('true', env=[{'name': 'A=B', 'value': ''}])), 'env[0].name: Invalid value: "A=B"'),
    'line in a name': (pod('x', shell('true'), subdomain='x\n127.0.0.1 evil'), 'spec.subdomain: Invalid value'),
    'no such number': (pod('x', shell('true'), securityContext={'runAsUser': 2 ** 32}), 'runAsUser: Invalid value: 4294967296'),
}


def state(server, name):
    """Why the main container of a pod stands still or has ended, its message, its exit code."""
    states = main_state(server, name)
    what = states.get('terminated') or states.get('waiting') or {}
    return what.get('reason'), what.get('message'), what.get('exitCode')


def events(server, name):
    return [message.removeprefix('Error: ') for message in messages(server, name)]


def exit_code(server, name):
    blackbox.eventually(lambda: state(server, name)[2] is not None)
    return state(server, name)[2]


def leftovers(server):
    """Of pods that are gone: files, mounts, processes beside the keeper."""
    files = [str(path) for part in ('pods', 'logs', 'runtime/pods') for path in (server.data_dir / part).glob('*') if path.suffix != '.spare']
    keepers = [words for words in processes_naming(server.folder).values() if b'keeper' in words]
    return files + mounts_naming(server.folder) + keepers[1:] + list(processes_naming(STAYS).values())


@pytest.fixture(scope='module')
def server():
    folder = pathlib.Path(tempfile.mkdtemp(prefix='bad-input-'))
    folder.chmod(0o711)
    with serving(folder) as server:
        apply(server, *(pod(name, row[0], **row[1]) for name, row in {**PODS, **ENDS}.items()))
        yield server
    shutil.rmtree(folder)


@pytest.mark.parametrize('name', PODS)
def test_a_pod_that_cannot_run(server, name):
    _, _, reason, words = PODS[name]
    blackbox.eventually(lambda: any(re.fullmatch(words, message) for message in events(server, name)))
    blackbox.eventually(lambda: state(server, name)[0] == reason)
    _, message, code = state(server, name)
    assert reason == 'ContainerCreating' or re.fullmatch(words, message)
    assert code == (128 if reason == 'StartError' else None)


@pytest.mark.parametrize('name', ENDS)
def test_a_pod_that_ends(server, name):
    _, _, code, words = ENDS[name]
    assert exit_code(server, name) == code
    log = call(server, 'logs', name)
    assert re.fullmatch(words, log), log
    assert len(state(server, name)[1] or '') <= 4096


@pytest.mark.parametrize('what', NOT_TAKEN)
def test_what_is_not_taken(server, what):
    wrong, words = NOT_TAKEN[what]
    assert words in apply(server, wrong, code=1)


def test_a_line_without_an_end(server):
    apply(server, pod('line', shell('head -c %d /dev/zero | tr "\\0" x' % LINE)))
    assert exit_code(server, 'line') == 0
    log = call(server, 'logs', 'line')
    assert log.count('x') == LINE and not log.replace('x', '').strip('\n')


def test_a_pod_that_does_not_want_to_end(server):
    apply(server, pod('stubborn', shell('trap "" TERM INT HUP; echo ready; while :; do sleep 0.1; done', env=[{'name': 'MARK', 'value': STAYS}])))
    blackbox.eventually(lambda: 'ready' in call(server, 'logs', 'stubborn'))
    began = time.monotonic()
    call(server, 'delete', 'pod', 'stubborn')
    assert 1 <= time.monotonic() - began < 30       # its own second, not the 30 s that pods have who do not say
    assert not processes_naming(STAYS)


def test_links_in_a_volume_lead_nowhere(server):
    precious = server.folder / 'precious'
    precious.mkdir(mode=0o777)
    (precious / 'kept').write_text('kept')
    apply(server, pod('traps', python(TRAPS, str(precious), **mount()), **EMPTY))
    assert exit_code(server, 'traps') == 0
    call(server, 'delete', 'pod', 'traps')
    blackbox.eventually(lambda: not any('traps' in path.name for path in (server.data_dir / 'logs').iterdir()))
    assert (precious / 'kept').read_text() == 'kept'


def test_nothing_is_left(server):
    limits = set(re.findall('muster-[0-9a-f]+', call(server, 'logs', 'limited')))
    call(server, 'delete', 'pod', *(one['metadata']['name'] for one in items(server, 'pods')))
    blackbox.eventually(lambda: not leftovers(server))
    assert not [path for name in limits for path in pathlib.Path('/sys/fs/cgroup').rglob(name)]


# A JobSet for `muster run`; its exit code (2: it gives up, as nobody else can help); what the output says of pod w-0-0 or of the file.
RUNS = {
    'missing': (job_set('a', {'command': ['/no/such/program']}), 3,
                [r'error: w-0-0: could not start: exec: "/no/such/program": .*no such file or directory',
                 r'failed: pod a-w-0-0-\w+, container main: could not start: exec: "/no/such/program": .*']),
    'not executable': (job_set('a', {'command': ['/etc/passwd']}), 3, [r'failed: pod a-w-0-0-\w+, container main: could not start: .*permission denied']),
    'no folder': (job_set('a', shell('true', workingDir='/no/such/folder')), 3,
                  [r'failed: pod a-w-0-0-\w+, container main: could not start: chdir to "/no/such/folder": no such file or directory']),
    'unwritable': (job_set('a', shell('echo x > file', workingDir='/proc/sys')), 3,
                   [r'failed: pod a-w-0-0-\w+, container main: exit code 2', r'  \| .*cannot create file.*']),
    'zero byte': (job_set('a', shell('true', env=[{'name': 'ODD', 'value': 'a\0b'}])), 2,
                  [r"w-0-0: CreateContainerConfigError: environment variable ODD can't contain null .*"]),
    'link': (job_set('a', shell('true', **mount(subPath='l')), **after('ln', '-s', '/etc', '/v/l')), 2,
             [r'w-0-0: CreateContainerConfigError: failed to prepare subPath .*: l: Too many levels of symbolic links']),
    'long name': (job_set('x' * 70, shell('true')), 1, [r'error: .*: JobSet name is too long, .*']),
    'daemon': (job_set('a', python(DAEMON, STAYS)), 0, [r'jobset a: .*completed successfully']),
}


@pytest.fixture
def home(home):
    yield home
    blackbox.eventually(lambda: not processes_naming(STAYS))


def check_run(home, file, code, words):
    found, output = run(home, file, user=STRANGER if ROOT else None)
    assert found == code, output
    for word in words:
        assert any(re.fullmatch(word, line) for line in output.split('\n')), output


@pytest.mark.parametrize('name', RUNS)
def test_a_run_says_what_is_wrong(home, name):
    check_run(home, *RUNS[name])


def test_a_run_as_somebody_else(home):
    check_run(home, job_set('a', shell('id'), securityContext={'runAsUser': 4242}), 2, [
        r'w-0-0: CreateContainerConfigError: container main asks for user 4242, but this node runs pods as user \d+: start muster as root with --allow-any-user to allow it'])


def test_a_run_on_a_port_that_is_taken(home):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        check_run(home, job_set('a', python(BIND, str(taken.getsockname()[1]))), 3,
                  [r'failed: pod a-w-0-0-\w+, container main: exit code 1', r'  \| OSError: .*Address already in use.*'])


if ROOT:        # nobody else may mount, and have processes of several users

    def test_a_full_disk():
        """A pod fills the disk of the server: changes are refused in words, the pod runs on, all is well when there is room again."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix='bad-input-'))
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=32m,mode=711', 'tmpfs', folder], check=True)
        # A name goes before the room that its file took: hence the last wait.
        script = 'head -c 60000000 /dev/zero > /v/fill; while [ -e /v/fill ]; do sleep 0.1; done; sleep 1; echo freed; exit 7'
        big = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'big'}, 'data': {'x': 'x' * 100_000}}
        try:
            with serving(folder) as server:
                apply(server, pod('filler', shell(script, **mount()), **EMPTY))
                fill = blackbox.eventually(lambda: list((server.data_dir / 'pods').glob('*/volumes/v/fill')))[0]
                blackbox.eventually(lambda: shutil.disk_usage(folder).free == 0)
                assert 'disk is full; nothing was changed' in apply(server, big, code=75)
                assert [one['metadata']['name'] for one in items(server, 'pods')] == ['filler']
                fill.unlink()
                blackbox.eventually(lambda: state(server, 'filler')[2] == 7)
                assert 'freed' in call(server, 'logs', 'filler')
                apply(server, big)
        finally:
            # Until the last process that the server started has let go of it.
            blackbox.eventually(lambda: subprocess.run(['umount', folder], capture_output=True).returncode == 0)
            folder.rmdir()

    def test_no_more_processes():
        """The pods' user has as many processes as he may have: what cannot start says why, and starts when there is room."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix='bad-input-'))
        before = resource.getrlimit(resource.RLIMIT_NPROC)
        resource.setrlimit(resource.RLIMIT_NPROC, (4, before[1]))
        other = {'securityContext': {'runAsUser': STRANGER + 1}}
        with serving(folder, '--allow-any-user') as server:
            resource.setrlimit(resource.RLIMIT_NPROC, before)
            apply(server, pod('many', shell('for i in 1 2 3; do sleep 1000 & done; echo ready; wait'), **other))
            blackbox.eventually(lambda: 'ready' in call(server, 'logs', 'many'))
            apply(server, pod('one-more', shell('echo ready; exec sleep 1000'), **other))     # the kernel refuses who comes when there are too many
            blackbox.eventually(lambda: 'ready' in call(server, 'logs', 'one-more'))
            apply(server, pod('late', shell('true'), **other))
            blackbox.eventually(lambda: any(re.fullmatch(r'exec \S+/sh: resource temporarily unavailable', text) for text in events(server, 'late')))
            call(server, 'delete', 'pod', 'many', 'one-more', 'late')
            apply(server, pod('bomb', python('import os\nwhile True: os.fork()'), **other))
            blackbox.eventually(lambda: 'Resource temporarily unavailable' in call(server, 'logs', 'bomb'))
            call(server, 'delete', 'pod', 'bomb')
            apply(server, pod('again', shell('echo fine'), **other))
            blackbox.eventually(lambda: 'fine' in call(server, 'logs', 'again'))
        shutil.rmtree(folder)
