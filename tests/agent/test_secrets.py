"""S5: what a pod's process can see of the server that runs it, and do to its keepers: nothing. Secrets are those of the data directory."""
import base64
import errno
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile

import pytest

import blackbox
from local_pods import STRANGER, apply, call, job_set, mount, pod, processes_naming, python, run, serving, shell, volume

ROOT = os.geteuid() == 0
NOBODY = 65534
OURS = 'MUSTER_TEST_SECRET'     # in the environment of the server; pods have no business with it
MARK = 'a pod that is looked at'
PIECE = 1 << 24

# Prints one JSON text per fact about itself. Given a mark, it also attacks its parent, and stays.
LOOK = r'''
import ctypes, json, os, sys, time

def text(path):
    try:
        return open(path, 'rb').read().decode('latin-1')
    except OSError as error:
        return error.errno

def attempt(function, *arguments):
    try:
        function(*arguments)
        return 0
    except OSError as error:
        return error.errno

def trace(number):
    library = ctypes.CDLL(None, use_errno=True)
    if library.ptrace(16, number, 0, 0) != 0:       # PTRACE_ATTACH
        raise OSError(ctypes.get_errno(), 'ptrace')

def tell(key, value):
    print(json.dumps({key: value}), flush=True)

tell('descriptors', {fd: os.readlink('/proc/self/fd/' + fd) for fd in os.listdir('/proc/self/fd') if os.path.lexists('/proc/self/fd/' + fd)})
tell('status', open('/proc/self/status').read())
tell('environment', text('/proc/self/environ'))
tell('maps', text('/proc/self/maps'))
tell('init', {name: text('/proc/1/' + name) for name in ('environ', 'maps', 'mem')})
tell('init_words', text('/proc/1/cmdline'))
tell('init_descriptors', attempt(os.listdir, '/proc/1/fd'))
tell('trace', attempt(trace, os.getppid()))
tell('others', [text('/proc/%s/cmdline' % entry) for entry in os.listdir('/proc') if entry.isdigit() and int(entry) not in (1, os.getpid())])
folder = sys.argv[1]
tell('data', [attempt(os.listdir, folder)] + [attempt(open, folder + '/' + name) for name in ('kubeconfig', 'tokens', 'muster.db', 'pki/ca.key', 'runtime/keeper.sock')])
tell('enter', attempt(os.chdir, folder))
if sys.argv[2:]:
    tell('kill', [attempt(os.kill, os.getppid(), number) for number in (9, 15, 19)])
tell('done', True)
if sys.argv[2:]:
    time.sleep(1000)
'''


def secrets_of(data):
    """Every text and number that lets somebody in, in the forms in which it may lie around."""
    found = [('%s=value of it' % OURS).encode()]
    for key in (data / 'pki').glob('*.key'):
        body = ''.join(line for line in key.read_text().split('\n') if line and not line.startswith('-----'))
        found.append(body.encode()[:60])
        if 'BEGIN' in key.read_text():
            found.append(base64.b64decode(body))
    for line in (data / 'tokens').read_text().split('\n'):
        if line:
            found.append(re.split(r'[\s,]', line)[0].encode())
    found += [word.encode()[40:] for word in re.findall(r'client-key-data: (\S+)', (data / 'kubeconfig').read_text())]
    assert len(found) >= 8 and min(map(len, found)) > 20
    return found


def facts(log):
    out = {}
    for line in log.split('\n'):
        if line.startswith('{"'):
            out.update(json.loads(line))
    return out


def memory(number):
    """All that a process has written in its memory, in pieces, and its environment and command line."""
    yield pathlib.Path('/proc/%d/environ' % number).read_bytes() + pathlib.Path('/proc/%d/cmdline' % number).read_bytes()
    with open('/proc/%d/mem' % number, 'rb', buffering=0) as file:
        for line in pathlib.Path('/proc/%d/maps' % number).read_text().split('\n'):
            if not re.search(r'^\S+ rw', line) or '[v' in line:
                continue
            begin, end = (int(part, 16) for part in line.split()[0].split('-'))
            for at in range(begin, end, PIECE):
                try:
                    file.seek(at)
                    yield file.read(min(PIECE, end - at))
                except OSError:
                    break       # a guard page


