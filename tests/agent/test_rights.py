"""Whom pods run as, what of the machine they may see, and how many processes they may have."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile

import pytest

import blackbox
from local_pods import STRANGER, apply, call, job_set, main_state, messages, mount, pod, processes_naming, python, run, serving, shell, volume

ROOT = os.geteuid() == 0
NOBODY = 65534
FEW = 40
BOMB = 'import os, sys, time\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(1000)\nexcept OSError as error: print(error.strerror)'


def log_of(server, name):
    """The log of a pod that has ended."""
    blackbox.eventually(lambda: call(server, 'get', 'pod', name, '-o', 'jsonpath={.status.phase}') in ('Succeeded', 'Failed'))
    return call(server, 'logs', name)


def waiting(server, name):
    what = main_state(server, name).get('waiting', {})
    return what.get('reason'), what.get('message')


def user_of(server, name):
    """Whom a pod runs as: the server's user; of a server of root one that no other pod has."""
    if not ROOT:
        return os.geteuid()
    uid = json.loads(call(server, 'get', 'pod', name, '-o', 'json'))['metadata']['uid']
    users = {line.split()[1]: int(line.split()[0]) for line in (server.data_dir / 'users').read_text().splitlines()}
    user = users['default/' + uid]
    assert list(users.values()).count(user) == 1 and 2_100_000_000 <= user < 2_100_065_536
    return user


@pytest.fixture(scope='module')
def folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix='rights-'))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope='module')
def server(folder):
    (folder / 'open').mkdir(mode=0o755)
    with serving(folder, '--host-path', folder, '--pod-processes', str(FEW), '--shared-tmp') as server:     # the folder lies there
        yield server


def test_a_pod_runs_as_a_user_who_can_work(server):
    """He has a place to be in, volumes to write to, last words, a log, and programs beside him."""
    claim = {'apiVersion': 'v1', 'kind': 'PersistentVolumeClaim', 'metadata': {'name': 'c'},
             'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Mi'}}}}
    script = 'id -u; ls -d . > /dev/null && echo here; echo x > /v/x && echo x > /c/x && cat /s/k; echo last words > /dev/termination-log; ' \
             'echo HOME=$HOME USER=$USER; touch /c/ready; while [ -e /c/ready ]; do sleep 0.1; done'
    secret = {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 's'}, 'stringData': {'k': 'known\n'}}
    mounts = [{'name': name, 'mountPath': '/' + name} for name in 'vcs']
    volumes = [{'name': 'v', 'emptyDir': {}}, {'name': 'c', 'persistentVolumeClaim': {'claimName': 'c'}},
               {'name': 's', 'secret': {'secretName': 's', 'defaultMode': 0o400}}]
    ready = {'readinessProbe': {'exec': {'command': ['test', '-w', '/c/ready']}, 'periodSeconds': 1}}
    apply(server, claim, secret, pod('works', shell(script, volumeMounts=mounts, **ready), volumes=volumes))
    blackbox.eventually(lambda: '"ready":true' in call(server, 'get', 'pod', 'works', '-o', 'json').replace(' ', ''))
    program = shutil.which('kubectl', path=os.environ.get('KUBERNETES_BIN', ''))
    if program:
        beside = subprocess.run([program, '--kubeconfig', server.kubeconfig, 'exec', 'works', '--', 'sh', '-c', 'id -u; rm /c/ready'],
                                capture_output=True, text=True, check=True, timeout=60)
        assert beside.stdout == '%d\n' % user_of(server, 'works')
    else:
        next((server.data_dir / 'claims').glob('*/*/ready')).unlink()
    words = log_of(server, 'works').split('\n')
    user = user_of(server, 'works')
    assert words[:3] == [str(user), 'here', 'known'], words
    if ROOT:
        assert words[3] == 'HOME=/ USER=%d' % user
    ended = main_state(server, 'works')['terminated']
    assert ended['message'] == 'last words\n' and ended['exitCode'] == 0
    call(server, 'delete', 'pod', 'works')
    call(server, 'delete', 'pvc', 'c')


@pytest.mark.parametrize('name, wish, what', [('user', {'runAsUser': STRANGER}, 'user %d' % STRANGER), ('group', {'runAsGroup': 4}, 'group 4')],
                         ids=['user', 'group'])    # of any worker: each has a stranger of its own
