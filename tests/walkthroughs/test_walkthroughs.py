"""The walkthroughs of docs/walkthroughs.md, by the very commands of that page, as root and as an ordinary user."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 120
NOBODY = 65534
ROOT = os.geteuid() == 0

COMMANDS = dict(re.findall(r'<!-- walkthrough: (\S+) -->\n\n((?:    .*\n)+)', (PROJECT / 'docs' / 'walkthroughs.md').read_text()))


class Machine:
    """A folder to work in and a user who does; muster is in the PATH."""

    def __init__(self, uid):
        # Whoever is not root is himself already, and may not even say so.
        self.identity = {'user': uid, 'group': uid, 'extra_groups': []} if ROOT else {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='walkthrough-'))
        self.bin = self.folder / 'bin'
        self.bin.mkdir()
        shutil.copy(os.environ['MUSTER'], self.bin / 'muster')
        self.home = self.folder / 'home'
        self.home.mkdir()
        if ROOT:
            for path in (self.folder, self.home):
                os.chown(path, uid, uid)

    def start(self, script):
        environment = {'PATH': '%s:/usr/local/bin:/usr/bin:/bin' % self.bin, 'HOME': str(self.home), 'TMPDIR': str(self.home)}
        return subprocess.Popen(['bash', '-ec', 'set -o pipefail\n' + script], cwd=self.home, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **self.identity)

    def run(self, script):
        process = self.start(script)
        output, _ = process.communicate(timeout=SECONDS)
        return process.returncode, output

    def processes(self):
        """Command lines of what runs from this machine's folder."""
        found = []
        for folder in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                if os.readlink(folder / 'exe').startswith(str(self.bin)):
                    found.append((folder / 'cmdline').read_bytes().replace(b'\0', b' ').decode())
            except OSError:
                pass        # it has just ended, or is the kernel's
        return found


USERS = [pytest.param(0, id='root'), pytest.param(NOBODY, id='ordinary user')] if ROOT else [os.geteuid()]


@pytest.fixture(params=USERS)
def machine(request):
    machine = Machine(request.param)
    yield machine
    deadline = time.monotonic() + 60
    while machine.processes() and time.monotonic() < deadline:
        time.sleep(0.1)
    left = machine.processes()
    files = [str(path) for path in machine.home.glob('muster-*')]
    shutil.rmtree(machine.folder)
    assert not left and not files, 'left behind: %s %s' % (left, files)


def edited(machine, name, old, new):
    """The example with one change, as a file."""
    code, text = machine.run('muster example ' + name)
    assert code == 0 and old in text, text
    (machine.home / 'edited.yaml').write_text(text.replace(old, new))
    return 'muster run edited.yaml'


def in_order(output, *parts):
    at = 0
    for part in parts:
        found = output.find(part, at)
        assert found >= 0, '%r is not in its place:\n%s' % (part, output)
        at = found


def test_the_page_has_all_four():
    assert set(COMMANDS) == {'ddp', 'driver-workers', 'initializers', 'mpi'}


def test_the_first_command_of_the_readme_is_the_first_walkthrough(machine):
    command = re.search(r'^    scripts/build.sh && (.*)$', (PROJECT / 'README.md').read_text(), re.M)[1]
    assert command.replace('build/release/', '') == ' && '.join(line.strip() for line in COMMANDS['ddp'].splitlines())


def test_ddp(machine):
    code, output = machine.run(COMMANDS['ddp'])
    assert code == 0, output
    for rank in range(4):
        assert re.search(r'workers-0-%d \| rank %d of 4: joined at ddp-workers-0-0.ddp' % (rank, rank), output), output
        assert 'rank %d of 4: step 3, the sum of all ranks is 18' % rank in output, output


def test_ddp_variables_and_names(machine):
    show = r'''command: [sh, -c, "echo $JOB_COMPLETION_INDEX $RANK $WORLD_SIZE $MASTER_ADDR; getent hosts $MASTER_ADDR | head -n1"]'''
    code, output = machine.run(edited(machine, 'ddp', 'command: [muster, tool, allreduce, --steps, "3"]', show))
    assert code == 0, output
    for rank in range(4):
        assert '%d %d 4 ddp-workers-0-0.ddp' % (rank, rank) in output, output
    addresses = set(re.findall(r'\| (127\.\d+\.\d+\.\d+) ', output))
    assert len(addresses) == 1, output


