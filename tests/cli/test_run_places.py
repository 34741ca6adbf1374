"""Where `muster run` keeps its objects, whom it shares its server with, what it leaves, and what it does not wait for."""
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

import blackbox
from command_line import SECONDS, alone, job_set, until


class Run:
    """`muster run` in the background, its output in files."""

    def __init__(self, folder, name, text, *flags):
        self.out, self.errors = folder / (name + '.out'), folder / (name + '.err')
        file = folder / (name + '.yaml')
        file.write_text(text)
        with open(self.out, 'w') as out, open(self.errors, 'w') as errors:
            self.process = subprocess.Popen([os.environ['MUSTER'], 'run', str(file), *map(str, flags)], stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=errors, env={**os.environ, 'TMPDIR': str(folder)})

    def shows(self, text):
        return blackbox.eventually(lambda: text in self.out.read_text() + self.errors.read_text(), every=0.05)

    def ends(self, code):
        assert self.process.wait(SECONDS) == code, self.errors.read_text()
        return self.out.read_text(), self.errors.read_text()


@pytest.fixture
def data(tmp_path):
    return tmp_path / 'data'


# A data directory and its runs


def test_a_run_that_keeps_its_objects_says_how_to_see_them(tmp_path, data):
    done = alone('run', '-', '--data-dir', data, stdin=job_set('kept', 'echo hello'))
    assert 'kept in %s: muster serve --data-dir %s' % (data, data) in done.stderr
    assert 'help: muster serve --data-dir %s starts it again' % data in alone('get', 'jobsets', '--data-dir', data, code=75).stderr
    assert 'help: start muster serve --data-dir %s, then muster delete jobset kept --data-dir %s makes room' % (data, data) in alone('run', '-', '--data-dir', data, code=1, stdin=job_set('kept', 'true')).stderr
    server, _ = blackbox.start_program([os.environ['MUSTER'], 'serve', '--data-dir', data], tmp_path / 'log', 'serves')
    try:
        assert alone('logs', 'kept', '--data-dir', data).stdout == 'work-0-0 | hello\n'
        alone('delete', 'jobset', 'kept', '--data-dir', data)
    finally:
        blackbox.stop_program(server, tmp_path / 'log')
    assert 'kept in' not in alone('run', '-', code=0, stdin=job_set('gone', 'true')).stderr


def test_the_server_of_the_first_run_ends_after_the_last(tmp_path, data, shared):
    first = Run(tmp_path, 'first', job_set('first', 'echo up; %s; echo down' % until(shared / 'first')), '--data-dir', data)
    first.shows('work-0-0 | up')
    second = Run(tmp_path, 'second', job_set('second', 'echo up; %s; echo down' % until(shared / 'second')), '--data-dir', data)
    second.shows('work-0-0 | up')
    (shared / 'first').touch()
    first.shows('other runs use this server: it ends with the last of them')
    assert first.process.poll() is None and second.process.poll() is None
    (shared / 'second').touch()
    assert second.ends(0)[0] == 'work-0-0 | up\nwork-0-0 | down\n'
    assert first.ends(0)[0] == 'work-0-0 | up\nwork-0-0 | down\n'


def test_runs_that_start_at_once_agree_on_a_server(tmp_path, data):
    runs = [Run(tmp_path, 'r%d' % i, job_set('r%d' % i, 'echo %d' % i), '--data-dir', data) for i in range(3)]
    for i, run in enumerate(runs):
        assert run.ends(0)[0] == 'work-0-0 | %d\n' % i


def test_a_host_that_is_killed_is_missed(tmp_path, data):
    first = Run(tmp_path, 'first', job_set('first', 'echo up; sleep 60'), '--data-dir', data)
    first.shows('work-0-0 | up')
    second = Run(tmp_path, 'second', job_set('second', 'echo up; sleep 60'), '--data-dir', data, '--patience', '300s')  # which nobody waits for
    second.shows('work-0-0 | up')
    first.process.kill()
    first.process.wait()
    errors = second.ends(75)[1]
    assert 'cannot be reached any more' in errors and 'the run that owned it (pid %d) was killed' % first.process.pid in errors