def knows(number, secrets):
    return [secret for piece in memory(number) for secret in secrets if secret in piece]


def parent(number):
    return int(re.search(r'PPid:\s+(\d+)', pathlib.Path('/proc/%d/status' % number).read_text())[1])


def check_surroundings(seen, secrets):
    """What holds for every pod, whoever runs the server."""
    assert seen['done']
    assert set(seen['descriptors']) - {'0', '1', '2'} <= {'3'}, seen['descriptors']         # 3: it looks into the folder just then
    assert seen['descriptors'].get('3', '/proc/').startswith('/proc/')
    assert seen['descriptors']['0'] == '/dev/null' and all(seen['descriptors'][fd].startswith('pipe:') for fd in '12')
    assert re.search(r'NoNewPrivs:\s+1', seen['status']) and re.search(r'CapEff:\s+0+\n', seen['status'])
    everything = json.dumps(seen).encode()
    assert not [secret for secret in secrets if secret in everything]
    assert OURS not in seen['environment'] and 'KUBECONFIG' not in seen['environment']


@pytest.fixture
def folder(monkeypatch):
    monkeypatch.setenv(OURS, 'value of it')
    folder = pathlib.Path(tempfile.mkdtemp(prefix='secrets-'))
    folder.chmod(0o711)
    yield folder
    blackbox.eventually(lambda: not processes_naming(folder))
    shutil.rmtree(folder)


def an_ordinary_user(folder):
    """Owns the folder; None if that is who runs the tests."""
    if not ROOT:
        return None
    os.chown(folder, STRANGER, STRANGER)
    return STRANGER


def has_namespaces(user):
    """Whether this user may make mount namespaces here."""
    return subprocess.run(['unshare', '-Urm', 'true'], user=user, capture_output=True).returncode == 0


def test_a_run_of_an_ordinary_user(folder):
    """The pod is its user's, as the server is: he may read his own files, but those of the server."""
    user = an_ordinary_user(folder)
    code, output = run(folder, job_set('look', python(LOOK, str(folder / 'data'))), '--data-dir', folder / 'data', '--prefix', 'none', user=user)
    assert code == 0, output
    seen = facts(output)
    check_surroundings(seen, secrets_of(folder / 'data'))
    assert re.search(r'Uid:\s+%d\s' % (user or os.geteuid()), seen['status'])
    if has_namespaces(user):
        assert seen['data'] == [0] + [errno.ENOENT] * 5 and seen['enter'] == 0, 'an empty folder is in its place'


def test_a_host_path_does_not_lead_to_the_data_directory(folder):
    """Neither itself, nor what lies in it, nor a link to it; in a folder above there is an empty one in its place."""
    user = an_ordinary_user(folder)
    data = folder / 'data'
    (folder / 'link').symlink_to(data)
    look = shell('ls -A /v/data; cat /v/data/kubeconfig || echo nothing', **mount())
    for path in (data, data / 'pki', folder / 'link', folder / 'link' / 'pki'):
        code, output = run(folder, job_set('look', look, **volume(hostPath={'path': str(path)})), '--data-dir', data, '--prefix', 'none', '--timeout', '20s', user=user)
        assert code != 0 and 'hostPath %s is not allowed: it belongs to the server' % path in output, output
    if has_namespaces(user):
        code, output = run(folder, job_set('look', look, **volume(hostPath={'path': str(folder)})), '--data-dir', data, '--prefix', 'none', user=user)
        assert code == 0 and 'nothing' in output and not re.search('^(pki|tokens|muster.db)$', output, re.M), output


def aborted(number):
    """Ends a child by SIGABRT; whether the kernel wrote its memory down."""
    os.kill(number, signal.SIGABRT)
    _, status = os.waitpid(number, 0)
    assert os.WTERMSIG(status) == signal.SIGABRT
    return os.WCOREDUMP(status)


