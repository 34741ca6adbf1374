"""docs/isolation.md: every cell of its table, tried out by a pod that means no good beside one that keeps to itself."""
import contextlib
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
from local_pods import STRANGER, apply, call, items, job_set, main_state, messages, mount, pod, processes_naming, python, shell, volume

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
for folder in ('/tmp', '/var/tmp', '/dev/shm', '/v'):
    if os.path.isdir(folder):
        with open(os.open(folder + '/' + secret, os.O_CREAT | os.O_WRONLY, 0o600), 'w') as file:
            file.write(secret)
assert ctypes.CDLL(None).shmget(key, 4096, 0o1600) >= 0
_, terminal = pty.openpty()
port = socket.create_server((os.environ['POD_IP'], 0))
name = socket.socket(socket.AF_UNIX)
name.bind('\0' + secret)
name.listen()
print(json.dumps({'ip': os.environ['POD_IP'], 'port': port.getsockname()[1], 'terminals': [os.ttyname(terminal)]}), flush=True)
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

def open_terminal(path):
    try:
        return os.open(path, os.O_RDWR | os.O_NOCTTY) >= 0
    except OSError:
        return False

def take_all():
    for number in range(1, 255):
        locks.append(socket.socket(socket.AF_UNIX))
        try:
            locks[-1].bind('\0%s-127.%d' % (facts['reserved_name'], number))
        except OSError:
            pass
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
    'terminal': lambda: any([open_terminal(path) for path in facts['terminals']]),
    'segment': lambda: ctypes.CDLL(None).shmget(facts['key'], 0, 0o600) >= 0,
    'memory files': lambda: read('/dev/shm/' + secret),
    'temporary files': lambda: any([os.access(folder + secret, os.R_OK) and read(folder + secret) for folder in ('/tmp/', '/var/tmp/')]),
    'volume': lambda: read(facts['volume']),
    'port': lambda: connect(socket.AF_INET, (facts['ip'], facts['port'])),
    'socket': lambda: connect(socket.AF_UNIX, '\0' + secret),
    'data': lambda: len(os.listdir(facts['data'])) > 0 and len(open(facts['data'] + '/kubeconfig').read()) > 0,
    'kill': lambda: os.kill(facts['server'], 0) is None,
    'keys': lambda: len(open('/proc/%d/mem' % facts['server'], 'rb').name) > 0,
    'addresses': take_all,
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

# Takes all inotify instances that its user can have.
HOARDER = r'''
import ctypes, json, os, time

def hoard():
    """Processes that hold inotify instances, until the next would get none."""
    for _ in range(100):        # far more than it takes
        mine, theirs = os.pipe()
        if os.fork() == 0:
            held = 0
            while held < 1000 and ctypes.CDLL(None).inotify_init() >= 0:
                held += 1
            os.write(theirs, b'x' * bool(held))
            os.close(theirs)
            time.sleep(1000)
        os.close(theirs)
        if not os.read(mine, 1):
            return

hoard()
print(json.dumps({'done': True}), flush=True)
time.sleep(1000)
'''