def test_a_run_shows_nothing_of_a_cancelled_one(tmp_path, data):
    first = Run(tmp_path, 'first', job_set('same', 'echo old; sleep 60', 2), '--data-dir', data)
    first.shows('work-0-1 | old')
    first.process.send_signal(signal.SIGINT)
    first.ends(130)
    done = alone('run', '-', '--data-dir', data, stdin=job_set('same', 'echo new'))
    assert done.stdout == 'work-0-0 | new\n'


# What cannot come


def kept_from_starting(name, change, code=2):
    """What a run says that gives up by itself: the end of its time would be another exit code."""
    return alone('run', '-', '--timeout', '50s', code=code, stdin=change(job_set(name, 'true'))).stderr


def test_a_command_is_asked_for_before_anything_starts():
    errors = kept_from_starting('bare', lambda text: re.sub(r'command: .*', '', text), code=1)
    assert 'a command is needed' in errors and re.search(r'--> standard input:\d+:\d+', errors) and 'watch it' not in errors


def test_a_command_that_is_no_list_is_shown_as_one():
    errors = kept_from_starting('line', lambda text: re.sub(r'command: .*', 'command: echo hi', text), code=1)
    assert re.search(r'command: must be a list of words: \[echo, hi\]\n  --> standard input:\d+:\d+\n +\d+ \| +command: echo hi\n', errors), errors
    assert 'a command is needed' not in errors


def test_keys_that_are_there_twice_are_refused(tmp_path):
    text = job_set('twice', 'true').replace('backoffLimit: 0', 'backoffLimit: 0\n        parallelism: 3')
    file = tmp_path / 'twice.yaml'
    file.write_text(text)
    for arguments, stores in ((['run', file], True), (['graph', '-f', file], False)):
        errors = alone(*arguments, code=1).stderr
        assert re.search(r'error: key "parallelism" already set in map\n  --> .*twice.yaml:14:9\n +14 \| +parallelism: 3\n +\| +\^{11}\n', errors), errors
        assert ('Nothing was stored.' in errors) == stores and 'watch it' not in errors


@pytest.mark.parametrize('change, why', [
    (lambda text: text.replace('image: none', 'image: none\n              envFrom: [{secretRef: {name: no-such}}]'), 'secret "no-such" not found'),
    (lambda text: text.replace('image: none', 'image: none\n              volumeMounts: [{name: v, mountPath: /v}]').replace(
        'containers:', 'volumes: [{name: v, configMap: {name: no-such}}]\n            containers:'), 'configmap "no-such" not found'),
    (lambda text: text.replace('restartPolicy: Never', 'restartPolicy: Never\n            serviceAccountName: no-such'), 'serviceaccount "no-such" not found'),
], ids=['environment', 'volume', 'account'])
def test_a_private_run_does_not_wait_for_ever(change, why):
    errors = kept_from_starting('stuck', change)
    assert re.search(r'error: (pod stuck-work-0-0-\w+ cannot (start|be placed)|job stuck-work-0 has no pods): .*' + re.escape(why), errors), errors
    assert 'nobody else uses this server: giving up in' in errors and 'stopping stuck' in errors


def test_what_there_is_too_little_of_is_said_once():
    errors = kept_from_starting('stuck', lambda text: text.replace('image: none', 'image: none\n              resources: {requests: {cpu: "100000"}}'))
    assert re.search(r'^work-0-0: cannot be placed: asks for 100000 cpu; this machine has \d+m?$', errors, re.M), errors
    assert re.search(r'^error: pod stuck-work-0-0-\w+ cannot be placed$', errors, re.M), errors
    assert 'nobody else uses this server: giving up in' in errors and 'stopping stuck' in errors
    assert errors.count('asks for') == 1 and 'preemption' not in errors and 'Insufficient' not in errors, errors


LATE = '{apiVersion: v1, kind: ConfigMap, metadata: {name: late}, data: {WORD: here}}'
NEEDS_LATE = 'image: none\n              envFrom: [{configMapRef: {name: late}}]'


