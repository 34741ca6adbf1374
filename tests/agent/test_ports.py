"""Ports, which all pods of a machine share: MASTER_PORT is a free one, and who fails over a taken one is told who has it."""
import json
import os
import pathlib
import re
import socket
import tempfile

import pytest

import blackbox
from local_pods import STRANGER, apply, call, items, job_set, main_state, pod, python, run, serving, shell

LISTEN = 'import socket, sys, time; s = socket.create_server(("", int(sys.argv[1]))); print("up", flush=True); time.sleep(1000)'
FIRST, PORTS = 10_000, 20_000       # of MASTER_PORT


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp('ports')) as running:
        yield running


@pytest.fixture
def port():
    """Of no pod yet. Not of the kernel's own range, so that nobody gets it by chance."""
    for candidate in range(5_000 + os.getpid() % 1_000, FIRST):
        with socket.socket() as trial:
            try:
                trial.bind(('', candidate))
                return candidate
            except OSError:
                pass
    raise AssertionError('all ports are taken')


@pytest.fixture
def everybodys_folder():
    with tempfile.TemporaryDirectory(dir=blackbox.SEEN_BY_PODS) as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


def listener(server, name, port):
    apply(server, pod(name, python(LISTEN, str(port))))
    blackbox.eventually(lambda: 'up' in call(server, 'logs', name))


@pytest.mark.parametrize('how', ['declared', 'said'])
def test_the_pod_that_has_the_port_is_named(server, port, how):
    holder, late = 'holder-' + how, 'late-' + how
    listener(server, holder, port)
    program = {'declared': shell('exit 5', ports=[{'containerPort': port}]),
               'said': shell('echo "listen tcp :%d: bind: address already in use" >&2; exit 5' % port)}[how]
    apply(server, pod(late, program))
    ended = blackbox.eventually(lambda: main_state(server, late).get('terminated'))
    assert ended['exitCode'] == 5
    assert re.fullmatch(r'port %d is taken by pod default/%s \(python3[.\d]*, pid \d+\)' % (port, holder), ended['message'])
    events = [one for one in items(server, 'events') if one['reason'] == 'PortTaken' and one['involvedObject']['name'] == late]
    assert [one['message'] for one in events] == [ended['message']]
    call(server, 'delete', 'pod', holder, late)


def test_a_run_names_the_pod_of_another_server(server, port):
    holder = 'other'
    listener(server, holder, port)
    with tempfile.TemporaryDirectory() as home:
        code, output = run(home, job_set('a', python(LISTEN, str(port), ports=[{'containerPort': port}])))
    assert code == 3, output
    assert re.search(r'failed: pod a-w-0-0-\w+, container main: exit code 1: port %d is taken by pod default/%s \(' % (port, holder), output), output
    call(server, 'delete', 'pod', holder)


def test_a_process_of_no_pod_is_named_or_its_user(port):
    with socket.create_server(('', port)), tempfile.TemporaryDirectory() as home:
        file = job_set('a', python(LISTEN, str(port), ports=[{'containerPort': port}]))
        code, output = run(home, file)
        assert code == 3, output
        assert re.search(r'exit code 1: port %d is taken by \S+ \(pid %d\)' % (port, os.getpid()), output), output
        if os.geteuid() != 0:
            return      # nobody else can be asked
        os.chown(home, STRANGER, STRANGER)
        code, output = run(home, file, user=STRANGER)
        assert code == 3, output
        assert 'exit code 1: port %d is taken by a process of user 0' % port in output


def test_pods_of_an_ordinary_user_are_named_too(port):
    """Two of one run; nobody but root may look into the processes that keep them."""
    user = STRANGER if os.geteuid() == 0 else None
    wait = 'import os, time\nwhile not os.system("! grep -q :%04X.*:0000.0A /proc/net/tcp"): time.sleep(0.05)\n' % port
    file = job_set('a', python(LISTEN, str(port)))
    late = job_set('b', python(wait + LISTEN, str(port), ports=[{'containerPort': port}]))['spec']['replicatedJobs'][0]
    file['spec']['replicatedJobs'].append({**late, 'name': 'late'})
    with tempfile.TemporaryDirectory() as home:
        if user:
            os.chown(home, user, user)
        code, output = run(home, file, user=user)
    assert code == 3, output
    assert re.search(r'failed: pod a-late-0-0-\w+, container main: exit code 1: port %d is taken by pod default/a-w-0-0-\w+ \(' % port, output), output


def fnv(text):
    """The hash that MASTER_PORT begins with."""
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


def ranked(name, script, replicas, **spec):
    attempt = {'fieldRef': {'fieldPath': "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"}}
    made = job_set(name, shell(script, env=[{'name': 'ATTEMPT', 'valueFrom': attempt}]))
    made['metadata']['annotations'] = {'muster.dev/rank-env': 'true'}
    made['spec'].update(spec)
    made['spec']['replicatedJobs'][0]['replicas'] = replicas
    return made


def master_port(server, name, attempt, pods):
    """As the programs of all these pods see it; nothing before all have told."""
    found = []
    for one in items(server, 'pods'):
        labels = one['metadata'].get('labels', {})
        if labels.get('jobset.sigs.k8s.io/jobset-name') == name and labels.get('jobset.sigs.k8s.io/restart-attempt') == str(attempt):
            found += re.findall(r'port (\d+)', call(server, 'logs', one['metadata']['name']))
    assert len(set(found)) <= 1, found
    return int(found[0]) if len(found) == pods else None


def test_master_port_is_free_in_every_attempt_and_one_for_all(server, everybodys_folder):
    """What the next attempt would begin with is taken before it begins."""
    script = 'echo port $MASTER_PORT; until [ $ATTEMPT = 0 ] && [ -e %s/fail ]; do sleep 0.05; done; exit 1' % everybodys_folder
    apply(server, ranked('free', script, replicas=2, failurePolicy={'maxRestarts': 1}))
    assert blackbox.eventually(lambda: master_port(server, 'free', 0, 2)) >= FIRST
    uid = json.loads(call(server, 'get', 'jobset', 'free', '-o', 'json'))['metadata']['uid']
    begin = FIRST + fnv(uid + '/1') % PORTS
    sockets = []
    for taken in range(begin, begin + 2):
        try:
            sockets.append(socket.create_server(('127.0.0.1', taken)))
        except OSError:
            pass        # somebody else has it: as good
    (everybodys_folder / 'fail').touch()
    port = blackbox.eventually(lambda: master_port(server, 'free', 1, 2))
    assert begin + 2 <= port < begin + 100, (begin, port)
    with socket.create_server(('', port)):      # nobody is there
        pass
    for each in sockets:
        each.close()
    call(server, 'delete', 'jobset', 'free')