def test_the_memory_of_the_server_is_for_nobody(folder):
    """It holds keys: no dump of it, and /proc shows it to root alone, not even to who runs the server."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    server = blackbox.Muster(folder).start()
    other = subprocess.Popen(['sleep', '1000'], cwd=folder)
    resource.setrlimit(resource.RLIMIT_CORE, before)
    assert pathlib.Path('/proc/%d/mem' % server.process.pid).stat().st_uid == 0
    assert not aborted(server.process.pid)
    dumped = aborted(other.pid)
    other.returncode = server.process.returncode = -signal.SIGABRT
    server.process.stdout.close()
    if before[1] != 0 and not pathlib.Path('/proc/sys/kernel/core_pattern').read_text().startswith('|'):
        assert dumped, 'the others are dumped here'


if ROOT:        # a server of root, which runs pods as somebody else

    @pytest.mark.parametrize('flags, refused', [((), errno.ENOENT), (('--shared-tmp',), errno.EACCES)], ids=['usual', 'shared'])
    def test_a_pod_of_a_server_of_root(folder, flags, refused):
        """The data directory lies in /tmp: it is not there for pods that have their own, and closed to others."""
        with serving(folder, *flags) as server:
            secrets = secrets_of(server.data_dir)
            apply(server, pod('look', python(LOOK, str(server.data_dir), MARK)))
            blackbox.eventually(lambda: '"done"' in call(server, 'logs', 'look'))
            seen = facts(call(server, 'logs', 'look'))
            check_surroundings(seen, secrets)
            assert re.search(r'Uid:(\s+21000\d{5})\1{3}\n', seen['status']) and re.search(r'Groups:\s*\n', seen['status']), seen['status']
            assert seen['trace'] == errno.EPERM and seen['kill'] == [errno.EPERM] * 3
            assert all(word in (errno.EACCES, errno.EPERM) for word in seen['init'].values()), seen['init']
            assert seen['init_descriptors'] == errno.EACCES
            assert set(seen['data']) == {refused} and seen['enter'] == refused
            assert not seen['others']

    def test_nobody_between_server_and_pod_knows_a_secret(folder):
        """Environment, command line and memory of the pod, its init, its shim and the keeper. The server's own memory shows that the search finds."""
        with serving(folder) as server:
            secrets = secrets_of(server.data_dir)
            apply(server, pod('look', python(LOOK, str(server.data_dir), MARK)))
            blackbox.eventually(lambda: '"done"' in call(server, 'logs', 'look'))
            program, = processes_naming(MARK)
            chain = [init := parent(program), shim := parent(init), keeper := parent(shim)]
            assert all(b'keeper' in pathlib.Path('/proc/%d/cmdline' % number).read_bytes() for number in chain)
            assert server.process.pid not in chain and parent(keeper) not in chain
            assert knows(server.process.pid, secrets)
            for number in (program, *chain):
                assert not knows(number, secrets), number
            for number in (program, chain[0]):
                targets = [os.readlink(link) for link in pathlib.Path('/proc/%d/fd' % number).iterdir()]
                assert not [target for target in targets if not re.match(r'/dev/|pipe:|%s/runtime/keeper.log$' % re.escape(str(server.data_dir)), target)], targets
            assert len(list(pathlib.Path('/proc/%d/fd' % program).iterdir())) == 3

    def test_a_pod_cannot_win_rights(folder):
        """A program that belongs to root and says so gives nobody his rights."""
        program = folder / 'program'
        shutil.copy(shutil.which('id'), program)
        program.chmod(0o6755)
        assert 'euid=0' in subprocess.run([program], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, text=True, check=True).stdout
        with serving(folder, '--shared-tmp') as server:     # the program lies there
            apply(server, pod('rights', {'command': [str(program)]}))
            log = blackbox.eventually(lambda: call(server, 'logs', 'rights'))
            assert log.startswith('uid=21000') and '=0(' not in log, log