def test_what_comes_in_time_is_waited_for(tmp_path):
    """Of a run that is alone, and gives up some seconds later: a slow machine may need more than one try to be in time."""
    for i in range(5):
        data = tmp_path / ('data%d' % i)
        run = Run(tmp_path, 'waits%d' % i, job_set('waits', 'echo $WORD').replace('image: none', NEEDS_LATE), '--data-dir', data)
        run.shows('configmap "late" not found')
        subprocess.run([os.environ['MUSTER'], 'apply', '-f', '-', '--data-dir', data], input=LATE, text=True, timeout=SECONDS)
        if run.process.wait(SECONDS) != 2:
            break
        assert 'nobody else uses this server: giving up in' in run.errors.read_text()
    assert run.ends(0)[0] == 'work-0-0 | here\n'


def test_what_another_run_may_bring_is_waited_for(tmp_path, data, shared):
    first = 'initContainers: [{name: first, image: none, command: [sh, -c, "%s"]}]\n            containers:' % until(shared / 'go')
    run = Run(tmp_path, 'waits', job_set('waits', 'echo $WORD').replace('image: none', NEEDS_LATE).replace('containers:', first), '--data-dir', data)
    run.shows('watch it')
    other = Run(tmp_path, 'other', job_set('other', 'echo up; ' + until(shared / 'end')), '--data-dir', data)
    other.shows('work-0-0 | up')
    (shared / 'go').touch()
    run.shows('configmap "late" not found')
    time.sleep(8)       # longer than it would wait if it were alone
    alone('apply', '-f', '-', '--data-dir', data, stdin=LATE)
    run.shows('| here')
    (shared / 'end').touch()
    out, errors = run.ends(0)
    assert out == 'work-0-0/main | here\n' and 'giving up' not in errors
    other.ends(0)


def test_a_shared_server_is_waited_for_with_the_reason(tmp_path):
    with blackbox.Muster(tmp_path) as server:
        text = job_set('patient', 'true').replace('image: none', 'image: none\n              envFrom: [{secretRef: {name: no-such}}]')
        run = Run(tmp_path, 'patient', text, '--kubeconfig', server.kubeconfig)
        run.shows('CreateContainerConfigError: secret "no-such" not found')
        time.sleep(8)
        assert run.process.poll() is None
        run.process.send_signal(signal.SIGINT)
        assert 'giving up' not in run.ends(130)[1]


# What is left, and what is said


def test_the_folder_of_a_killed_run_is_swept_by_the_next(tmp_path, shared):
    marker = 'muster-swept-%d' % os.getpid()
    run = Run(tmp_path, 'killed', job_set('killed', "echo up; sh -c 'sleep 1000; : %s'" % marker))
    run.shows('work-0-0 | up')
    other = Run(tmp_path, 'other', job_set('other', 'echo up; %s; echo down' % until(shared / 'go')))
    other.shows('work-0-0 | up')
    run.process.kill()
    run.process.wait()
    assert len(list(tmp_path.glob('muster-run-*'))) == 2
    alone('run', '-', stdin=job_set('next', 'true'), environment={'TMPDIR': str(tmp_path)})
    assert len(list(tmp_path.glob('muster-run-*'))) == 1, 'the one that is in use'
    (shared / 'go').touch()
    assert other.ends(0)[0] == 'work-0-0 | up\nwork-0-0 | down\n'
    assert list(tmp_path.glob('muster-run-*')) == []
    blackbox.eventually(lambda: subprocess.run(['pgrep', '-f', marker], stdout=subprocess.PIPE).stdout == b'')


def test_an_image_that_is_ignored_is_said_once():
    text = job_set('pictured', 'true', 3).replace('image: none', 'image: example.org/program:1')
    errors = alone('run', '-', stdin=text).stderr
    assert errors.count('warning: image "example.org/program:1" is ignored by the process runtime') == 1


def test_an_image_may_be_none_or_left_out():
    text = job_set('bare', 'echo here', 2)
    assert 'image' not in alone('run', '-', stdin=text).stderr
    done = alone('run', '-', stdin=text.replace('image: none', ''))
    assert done.stdout.count('| here\n') == 2 and 'image' not in done.stderr, done.stderr