def test_another_user_needs_the_policy(server, name, wish, what):
    apply(server, pod('other-' + name, shell('id'), securityContext=wish))
    blackbox.eventually(lambda: waiting(server, 'other-' + name)[0] == 'CreateContainerConfigError')
    words = r'container main asks for %s, but this node runs pods as user %d: start muster (as root )?with --allow-any-user to allow it' % (what, user_of(server, 'other-' + name))
    assert re.fullmatch(words, waiting(server, 'other-' + name)[1])
    assert any(re.fullmatch('Error: ' + words, message) for message in messages(server, 'other-' + name))


def test_a_host_path_is_what_the_user_can_reach(server, folder):
    closed = folder / 'closed'
    closed.mkdir()
    (closed / 'file').write_text('closed')
    (folder / 'open' / 'file').write_text('open')
    closed.chmod(0o700 if ROOT else 0)
    apply(server, pod('may', shell('cat /v/file', **mount()), **volume(hostPath={'path': str(folder / 'open')})),
          pod('may-not', shell('true', **mount()), **volume(hostPath={'path': str(closed / 'file')})),
          pod('not-here', shell('true', **mount()), **volume(hostPath={'path': '/etc'})))
    assert log_of(server, 'may').strip() == 'open'
    for name, words in {
            'may-not': 'MountVolume.SetUp failed for volume "v" : hostPath %s cannot be had by user %d: Permission denied' % (closed / 'file', user_of(server, 'may-not')),
            'not-here': 'MountVolume.SetUp failed for volume "v" : hostPath /etc is not allowed on this node (allowed by --host-path: %s)' % folder}.items():
        blackbox.eventually(lambda: words in messages(server, name))
        blackbox.eventually(lambda: waiting(server, name)[0] == 'ContainerCreating')
    closed.chmod(0o700)


def test_a_pod_that_makes_processes_without_end(server):
    if not can_limit('process limits'):
        apply(server, pod('unlimited', shell('true')))
        blackbox.eventually(lambda: any('this node cannot enforce process limits' in message for message in messages(server, 'unlimited')))
        return
    apply(server, pod('bomb', python(BOMB)), pod('neighbour', shell('for i in 1 2 3 4 5; do (true) & done; wait; echo fine')))
    assert log_of(server, 'bomb') == 'Resource temporarily unavailable\n'
    assert log_of(server, 'neighbour') == 'fine\n'
    call(server, 'delete', 'pod', 'bomb', 'neighbour')
    blackbox.eventually(lambda: not any('bomb' in words.decode('latin-1') for words in processes_naming(server.folder).values()))


def can_limit(what):
    found = subprocess.run([os.environ['MUSTER'], 'doctor'], capture_output=True, text=True, timeout=60).stdout
    return re.search(r'\[ok\] %s' % what, found) is not None


