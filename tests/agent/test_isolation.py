"""docs/isolation.md: every cell of its table, tried out by a pod that means no good beside one that keeps to itself."""
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import tempfile

import pytest

import blackbox
from local_pods import STRANGER, apply, call, items, job_set, main_state, mount, pod, processes_naming, python, shell, volume

ROOT = os.geteuid() == 0
PAGE = pathlib.Path(__file__).parents[2] / 'docs' / 'isolation.md'
AS_STRANGER = ['setpriv', '--reuid=%d' % STRANGER, '--regid=%d' % STRANGER, '--clear-groups']
NO_NAMESPACES = ['unshare', '--user', '--map-current-user', '--keep-caps', 'sh', '-c',
                 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps -all --inh-caps -all "$@"', 'sh']
# Columns of the table: how the server is started.
WAYS = {'root': [], 'user': AS_STRANGER, 'root, plain': ['setpriv', '--bounding-set=-sys_admin'], 'user, plain': AS_STRANGER + NO_NAMESPACES, 'OCI': []}

# Keeps a secret in every place that a pod has, and says where.
VICTIM = r'''
import ctypes, json, os, pty, socket, sys, time
secret, key = sys.argv[1], int(sys.argv[2])
for folder in ('/tmp', '/dev/shm', '/v'):
    if os.path.isdir(folder):
        with open(os.open(folder + '/' + secret, os.O_CREAT | os.O_WRONLY, 0o600), 'w') as file:
            file.write(secret)
assert ctypes.CDLL(None).shmget(key, 4096, 0o1600) >= 0
_, terminal = pty.openpty()
port = socket.create_server((os.environ['POD_IP'], 0))
name = socket.socket(socket.AF_UNIX)
name.bind('\0' + secret)
name.listen()
print(json.dumps({'ip': os.environ['POD_IP'], 'port': port.getsockname()[1], 'terminal': os.ttyname(terminal)}), flush=True)
time.sleep(1000)
'''

# Tries each thing, prints which it could do, and keeps what it has.
ATTACKER = r'''
import ctypes, fcntl, glob, json, os, socket, sys, time
facts = json.loads(sys.argv[1])
secret = facts['secret']
locks = []

def read(path):
    with open(path, 'rb') as file:
        return secret.encode() in file.read()

def victims():
    for entry in os.listdir('/proc'):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                if facts['mark'].encode() in open('/proc/%s/cmdline' % entry, 'rb').read():
                    yield int(entry)
            except OSError:
                pass

def environment():
    return any(read('/proc/%d/environ' % number) for number in victims())

def send_signal():
    found = list(victims())
    for number in found:
        os.kill(number, 0)
    return bool(found)

def connect(family, address):
    with socket.socket(family) as made:
        made.connect(address)
    return True

def lock_all():
    folder, = [one for one in facts['lock_folders'] if os.path.isdir(one)][:1] or ['/none']
    for number in range(1, 255):
        locks.append(open('%s/127.%d' % (folder, number), 'a'))
        try:
            fcntl.flock(locks[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
    return True

tries = {
    'environment': environment,
    'signal': send_signal,
    'terminal': lambda: os.open(facts['terminal'], os.O_RDWR | os.O_NOCTTY) >= 0,
    'segment': lambda: ctypes.CDLL(None).shmget(facts['key'], 0, 0o600) >= 0,
    'memory files': lambda: read('/dev/shm/' + secret),
    'temporary files': lambda: read('/tmp/' + secret),
    'volume': lambda: read(facts['volume']),
    'port': lambda: connect(socket.AF_INET, (facts['ip'], facts['port'])),
    'socket': lambda: connect(socket.AF_UNIX, '\0' + secret),
    'data': lambda: len(os.listdir(facts['data'])) > 0 and len(open(facts['data'] + '/kubeconfig').read()) > 0,
    'kill': lambda: os.kill(facts['server'], 0) is None,
    'keys': lambda: len(open('/proc/%d/mem' % facts['server'], 'rb').name) > 0,
    'addresses': lock_all,
}
done = {}
for name, attempt in tries.items():
    try:
        done[name] = bool(attempt())
    except OSError:
        done[name] = False
print(json.dumps(done), flush=True)
time.sleep(1000)
'''


def table():
    """{row: {column: cell}} of the page; rows and columns by the words in backticks."""
    lines = [line for line in PAGE.read_text().split('\n') if line.startswith('| ')]
    columns = re.findall(r'`([^`]+)`', lines[0])
    rows = {}
    for line in lines[1:]:
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if match := re.match(r'`([^`]+)`', cells[0]):
            rows[match[1]] = dict(zip(columns, cells[1:]))
    assert set(columns) == set(WAYS)
    return rows


class Server(blackbox.Muster):
    def __init__(self, folder, way, *flags):
        super().__init__(folder, '*', *flags)
        self.way = way

    def start(self):
        command = [*WAYS[self.way], os.environ['MUSTER'], 'serve', '--data-dir', self.data_dir, '--listen', self.listen, '--controllers', self.controllers, '--kubeconfig-out', self.kubeconfig, *self.flags]
        self.process, match = blackbox.start_program(command, self.log, r'serves (https://(\S+))')
        self.server, self.listen = match[1], match[2]
        return self


def make_root(folder):
    """A root file system whose programs are the machine's, mounted as a volume."""
    for part in ('usr', 'tmp', 'proc', 'sys', 'dev', 'etc'):
        (folder / part).mkdir(parents=True)
    (folder / 'tmp').chmod(0o1777)
    for part in ('bin', 'lib', 'lib64'):
        (folder / part).symlink_to('usr/' + part)
    return folder


def starts(folder, way):
    """Whether one more server of this user starts."""
    folder.mkdir(mode=0o711)
    os.chown(folder, *[STRANGER if way.startswith('user') else 0] * 2)
    server = Server(folder, way)
    try:
        server.start()
    except Exception:
        assert 'all 254 blocks' in server.log.read_text(), server.log.read_text()
        return False
    server.stop()
    return True


def facts_of(server, name):
    assert 'terminated' not in main_state(server, name), call(server, 'logs', name)
    found = re.search(r'^\{.*\}$', call(server, 'logs', name), re.M) if 'running' in main_state(server, name) else None
    return found and json.loads(found[0])


def volume_source(oci):
    return [{'name': 'usr', 'hostPath': {'path': '/usr'}}] if oci else []


def pod_with(name, container, way, with_volume):
    """`container` with its address, the secret in its environment, the machine's programs, and a volume if there can be one."""
    oci = way == 'OCI'
    mounts = [{'name': 'usr', 'mountPath': '/usr', 'readOnly': True}] if oci else []
    volumes = volume_source(oci)
    if with_volume:
        mounts += mount()['volumeMounts']
        volumes += volume(emptyDir={})['volumes']
    variables = [{'name': 'POD_IP', 'valueFrom': {'fieldRef': {'fieldPath': 'status.podIP'}}}]
    return pod(name, {**container, 'env': variables, 'volumeMounts': mounts}, volumes=volumes)


def tried(server, way, mark, key):
    """What the attacker could do; `volume` is None where there are no volumes."""
    secret, plain = secrets.token_hex(16), way.endswith('plain')
    victim = pod_with('victim', python(VICTIM, secret, str(key), mark), way, not plain)
    victim['spec']['containers'][0]['env'].append({'name': 'SECRET', 'value': secret})
    apply(server, victim)
    try:
        facts = blackbox.eventually(lambda: facts_of(server, 'victim'))
        uid = next(one['metadata']['uid'] for one in items(server, 'pods'))
        user = STRANGER if way.startswith('user') else 0
        facts |= {'secret': secret, 'mark': mark, 'key': key, 'data': str(server.data_dir), 'server': server.process.pid,
                  'volume': str(server.data_dir / 'pods' / uid / 'volumes' / 'v' / secret),
                  'lock_folders': ['/run/muster' if user == 0 else '/run/user/%d/muster' % user, '/tmp/muster-%d' % user]}
        apply(server, pod_with('attacker', python(ATTACKER, json.dumps(facts)), way, False))
        done = blackbox.eventually(lambda: facts_of(server, 'attacker'))
        done['addresses'] = not starts(server.folder / 'another', way)
        if plain:
            apply(server, pod_with('volume', python('0'), way, True))
            assert 'no mount namespaces' in blackbox.eventually(lambda: main_state(server, 'volume').get('terminated'))['message']
            done['volume'] = None
        return done
    finally:
        call(server, 'delete', 'pod', *[one['metadata']['name'] for one in items(server, 'pods')])
        for place in ('/tmp', '/dev/shm'):
            pathlib.Path(place, secret).unlink(missing_ok=True)
        subprocess.run(['ipcrm', '-M', str(key)], capture_output=True)


if ROOT:        # who can start servers in all these ways

    @pytest.mark.parametrize('way', WAYS)
    def test_a_pod_can_do_what_the_page_says_and_no_more(way):
        if way == 'OCI' and shutil.which('crun') is None:
            pytest.skip('crun is not installed')
        folder = pathlib.Path(tempfile.mkdtemp(prefix='isolation-'))
        folder.chmod(0o711)
        if way.startswith('user'):
            os.chown(folder, STRANGER, STRANGER)
        flags = ['--runtime', 'crun', '--rootfs', make_root(folder / 'root')] if way == 'OCI' else []
        server = Server(folder, way, *flags).start()
        try:
            done = tried(server, way, 'a pod that keeps to itself ' + folder.name, secrets.randbits(30) + 1)
        finally:
            server.stop()
        cells = {True: 'yes', False: 'no', None: 'none'}
        assert {name: cells[could] for name, could in done.items()} == {name: row[way] for name, row in table().items()}
        blackbox.eventually(lambda: not processes_naming(folder))
        shutil.rmtree(folder)

    def test_each_job_set_has_a_user_of_its_own_if_wanted():
        """--pod-users: pods of a JobSet share one, also after a restart of the server; those of others cannot read their files."""
        first, last = 70000, 70999
        folder, secret = pathlib.Path(tempfile.mkdtemp(prefix='isolation-')), 'muster-' + secrets.token_hex(16)
        folder.chmod(0o711)
        server = Server(folder, 'root', '--pod-users', '%d-%d' % (first, last)).start()

        def output_of(name, script):
            file = job_set(name, shell(script, **mount()), **volume(emptyDir={}))
            file['spec']['replicatedJobs'][0]['template']['spec'] |= {'parallelism': 2, 'completions': 2, 'completionMode': 'Indexed'}
            apply(server, file)
            pods = blackbox.eventually(lambda: [one for one in items(server, 'pods') if one['metadata']['name'].startswith(name) and one['status'].get('podIP')][1:] and
                                       [one for one in items(server, 'pods') if one['metadata']['name'].startswith(name)])
            return [blackbox.eventually(lambda: re.search('users (.*)', call(server, 'logs', one['metadata']['name'])))[1] for one in pods]

        script = 'umask 077; may=no; for place in /tmp /dev/shm; do echo x > $place/%s-$JOB_COMPLETION_INDEX; cat $place/%s-* > /dev/null 2>&1 && may=yes; done; ' \
                 'touch /v/x && echo users $(id -u) $(id -g) $(stat -c %%u /v) $may; sleep 1000'
        try:
            one = output_of('one', script % (secret, secret))
            user = one[0].split()[0]
            assert one == ['%s %s %s yes' % (user, user, user)] * 2 and first <= int(user) <= last
            server.restart()
            book = (server.data_dir / 'users').read_text()
            assert book.startswith(user + ' default/')
            other = output_of('two', script % (secret + '-two', secret))
            assert {line.split()[0] for line in other} & {user} == set() and all(line.endswith(' no') for line in other), other
            call(server, 'delete', 'jobset', 'one', 'two')
            blackbox.eventually(lambda: (server.data_dir / 'users').read_text() == '')
        finally:
            call(server, 'delete', 'pod', *[one['metadata']['name'] for one in items(server, 'pods')] or ['--all'])
            server.stop()
            for place in ('/tmp', '/dev/shm'):
                for file in pathlib.Path(place).glob(secret + '*'):
                    file.unlink()
        blackbox.eventually(lambda: not processes_naming(folder))
        shutil.rmtree(folder)