def test_a_run_says_how_to_watch_it_from_anywhere(tmp_path, data, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = Run(tmp_path, 'seen', job_set('seen', 'echo up; sleep 1000'), '--data-dir', 'data')
    run.shows('work-0-0 | up')
    command = re.search(r'^watch it: muster (.*)$', run.errors.read_text(), re.M)[1].split()
    assert command == ['top', '--data-dir', str(data)]
    monkeypatch.chdir('/')
    assert 'seen' in alone(*command, '--once').stdout
    help = alone('run', '-', '--data-dir', data, code=1, stdin=job_set('seen', 'true')).stderr
    hint = re.search(r'help: muster (attach seen .*) follows the one that is there, muster (delete jobset seen .*) makes room', help)
    alone(*hint[1].split(), '--timeout', '1s', code=4)
    with subprocess.Popen([os.environ['MUSTER'], *hint[1].split()], text=True, stdout=subprocess.PIPE) as attached:
        assert attached.stdout.readline() == 'work-0-0 | up\n'
        attached.send_signal(signal.SIGINT)     # which leaves it running
        assert attached.stdout.read() == '' and attached.wait(SECONDS) == 130
    alone(*hint[2].split())
    run.ends(5)


def test_restarts_are_said_with_their_cause_before_what_comes_next(tmp_path):
    text = job_set('again', 'echo attempt; exit 1', spec='failurePolicy: {maxRestarts: 2}')
    file = tmp_path / 'again.yaml'
    file.write_text(text)
    done = subprocess.run([os.environ['MUSTER'], 'run', str(file)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
    assert done.returncode == 3, done.stdout
    said = [line for line in done.stdout.splitlines() if line == 'work-0-0 | attempt' or 'restart ' in line]
    assert said == ['work-0-0 | attempt', 'work-0-0 failed: exit code 1; restart 1 of 2', 'work-0-0 | attempt',
                    'work-0-0 failed: exit code 1; restart 2 of 2', 'work-0-0 | attempt'], done.stdout


def test_a_stage_that_never_started_is_not_said_to_have_stopped():
    text = job_set('first', 'exit 3')
    stage = text[text.index('  - name: work'):]
    text += stage.replace('- name: work', '- name: later\n    dependsOn: [{name: work, status: Complete}]')
    errors = alone('run', '-', code=3, stdin=text).stderr
    assert 'later: never started (work failed)\n' in errors and 'stopped' not in errors, errors


# Whom pods run as


@pytest.mark.skipif(os.geteuid() != 0, reason='only root runs pods as others')
def test_root_is_told_whom_pods_run_as(tmp_path, monkeypatch):
    monkeypatch.delenv('SUDO_UID', raising=False)
    monkeypatch.chdir('/')
    line = 'pods run as nobody, not as root: --pod-user root runs them as you\n'
    assert line in alone('run', '-', stdin=job_set('told', 'true')).stderr
    assert 'pods run as' not in alone('run', '-', '--pod-user', 'root', stdin=job_set('same', 'true')).stderr
    closed = tmp_path / 'closed'
    closed.mkdir(mode=0o700)
    (closed / 'words.txt').write_text('found\n')
    monkeypatch.chdir(closed)
    text = job_set('needs', 'cat words.txt')
    errors = alone('run', '-', code=1, stdin=text).stderr
    assert errors.startswith('error: pods run as nobody, who cannot enter %s, where words.txt is\n  help: --pod-user root' % closed), errors
    assert 'watch it' not in errors
    assert alone('run', '-', '--pod-user', 'root', stdin=text).stdout == 'work-0-0 | found\n'
    elsewhere = text.replace('image: none', 'workingDir: /')
    assert 'words.txt is' not in alone('run', '-', code=3, stdin=elsewhere).stderr
    assert 'who cannot enter %s and works in his home or / instead' % closed in alone('run', '-', stdin=job_set('free', 'true')).stderr