# Whether there are any left for another pod.
WATCHER = r'''
import ctypes, json, time
print(json.dumps({'watches': ctypes.CDLL(None).inotify_init() >= 0}), flush=True)
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


@contextlib.contextmanager
def terminal_of_exec(server, name):
    """The path of the terminal of an `exec -t` in a pod, for as long as it lasts."""
    inner = '%s exec -it %s -- sh -c "tty; exec sleep 1000"' % (os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl'), name)
    with subprocess.Popen(['script', '-qefc', inner, '/dev/null'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=blackbox.environment(server.kubeconfig, server.folder)) as process:
        try:
            yield re.search(r'/dev/pts/\d+', process.stdout.readline())[0]
        finally:
            process.kill()


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
        facts |= {'reserved_name': 'muster-addresses', 'secret': secret, 'mark': mark, 'key': key, 'data': str(server.data_dir), 'server': server.process.pid,
                  'volume': str(server.data_dir / 'pods' / uid / 'volumes' / 'v' / secret),
                  'lock_folders': ['/run/muster' if user == 0 else '/run/user/%d/muster' % user, '/tmp/muster-%d' % user]}
        with terminal_of_exec(server, 'victim') as terminal:
            facts['terminals'].append(terminal)
            apply(server, pod_with('attacker', python(ATTACKER, json.dumps(facts)), way, False))
            done = blackbox.eventually(lambda: facts_of(server, 'attacker'))
        done['addresses'] = not starts(server.folder / 'another', way)
        apply(server, pod_with('hoarder', python(HOARDER), way, False))
        blackbox.eventually(lambda: facts_of(server, 'hoarder'))
        apply(server, pod_with('watcher', python(WATCHER), way, False))
        done['inotify'] = not blackbox.eventually(lambda: facts_of(server, 'watcher'))['watches']
        if plain:
            apply(server, pod_with('volume', python('0'), way, True))
            assert 'no mount namespaces' in blackbox.eventually(lambda: main_state(server, 'volume').get('terminated'))['message']
            done['volume'] = None
        return done
    finally:
        call(server, 'delete', 'pod', *[one['metadata']['name'] for one in items(server, 'pods')])
        for place in ('/tmp', '/var/tmp', '/dev/shm'):
            pathlib.Path(place, secret).unlink(missing_ok=True)
        subprocess.run(['ipcrm', '-M', str(key)], capture_output=True)


if ROOT:        # who can start servers in all these ways

    @pytest.mark.parametrize('way, words', {
        'root': 'pods find an empty folder in its place', 'user': 'pods find an empty folder in its place',
        'root, plain': "closed to the pods' user by its mode", 'user, plain': 'every pod can read it and so become administrator'}.items())
    def test_the_doctor_says_who_can_read_the_data_directory(way, words):
        done = subprocess.run([*WAYS[way], os.environ['MUSTER'], 'doctor'], text=True, capture_output=True, timeout=60, cwd='/')
        assert [line for line in done.stdout.split('\n') if 'data directory' in line and words in line], done.stdout

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

    @contextlib.contextmanager
    def serving_here(*flags):
        """A server of root; nothing is left of it and of its pods."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix='isolation-'))
        folder.chmod(0o711)
        server = Server(folder, 'root', *flags).start()
        try:
            yield server
        finally:
            names = [one['metadata']['name'] for one in items(server, 'jobsets')]
            if names:
                call(server, 'delete', 'jobset', *names)
            names = [one['metadata']['name'] for one in items(server, 'pods')]
            if names:
                call(server, 'delete', 'pod', *names)
            server.stop()
        blackbox.eventually(lambda: not processes_naming(folder))
        shutil.rmtree(folder)

    def memory_folders(server):
        """Those of JobSets of this server; other servers have others."""
        number = 0xcbf29ce484222325
        for byte in str(server.data_dir / 'groups').encode():
            number = (number ^ byte) * 0x100000001b3 % 2 ** 64
        return list(pathlib.Path('/dev/shm').glob('muster-%016x/*' % number))

    def two_pods(name, container, **spec):
        """A JobSet of two pods."""
        file = job_set(name, container, **spec)
        file['spec']['replicatedJobs'][0]['template']['spec'] |= {'parallelism': 2, 'completions': 2, 'completionMode': 'Indexed'}
        return file

    def said(server, name, word):
        """What follows the word in the log of each pod of a JobSet of two, by the index of the pod."""
        def look():
            pods = sorted(one['metadata']['name'] for one in items(server, 'pods') if one['metadata']['name'].startswith(name + '-'))
            found = [re.search('^%s (.*)' % word, call(server, 'logs', pod), re.M) for pod in pods if 'waiting' not in main_state(server, pod)]
            return len(found) == 2 and all(found) and [match[1] for match in found]
        return blackbox.eventually(look)

    # Puts a file that all may read into each place, waits for the one of the other pod, and says whom it runs as and which files it finds there.
    SHARES = """
for place in /tmp /var/tmp /dev/shm; do echo x > $place/%(secret)s-$JOB_COMPLETION_INDEX; done
for place in /tmp /var/tmp /dev/shm; do until [ -e $place/%(secret)s-$((1 - JOB_COMPLETION_INDEX)) ]; do sleep 0.1; done; done
echo is $(id -u) $(id -g) $(stat -c %%u /v) $(ls -d /tmp/muster-secret-* /var/tmp/muster-secret-* /dev/shm/muster-secret-* | wc -l)
sleep 1000
"""

    def shares(secret):
        return shell(SHARES % {'secret': secret}, **mount())

    USUAL = range(2_100_000_000, 2_100_065_536)     # --pod-users, unless it is said otherwise

    def test_each_job_set_has_a_user_and_folders_of_its_own():
        """Pods of a JobSet share them, also after a restart of the server; those of others do not see them. They go with the last pod."""
        secret = 'muster-secret-' + secrets.token_hex(16)
        with serving_here() as server:
            apply(server, two_pods('one', shares(secret), **volume(emptyDir={})))
            one = said(server, 'one', 'is')
            user = one[0].split()[0]
            assert one == ['%s %s %s 6' % (user, user, user)] * 2 and int(user) in USUAL, one
            assert len(memory_folders(server)) == 1
            server.restart()
            assert (server.data_dir / 'users').read_text().startswith(user + ' default/')
            apply(server, two_pods('two', shares(secret + '-two'), **volume(emptyDir={})))
            other = said(server, 'two', 'is')
            assert {line.split()[0] for line in other} & {user} == set() and all(line.endswith(' 6') for line in other), other
            apply(server, job_set('three', shell('echo found $(ls /tmp /var/tmp /dev/shm | grep -c secret); sleep 1000')))
            name = blackbox.eventually(lambda: next((one['metadata']['name'] for one in items(server, 'pods') if one['metadata']['name'].startswith('three-')), None))
            assert blackbox.eventually(lambda: re.search('found (.*)', call(server, 'logs', name)))[1] == '0'
            assert not [path for place in ('/tmp', '/var/tmp', '/dev/shm') for path in pathlib.Path(place).glob(secret + '*')], 'they are not the machine\'s'
            call(server, 'delete', 'jobset', 'one', 'two', 'three')
            blackbox.eventually(lambda: (server.data_dir / 'users').read_text() == '')
            blackbox.eventually(lambda: not list((server.data_dir / 'groups').iterdir()) and not memory_folders(server))

    def test_the_machines_shared_memory_is_out_of_reach():
        """By no other way either: a pod could leave memory there, or take the names of other JobSets' folders."""
        with serving_here() as server:
            apply(server, pod('p', shell('for d in $(find /dev -type d -name shm); do touch $d/left-by-a-pod; done; echo done $(ls -A /dev/.machine/shm | wc -l)')))
            assert blackbox.eventually(lambda: re.search('done (.*)', call(server, 'logs', 'p')))[1] == '0'
            assert not pathlib.Path('/dev/shm/left-by-a-pod').exists()

    def test_an_owner_with_a_newline_in_its_uid_changes_nobodys_user():
        """The server keeps the users of JobSets in a file of lines; what clients name must not become one of them."""
        def owned(name, uid):
            file = pod(name, shell('echo is $(id -u); sleep 1000'))
            file['metadata']['ownerReferences'] = [{'apiVersion': 'example.com/v1', 'kind': 'Owner', 'name': 'o', 'controller': True, 'uid': uid}]
            return file
        with serving_here() as server:
            for name, uid in (('p1', 'rt'), ('p2', 'zz\n0 default/rt')):
                apply(server, owned(name, uid))
                blackbox.eventually(lambda: re.search('is (.*)', call(server, 'logs', name)))
            first = re.search('is (.*)', call(server, 'logs', 'p1'))[1]
            server.restart()
            apply(server, owned('p3', 'rt'))
            assert blackbox.eventually(lambda: re.search('is (.*)', call(server, 'logs', 'p3')))[1] == first

    def test_what_a_crash_left_of_a_job_set_goes_at_the_next_start():
        with serving_here() as server:
            apply(server, pod('p', shell('echo x > /tmp/x; echo x > /dev/shm/x; echo ready; sleep 1000')))
            blackbox.eventually(lambda: 'ready' in call(server, 'logs', 'p'))
            assert len(memory_folders(server)) == 1
            server.process.kill()
            server.process.wait()
            server.process.stdout.close()
            for number in processes_naming(server.folder):
                os.kill(number, 9)
            user = (server.data_dir / 'users').read_text().split()[0]
            (server.data_dir / 'users').write_text('')      # as if another server had the number by now
            server.start()
            blackbox.eventually(lambda: not (server.data_dir / 'groups' / user).exists() and not memory_folders(server))

    @pytest.mark.parametrize('flags, own_user, own_places', [
        (('--pod-users', 'none'), False, False), (('--pod-user', 'nobody'), False, False), (('--shared-tmp',), True, False),
        (('--pod-users', '70000-70999'), True, True)], ids=['none', 'user', 'shared', 'range'])
    def test_each_part_can_be_had_as_it_was(flags, own_user, own_places):
        secret = 'muster-secret-' + secrets.token_hex(16)
        file = pathlib.Path('/tmp', secret)
        file.write_text('x')
        try:
            with serving_here(*flags) as server:
                apply(server, pod('p', shell('echo is $(id -u) $(ls /tmp | grep -c %s)' % secret)))
                user, seen = blackbox.eventually(lambda: re.search('is (.*)', call(server, 'logs', 'p')))[1].split()
                assert (int(user) != 65534) == own_user and (seen == '0') == own_places, (user, seen)
                assert flags[1:] != ('70000-70999',) or 70000 <= int(user) <= 70999
        finally:
            file.unlink()

    def test_a_pod_that_wants_the_machines_tmp_mounts_it():
        secret = 'muster-secret-' + secrets.token_hex(16)
        file = pathlib.Path('/tmp', secret)
        file.write_text('found')
        try:
            with serving_here() as server:
                apply(server, pod('p', shell('cat /tmp/' + secret, **mount(mountPath='/tmp')), **volume(hostPath={'path': '/tmp'})))
                blackbox.eventually(lambda: 'terminated' in main_state(server, 'p'))
                assert call(server, 'logs', 'p') == 'found\n'
        finally:
            file.unlink()

    # Both pods are there before one takes what there is: their own processes are made by muster, which has no bound.
    BOMB = """
import glob, os, time
open('/tmp/here-' + os.environ['JOB_COMPLETION_INDEX'], 'w').close()
while len(glob.glob('/tmp/here-*')) < 2: time.sleep(0.01)
made = 0
try:
    while True:
        if os.fork() == 0: time.sleep(1000)
        made += 1
except OSError as error: print('made', made, error.strerror, flush=True)
time.sleep(1000)
"""

    def test_processes_of_a_job_set_are_bounded_together():
        """Two pods of one JobSet share the bound; another JobSet has its own."""
        with serving_here('--job-set-processes', '60') as server:
            apply(server, two_pods('bomb', python(BOMB)))
            made = [line.split(maxsplit=1) for line in said(server, 'bomb', 'made')]
            assert {words for _, words in made} == {'Resource temporarily unavailable'}
            assert sum(int(number) for number, _ in made) == 58, made       # and the two that made them
            apply(server, pod('neighbour', shell('for i in 1 2 3 4 5; do (true) & done; wait; echo fine')))
            blackbox.eventually(lambda: 'terminated' in main_state(server, 'neighbour'))
            assert call(server, 'logs', 'neighbour') == 'fine\n'

    def test_a_pod_without_a_user_of_its_own_waits():
        """It does not run as another one's."""
        with serving_here('--pod-users', '70000-70000') as server:
            apply(server, pod('first', shell('echo ready; sleep 1000')))
            blackbox.eventually(lambda: 'ready' in call(server, 'logs', 'first'))
            apply(server, pod('second', shell('id -u; sleep 1000')))
            words = 'Failed to create pod sandbox: all users from 70000 to 70000 are taken (--pod-users)'
            blackbox.eventually(lambda: words in messages(server, 'second'))
            assert 'running' not in main_state(server, 'second')
            call(server, 'delete', 'pod', 'first')
            blackbox.eventually(lambda: 'running' in main_state(server, 'second'), 200)
            assert blackbox.eventually(lambda: call(server, 'logs', 'second')) == '70000\n'

    def test_a_server_says_whom_its_pods_run_as():
        def second_line(*flags):
            with serving_here(*flags) as server:
                return server.process.stdout.readline().strip()
        assert second_line() == 'pods of each JobSet run as a user of their own, one of 2100000000-2100065535'
        assert second_line('--pod-users', 'none') == 'all pods run as nobody'
