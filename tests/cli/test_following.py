"""`logs -f`, `attach` and `run` on a server that is killed and comes back: no line is lost, none is told twice; and on one that does not."""
import os
import subprocess

import pytest

import blackbox
from command_line import SECONDS, Client, job_set, until

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


class Follower:
    """muster as it goes on; what it has printed so far can be looked at."""

    def __init__(self, server, *words):
        self.files = [server.folder / (words[0] + suffix) for suffix in ('.out', '.err')]
        with open(self.files[0], 'w') as out, open(self.files[1], 'w') as errors:
            self.process = subprocess.Popen([os.environ['MUSTER'], *map(str, words)], env=blackbox.environment(server.kubeconfig, server.folder),
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=errors)

    def lines(self):
        return self.files[0].read_text().splitlines()

    def errors(self):
        return self.files[1].read_text()

    def shows_more(self):
        """Waits for further lines, so that what happens next happens amid them; or for the end."""
        before = len(self.lines())
        blackbox.eventually(lambda: len(self.lines()) > before or self.process.poll() is not None)

    def ends(self, code=0):
        """All its lines."""
        assert self.process.wait(SECONDS) == code, self.errors()
        return self.lines()


def check_lines(lines, prefix):
    assert all(line.startswith(prefix) for line in lines), [line for line in lines if not line.startswith(prefix)][:3]
    lines = [line[len(prefix):] for line in lines]
    assert lines[:LINES] == EXPECTED
    assert ''.join(lines[LINES:]) == 'x' * 200000


@pytest.mark.parametrize('stop', ['kill', 'stop'])
def test_logs_and_attach_get_over_restarts(server, stop):
    Client(server)('apply', '-f', '-', stdin=job_set('steady', COUNTER))
    blackbox.eventually(lambda: 'Running' in Client(server)('get', 'pods').stdout)
    followers = Follower(server, 'logs', 'steady', '-f'), Follower(server, 'attach', 'steady')
    for _ in range(3):
        for each in followers:
            each.shows_more()
        getattr(server, stop)()
        server.start()
    server.kill()
    server.start_elsewhere()
    for each in followers:
        check_lines(each.ends(), 'work-0-0 | ')


def test_run_elsewhere_gets_over_a_restart(server, tmp_path):
    file = tmp_path / 'set.yaml'
    file.write_text(job_set('again', COUNTER))
    run = Follower(server, 'run', file, '--kubeconfig', server.kubeconfig, '--prefix', 'none')
    run.shows_more()
    server.kill()
    blackbox.eventually(lambda: 'does not answer; waiting up to 30s for it' in run.errors())
    server.start()
    check_lines(run.ends(), '')
    assert 'the server is back' in run.errors()


def test_a_container_that_was_started_again_meanwhile(server, shared):
    """The rest of its last run is read, and the next one after it."""
    text = job_set('twice', 'echo first; %s; echo last; test -e /kept/tried && exit 0; touch /kept/tried; exit 1' % until(shared / 'go'),
                   container='volumeMounts: [{name: kept, mountPath: /kept}]').replace('containers:', 'volumes: [{name: kept, emptyDir: {}}]\n            containers:')
    Client(server)('apply', '-f', '-', stdin=text.replace('restartPolicy: Never', 'restartPolicy: OnFailure').replace('backoffLimit: 0', 'backoffLimit: 5'))
    blackbox.eventually(lambda: 'Running' in Client(server)('get', 'pods').stdout)
    logs = Follower(server, 'logs', 'twice', '-f', '--prefix', 'none')
    logs.shows_more()
    assert logs.lines() == ['first']
    server.kill()
    (shared / 'go').touch()
    blackbox.eventually(lambda: list(server.data_dir.rglob('tried')))
    server.start()
    assert logs.ends() == ['first', 'last', 'first', 'last']


def test_times_stay_if_they_are_wanted(server, shared):
    Client(server)('apply', '-f', '-', stdin=job_set('timed', 'echo one; %s; echo two' % until(shared / 'go')))
    blackbox.eventually(lambda: 'Running' in Client(server)('get', 'pods').stdout)
    logs = Follower(server, 'logs', 'timed', '-f', '-t')
    logs.shows_more()
    server.kill()
    server.start()
    (shared / 'go').touch()
    lines = logs.ends()
    assert [line.split()[0] + ' ' + line.split()[-1] for line in lines] == ['work-0-0 one', 'work-0-0 two']
    assert all(line.split()[2].endswith('Z') for line in lines)


@pytest.mark.parametrize('words', [['logs', 'gone', '-f'], ['attach', 'gone']])
def test_a_server_that_does_not_come_back_is_told(tmp_path, shared, words):
    server = Server(tmp_path).start()
    Client(server)('apply', '-f', '-', stdin=job_set('gone', 'echo up; ' + until(shared / 'never')))
    blackbox.eventually(lambda: 'Running' in Client(server)('get', 'pods').stdout)
    follower = Follower(server, *words, '--patience', '2s')
    follower.shows_more()
    server.kill()
    assert follower.ends(75) == ['work-0-0 | up']
    assert 'cannot be reached any more, for 2s now' in follower.errors()
    # And who asks now is told what to do.
    help_text = Client(server)('get', 'pods', '--data-dir', server.data_dir, code=75).stderr
    assert 'help: muster serve --data-dir %s starts it again' % server.data_dir in help_text
