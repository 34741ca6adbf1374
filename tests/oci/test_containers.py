"""`--runtime oci`: pods in root file systems of their own, through each OCI runtime, for root and for an ordinary user."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

import blackbox
from local_pods import SECONDS, STRANGER, apply, call, items, main_state, pod, processes_naming, run, serving, shell

ROOT = os.geteuid() == 0
PROGRAMS = ('crun', 'runc')
USERS = (None, STRANGER) if ROOT else (None,)
IMAGE = 'example/busybox:1.0'
CONFIG = {'ociVersion': '1.0.2', 'root': {'path': 'rootfs'}, 'process': {
    'args': ['sh', '-c', 'echo "the bundle runs $MODE in $PWD"; exit 6'], 'env': ['PATH=/bin', 'MODE=fast'], 'cwd': '/srv', 'user': {'uid': 0, 'gid': 0}}}


@pytest.fixture
def folder():
    made = pathlib.Path(tempfile.mkdtemp(prefix='oci-'))
    made.chmod(0o711)
    before = leftovers()
    yield made
    shutil.rmtree(made)
    assert leftovers() == before


@pytest.fixture(scope='module')
def bundle():
    """An OCI bundle whose root has nothing but busybox, in a folder whose name could be an image's."""
    made = pathlib.Path(tempfile.mkdtemp(prefix='oci-image:1,')) / 'bundle'
    root = made / 'rootfs'
    for part in ('bin', 'etc', 'srv', 'tmp'):
        (root / part).mkdir(parents=True)
    shutil.copy(shutil.which('busybox'), root / 'bin' / 'busybox')
    for applet in subprocess.run([root / 'bin' / 'busybox', '--list'], check=True, capture_output=True, text=True).stdout.split():
        if applet != 'busybox':
            (root / 'bin' / applet).symlink_to('busybox')
    (root / 'etc' / 'motd').write_text('from the image\n')
    (made / 'config.json').write_text(json.dumps(CONFIG))
    made.parent.chmod(0o755)
    (root / 'tmp').chmod(0o1777)
    yield made
    names = sorted(str(path.relative_to(root)) for path in root.rglob('*') if path.parent.name != 'bin')
    assert names == ['bin', 'etc', 'etc/motd', 'srv', 'tmp'], 'containers wrote into the image'
    shutil.rmtree(made.parent)


def leftovers():
    """What OCI runtimes leave when nobody looks: their records and control groups."""
    states = {str(path) for place in ('/run/crun', '/run/runc') for path in pathlib.Path(place).glob('*')}
    groups = {str(path) for path in pathlib.Path('/sys/fs/cgroup').glob('**/container')}
    return states | groups


def images(program, root):
    return '--runtime', program, '--rootfs', root


def job_set(name, replicas, container, **spec):
    template = {'restartPolicy': 'Never', 'terminationGracePeriodSeconds': 1, **spec, 'containers': [{'name': 'main', 'image': IMAGE, **container}]}
    return {'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind': 'JobSet', 'metadata': {'name': name}, 'spec': {
        'replicatedJobs': [{'name': 'w', 'template': {'spec': {
            'parallelism': replicas, 'completions': replicas, 'completionMode': 'Indexed', 'backoffLimit': 0, 'template': {'spec': template}}}}]}}


def lines_of(output):
    return [line.split('| ', 1)[-1] for line in output.split('\n')]