def test_ddp_a_dead_rank_restarts_all_until_none_is_left(machine):
    die = r'''command: [sh, -c, "if [ $RANK = 2 ]; then echo going down; kill -9 $$$$; fi; sleep 60"]'''
    code, output = machine.run(edited(machine, 'ddp', 'command: [muster, tool, allreduce, --steps, "3"]', die))
    assert code == 3, output
    assert output.count('workers-0-2 | going down') == 4, output         # the first time and three restarts
    assert 'exit code 137' in output, output


def test_ddp_two_runs_at_once(machine):
    assert machine.run('muster example ddp > ddp.yaml')[0] == 0
    runs = [machine.start('muster run ddp.yaml') for _ in range(2)]
    for run in runs:
        output, _ = run.communicate(timeout=SECONDS)
        assert run.returncode == 0, output
        assert 'rank 3 of 4: step 3, the sum of all ranks is 18' in output, output


def test_an_interrupted_run_leaves_nothing(machine):
    slow = edited(machine, 'ddp', 'command: [muster, tool, allreduce, --steps, "3"]', 'command: [sh, -c, "echo up; sleep 1000"]')
    run = machine.start('exec ' + slow)
    for line in run.stdout:
        if '| up' in line:
            break
    run.send_signal(signal.SIGINT)
    output, _ = run.communicate(timeout=SECONDS)
    assert run.returncode == 130, output
    assert 'stop' in output, output


def workers_after_driver(output):
    # A line of a log and what is said of its stage come on ways of their own.
    in_order(output, 'driver-0-0 | listening', 'sent: worker')
    in_order(output, 'driver: running, 1 of 1 pods ready', 'sent: worker')


def test_driver_and_workers(machine):
    code, output = machine.run(COMMANDS['driver-workers'])
    assert code == 0, output
    assert re.search(r'driver.*workers', output.split('watch it')[0], re.S), output
    workers_after_driver(output)
    assert output.count('heard: worker') == 3, output


def test_driver_and_workers_in_order(machine):
    in_order_form = edited(machine, 'driver-workers', '''    dependsOn:
    - name: driver
      status: Ready
''', '').replace('muster run edited.yaml', '''muster run --data-dir kept edited.yaml
muster serve --data-dir kept > /dev/null &
for try in $(seq 100); do muster get jobsets --data-dir kept > /dev/null 2>&1 && break; sleep 0.1; done
muster get jobset driver-workers --data-dir kept -o json
kill $!
wait''')
    file = machine.home / 'edited.yaml'
    file.write_text(file.read_text().replace('spec:\n  replicatedJobs:', 'spec:\n  startupPolicy: {startupPolicyOrder: InOrder}\n  replicatedJobs:', 1))
    code, output = machine.run(in_order_form)
    assert code == 0, output
    workers_after_driver(output)
    assert 'StartupPolicyCompleted' in output, output


def test_initializers(machine):
    code, output = machine.run(COMMANDS['initializers'])
    assert code == 0, output
    in_order(output, 'the data set is there', 'the model is there', 'trains llama on one two three')


def test_initializers_a_failed_download_is_the_end(machine):
    code, output = machine.run(edited(machine, 'initializers', 'echo llama > model; echo the model is there', 'echo no such model; exit 7'))
    assert code == 3, output
    assert 'trains' not in output and 'trainer-0-0 |' not in output, output
    in_order(output, 'failed', 'initializers-model-0-0', 'exit code 7', 'no such model')


def test_mpi(machine):
    code, output = machine.run(COMMANDS['mpi'])
    assert code == 0, output
    in_order(output, 'workers: running, 4 of 4 pods ready', 'rank ')
    for rank in range(8):
        assert re.search(r'rank %d of 8 on mpi-workers-0-%d' % (rank, rank // 2), output), output


def test_mpi_the_launcher_decides(machine):
    code, output = machine.run(edited(machine, 'mpi', 'exec muster tool mpirun', 'exit 5; muster tool mpirun'))
    assert code == 3, output
    assert 'exit code 5' in output, output