def limited(command, home, processes):
    """A command of an ordinary user who may have so many processes."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
        if ROOT:
            os.setgroups([])
            os.setgid(STRANGER)
            os.setuid(STRANGER)
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': str(home), 'TMPDIR': str(home)}
    return subprocess.run(command, cwd=home, env=environment, text=True, input=json.dumps(job_set('a', shell('true'))), capture_output=True,
                          timeout=120, preexec_fn=limit)


if ROOT:        # limits are for users who have no other processes; only root becomes others

    def failed_start(server, name):
        return main_state(server, name).get('terminated', {}).get('message')

    def test_a_place_in_a_closed_folder_does_not_open_it(server):
        """Neither a mount nor last words make the folder of all pods' secrets, closed to their user, a folder that he may look into."""
        data = server.data_dir
        place = {'mountPath': str(data / 'new')}
        apply(server, pod('looks', shell('cat %s/pods/*/volumes/*/*' % data, **mount(**place)), **volume(emptyDir={})),
              pod('speaks', shell('ls /root', terminationMessagePath=str(data / 'words'))))
        for name, path in {'looks': data / 'new', 'speaks': data / 'words'}.items():
            blackbox.eventually(lambda: failed_start(server, name) == 'cannot mount at %s: Permission denied' % path)
        call(server, 'delete', 'pod', 'looks', 'speaks')

    def test_nothing_is_made_where_the_user_may_not_write(server, folder):
        theirs = folder / 'theirs'
        theirs.mkdir(mode=0o755)
        volumes = [{'name': 'h', 'hostPath': {'path': str(theirs)}}, {'name': 'v', 'emptyDir': {}}]
        mounts = [{'name': 'h', 'mountPath': '/h'}, {'name': 'v', 'mountPath': '/h/new/deep'}]
        apply(server, pod('nests', shell('true', volumeMounts=mounts), volumes=volumes),
              pod('writes', shell('true', volumeMounts=mounts[:1], terminationMessagePath='/h/words'), volumes=volumes))
        for name, path in {'nests': '/h/new/deep', 'writes': '/h/words'}.items():
            blackbox.eventually(lambda: failed_start(server, name) == 'cannot make %s: Permission denied' % path)
        assert not list(theirs.iterdir())
        call(server, 'delete', 'pod', 'nests', 'writes')

    @pytest.mark.parametrize('processes', [*range(1, 12), 14, 18])
    def test_too_few_processes_are_an_error_in_words(home, processes):
        """Whatever cannot be started, the run says so in a line and ends; nobody aborts, nothing is left."""
        done = limited([os.environ['MUSTER'], 'run', '-', '--timeout', '20s'], home, processes)
        assert 0 <= done.returncode < 128, (done.returncode, done.stderr)
        assert 'terminate called' not in done.stderr
        if done.returncode != 0:
            lines = [line for line in done.stderr.split('\n') if 'Resource temporarily unavailable' in line]
            assert lines, (done.returncode, done.stderr, done.stdout)

    def test_under_sudo_a_run_is_its_callers(home):
        environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': '/root', 'TMPDIR': str(home), 'SUDO_UID': str(STRANGER), 'SUDO_GID': str(STRANGER)}
        done = subprocess.run([os.environ['MUSTER'], 'run', '-', '--prefix', 'none'], cwd=home, env=environment, text=True, capture_output=True, timeout=60,
                              input=json.dumps(job_set('a', shell('id -u; pwd; echo $HOME'))))
        assert done.returncode == 0, done.stderr
        assert done.stdout.split('\n')[:3] == [str(STRANGER), str(home), '/'], done.stdout

    def test_a_program_that_only_root_can_reach_is_there_for_pods():
        """The binary lies in a folder of root's own; pods that are nobody's still have muster in their PATH."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix='rights-'))
        shutil.copy(os.environ['MUSTER'], folder / 'muster')
        environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': str(folder), 'TMPDIR': str(folder)}
        done = subprocess.run([folder / 'muster', 'run', '-', '--prefix', 'none'], cwd=folder, env=environment, text=True, capture_output=True, timeout=60,
                              input=json.dumps(job_set('a', shell('id -u; pwd; muster version > /dev/null && echo found'))))
        assert done.returncode == 0, done.stderr
        assert done.stdout.split('\n')[:3] == [str(NOBODY), '/', 'found'], done.stdout
        shutil.rmtree(folder)

    def test_root_for_those_who_want_it(home):
        code, output = run(home, job_set('a', shell('id -u')), '--pod-user', 'root', '--prefix', 'none')
        assert code == 0 and '0\n' in output
        code, output = run(home, job_set('a', shell('id -u'), securityContext={'runAsUser': STRANGER}), '--allow-any-user', '--prefix', 'none')
        assert code == 0 and '%d\n' % STRANGER in output
        code, output = run(home, job_set('a', shell('id -u')), '--pod-user', 'no-such-user')
        assert code != 0 and 'there is no user "no-such-user" on this machine' in output

    def test_limits_that_cannot_be_kept_are_told(home):
        """An ordinary user without control groups: the pod runs, and an event says what is not kept."""
        os.chown(home, STRANGER, STRANGER)
        data = home / 'data'
        container = shell('sleep 1000', resources={'limits': {'memory': '64Mi'}})
        server = subprocess.Popen([os.environ['MUSTER'], 'serve', '--data-dir', data], cwd=home, text=True, stdout=subprocess.PIPE, user=STRANGER,
                                  group=STRANGER, extra_groups=[], env={'PATH': '/usr/bin:/bin', 'HOME': str(home)})
        try:
            assert 'serves' in server.stdout.readline()

            def muster(*words, stdin=''):
                return subprocess.run([os.environ['MUSTER'], *words, '--data-dir', data], input=stdin, text=True, capture_output=True, timeout=60, check=True).stdout
            muster('apply', '-f', '-', stdin=json.dumps(pod('p', container)))
            told = blackbox.eventually(lambda: re.findall(r'this node cannot enforce memory limits: .*', muster('get', 'events', '-o', 'json')))
            assert len(told) == 1
            muster('delete', 'pod', 'p')
        finally:
            server.terminate()
            server.wait(60)
        blackbox.eventually(lambda: not processes_naming(home))
        shutil.rmtree(data)

    def test_a_run_says_which_limits_it_does_not_keep(home):
        container = shell('echo all the same', resources={'limits': {'memory': '64Mi'}})
        code, output = run(home, job_set('a', container), user=STRANGER)
        assert code == 0, output
        assert len(re.findall(r'^warning: .*', output, re.M)) == 1 and 'warning: this node cannot enforce memory limits: ' in output, output