@pytest.mark.parametrize('user', USERS, ids=lambda user: 'stranger' if user else 'self')
@pytest.mark.parametrize('program', PROGRAMS)
def test_a_job_set_runs_in_its_image(program, user, bundle, folder):
    if user:
        os.chown(folder, user, user)
    script = ('cat /etc/motd /config/greeting /shared/note; hostname; grep -c "set-w-0-1.set" /etc/hosts; ls -d /usr /home 2>/dev/null; '
              'echo scratch > /tmp/scratch && cat /tmp/scratch; touch /config/x 2>/dev/null || echo read-only; echo "$RATE from $PWD"')
    volumes = [{'name': 'config', 'downwardAPI': {'items': [{'path': 'greeting', 'fieldRef': {'fieldPath': 'metadata.namespace'}}]}},
               {'name': 'shared', 'emptyDir': {}}]
    mounts = [{'name': 'config', 'mountPath': '/config', 'readOnly': True}, {'name': 'shared', 'mountPath': '/shared/'}]
    first = {'name': 'first', 'image': IMAGE, 'command': ['sh', '-c', 'echo noted > /shared/note'], 'volumeMounts': mounts[1:]}
    file = job_set('set', 2, shell(script, env=[{'name': 'RATE', 'value': '0.1'}], workingDir='/srv', volumeMounts=mounts),
                   volumes=volumes, initContainers=[first])
    code, output = run(folder, file, *images(program, bundle), user=user)
    assert code == 0, output
    said = lines_of(output)
    for line in ('from the image', 'noted', 'set-w-0-0', 'set-w-0-1', 'scratch', 'read-only', '0.1 from /srv'):
        assert any(line in each for each in said), '%s is missing in:\n%s' % (line, output)
    assert not any(each.endswith(('/usr', '/home')) for each in said), output
    assert 'ImageIgnored' not in output
    blackbox.eventually(lambda: not processes_naming(folder))
    assert [path.name for path in folder.iterdir()] == []


@pytest.mark.parametrize('program', PROGRAMS)
def test_a_bundle_says_what_to_run(program, bundle, folder):
    code, output = run(folder, job_set('set', 1, {}), *images(program, '%s=%s' % (IMAGE, bundle)), '--exit-code-from', 'w')
    assert code == 6, output
    assert 'the bundle runs fast in /srv' in output


def test_an_image_that_is_not_there_is_named(bundle, folder):
    with serving(folder, *images('oci', 'other=%s' % bundle)) as server:
        apply(server, pod('p', shell('true', image=IMAGE)))
        waiting = blackbox.eventually(lambda: main_state(server, 'p').get('waiting', {}).get('reason') == 'ErrImageNeverPull' and main_state(server, 'p'))
        assert 'Container image "%s" is not present with pull policy of Never' % IMAGE in waiting['waiting']['message']
        blackbox.eventually(lambda: any(event['reason'] == 'ErrImageNeverPull' and IMAGE in event['message'] for event in items(server, 'events')))


@pytest.mark.parametrize('program', PROGRAMS)
def test_containers_outlive_a_killed_server_and_can_be_entered(program, bundle, folder):
    script = 'echo mine > /tmp/mine; echo $$$$ > /tmp/pid; trap "printf bye > /dev/termination-log; exit 9" TERM; echo ready; while :; do sleep 0.1; done'
    probe = {'exec': {'command': ['grep', '-q', 'mine', '/tmp/mine']}, 'periodSeconds': 1}
    with serving(folder, *images(program, bundle)) as server:
        apply(server, pod('p', shell(script, image=IMAGE, readinessProbe=probe, resources={'limits': {'memory': '64Mi'}}),
                          terminationGracePeriodSeconds=20))
        ready = lambda: items(server, 'pods')[0]['status'].get('containerStatuses', [{}])[0].get('ready')
        blackbox.eventually(ready)
        first = items(server, 'pods')[0]['status']['containerStatuses'][0]['containerID']
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        server.process.stdout.close()
        server.start()
        blackbox.eventually(ready)
        assert items(server, 'pods')[0]['status']['containerStatuses'][0]['containerID'] == first
        assert 'ready' in call(server, 'logs', 'p')
        assert blackbox.kubectl(server, 'exec', 'p', '--', 'cat', '/tmp/mine', '/etc/motd') == 'mine\nfrom the image\n'
        assert processes_naming('/tmp/mine')
        blackbox.kubectl(server, 'exec', 'p', '--', 'sh', '-c', 'kill -TERM $(cat /tmp/pid)', check=False)
        ended = blackbox.eventually(lambda: main_state(server, 'p').get('terminated'))
        assert (ended['exitCode'], ended['message']) == (9, 'bye')
        assert not processes_naming('/tmp/mine')


