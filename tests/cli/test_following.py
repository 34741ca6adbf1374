"""`logs -f`, `attach` and `run` on a server that is killed and comes back: no line is lost, none is told twice; and on one that does not."""
import os
import subprocess
import time

import pytest

import blackbox
from command_line import SECONDS, Client, job_set

LINES = 400
# Many lines at once, so that they have one time, then single ones; a long one, too.
COUNTER = '''i=0; while [ $i -lt %d ]; do j=0; out=; while [ $j -lt 10 ]; do out="$out line $i
"; i=$((i+1)); j=$((j+1)); done; printf %%s "$out"; sleep 0.1; done; head -c 200000 /dev/zero | tr '\\0' x; echo''' % LINES
EXPECTED = [' line %d' % i for i in range(LINES)]


class Server(blackbox.Muster):
    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def start_elsewhere(self):
        self.listen = '127.0.0.1:0'
        with open(self.kubeconfig) as file:
            before = file.read()
        (self.data_dir / 'kubeconfig').unlink()      # where it takes its former port from
        self.start()
        assert self.kubeconfig.read_text() != before


@pytest.fixture
def server(tmp_path):
    with Server(tmp_path) as started:
        yield started


def follower(server, *words):
    return subprocess.Popen([os.environ['MUSTER'], *map(str, words)], env=blackbox.environment(server.kubeconfig, server.folder), text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def outcome(process):
    out, errors = process.communicate(timeout=SECONDS)
    return out.splitlines(), errors, process.returncode


def check_lines(lines, prefix):
    assert all(line.startswith(prefix) for line in lines), [line for line in lines if not line.startswith(prefix)][:3]
    lines = [line[len(prefix):] for line in lines]
    assert lines[:LINES] == EXPECTED
    assert ''.join(lines[LINES:]) == 'x' * 200000


@pytest.mark.parametrize('stop', ['kill', 'stop'])
def test_logs_and_attach_get_over_restarts(server, stop):
    Client(server)('apply', '-f', '-', stdin=job_set('steady', COUNTER))
    blackbox.eventually(lambda: 'Running' in Client(server)('get', 'pods').stdout)
    logs, attach = follower(server, 'logs', 'steady', '-f'), follower(server, 'attach', 'steady')
    for _ in range(3):
        time.sleep(0.7)
        getattr(server, stop)()
        time.sleep(0.2)
        server.start()
    server.kill()
    server.start_elsewhere()
    for process in (logs, attach):
        lines, errors, code = outcome(process)
        assert code == 0, errors
        check_lines(lines, 'work-0-0 | ')


def test_run_elsewhere_gets_over_a_restart(server, tmp_path):
    file = tmp_path / 'set.yaml'
    file.write_text(job_set('again', COUNTER))
    run = follower(server, 'run', file, '--kubeconfig', server.kubeconfig, '--prefix', 'none')
    blackbox.eventually(lambda: 'Running' in Client(server)('get', 'pods').stdout)
    time.sleep(1)
    server.kill()
    time.sleep(2.5)
    server.start()
    lines, errors, code = outcome(run)
    assert code == 0, errors
    check_lines(lines, '')
    assert 'does not answer; waiting up to 30s for it' in errors and 'the server is back' in errors


def test_a_container_that_was_started_again_meanwhile(server):
    """The rest of its last run is read, and the next one after it."""
    text = job_set('twice', 'echo first; sleep 2; echo last; test -e /kept/tried && exit 0; touch /kept/tried; exit 1',
                   container='volumeMounts: [{name: kept, mountPath: /kept}]').replace('containers:', 'volumes: [{name: kept, emptyDir: {}}]\n            containers:')
    Client(server)('apply', '-f', '-', stdin=text.replace('restartPolicy: Never', 'restartPolicy: OnFailure').replace('backoffLimit: 0', 'backoffLimit: 5'))
    blackbox.eventually(lambda: 'Running' in Client(server)('get', 'pods').stdout)
    logs = follower(server, 'logs', 'twice', '-f', '--prefix', 'none')
    assert logs.stdout.readline() == 'first\n'
    server.kill()
    time.sleep(3)
    server.start()
    lines, errors, code = outcome(logs)
    assert code == 0, errors
    assert lines == ['last', 'first', 'last']


def test_times_stay_if_they_are_wanted(server):
    Client(server)('apply', '-f', '-', stdin=job_set('timed', 'echo one; sleep 2; echo two'))
    blackbox.eventually(lambda: 'Running' in Client(server)('get', 'pods').stdout)
    logs = follower(server, 'logs', 'timed', '-f', '-t')
    time.sleep(0.5)
    server.kill()
    server.start()
    lines, errors, code = outcome(logs)
    assert code == 0, errors
    assert [line.split()[0] + ' ' + line.split()[-1] for line in lines] == ['work-0-0 one', 'work-0-0 two']
    assert all(line.split()[2].endswith('Z') for line in lines)


@pytest.mark.parametrize('words', [['logs', 'gone', '-f'], ['attach', 'gone']])
def test_a_server_that_does_not_come_back_is_told(tmp_path, words):
    server = Server(tmp_path).start()
    Client(server)('apply', '-f', '-', stdin=job_set('gone', 'echo up; sleep 15'))
    blackbox.eventually(lambda: 'Running' in Client(server)('get', 'pods').stdout)
    process = follower(server, *words, '--patience', '2s')
    assert process.stdout.readline() == 'work-0-0 | up\n'
    server.kill()
    lines, errors, code = outcome(process)
    assert code == 75 and lines == []
    assert 'cannot be reached any more, for 2s now' in errors
    # And who asks now is told what to do.
    help_text = Client(server)('get', 'pods', '--data-dir', server.data_dir, code=75).stderr
    assert 'help: muster serve --data-dir %s starts it again' % server.data_dir in help_text