@pytest.mark.parametrize('program', PROGRAMS)
def test_volumes_of_all_kinds_are_mounts(program, bundle, folder):
    host = folder / 'host'
    host.mkdir()
    host.chmod(0o777)
    (host / 'file').write_text('of the machine\n')
    volumes = [{'name': 'map', 'configMap': {'name': 'settings'}}, {'name': 'key', 'secret': {'secretName': 'key'}},
               {'name': 'host', 'hostPath': {'path': str(host)}}, {'name': 'claim', 'persistentVolumeClaim': {'claimName': 'data'}}]
    mounts = [{'name': 'map', 'mountPath': '/etc/settings/rate', 'subPath': 'rate'}, {'name': 'key', 'mountPath': '/key'},
              {'name': 'host', 'mountPath': '/host'}, {'name': 'claim', 'mountPath': '/host/claim'}]
    script = 'cat /etc/settings/rate /key/word /host/file; echo kept > /host/claim/kept && echo back > /host/back && cat /host/claim/kept'
    with serving(folder, *images(program, bundle)) as server:
        apply(server, {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'settings'}, 'data': {'rate': '0.1\n'}},
              {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'key'}, 'stringData': {'word': 'sesame\n'}},
              {'apiVersion': 'v1', 'kind': 'PersistentVolumeClaim', 'metadata': {'name': 'data'}, 'spec': {
                  'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Mi'}}}},
              pod('p', shell(script, image=IMAGE, volumeMounts=mounts), volumes=volumes))
        blackbox.eventually(lambda: main_state(server, 'p').get('terminated'))
        assert call(server, 'logs', 'p') == '0.1\nsesame\nof the machine\nkept\n'
        assert (host / 'back').read_text() == 'back\n'


@pytest.mark.parametrize('program', PROGRAMS)
def test_a_tree_that_does_not_end_is_killed(program, bundle, folder):
    marker = '31415.%d' % os.getpid()
    with serving(folder, *images(program, bundle)) as server:
        apply(server, pod('p', shell('trap "" TERM; setsid sleep %s & sleep %s & wait; wait' % (marker, marker), image=IMAGE)))
        blackbox.eventually(lambda: len(processes_naming(marker)) >= 3)
        call(server, 'delete', 'pod', 'p')
        blackbox.eventually(lambda: not processes_naming(marker))


@pytest.mark.parametrize('program', PROGRAMS)
def test_containers_wait_at_the_barrier(program, bundle, folder):
    file = job_set('set', 3, shell('echo through'))
    file['spec']['groupSchedulingConfig'] = {}
    code, output = run(folder, file, *images(program, bundle))
    assert code == 0, output
    assert output.count('through') == 3


def test_without_a_runtime_one_line_says_so(bundle, folder):
    """Both programs are hidden in a mount namespace of the test's own."""
    hide = ''.join('mount --bind /dev/null "%s"; ' % found for found in map(shutil.which, PROGRAMS) if found)
    command = [os.environ['MUSTER'], 'serve', '--data-dir', folder / 'data', '--listen', '127.0.0.1:0', *images('oci', bundle)]
    done = subprocess.run(['unshare', '-m' if ROOT else '-rm', 'sh', '-c', hide + 'exec "$@"', 'sh', *map(str, command)],
                          capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode != 0
    assert 'neither crun nor runc is installed' in done.stderr
    assert len(done.stderr.strip().split('\n')) == 1, done.stderr


def test_flags_that_do_not_fit_are_refused(bundle):
    for flags, why in ((('--rootfs', bundle), 'add --runtime oci'), (('--runtime', 'oci'), 'say with --rootfs where they are'),
                       (('--runtime', 'oci', '--rootfs', '=x'), 'it takes [IMAGE=]DIR')):
        done = subprocess.run([os.environ['MUSTER'], 'serve', '--data-dir', '/nonexistent/x', *map(str, flags)], capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode != 0 and why in done.stderr, done.stderr


def test_doctor_runs_a_container():
    done = subprocess.run([os.environ['MUSTER'], 'doctor'], capture_output=True, text=True, timeout=SECONDS)
    for program in PROGRAMS:
        assert [line for line in done.stdout.split('\n') if line.startswith('[ok] %s ' % program) and 'runs containers' in line], done.stdout
