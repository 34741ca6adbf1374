"""A first hour with muster, as the documents tell it: training, driver and workers, initializers, MPI; nothing but the binary is needed."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading

import pytest

import blackbox

SECONDS = 60
NOBODY = 65534


def example(name):
    return subprocess.run([os.environ['MUSTER'], 'example', name], stdout=subprocess.PIPE, text=True, check=True).stdout


class Run:
    """`muster run` of a text, with a TMPDIR of its own."""

    def __init__(self, text, folder, *flags):
        folder.mkdir(exist_ok=True)
        self.folder = folder
        (folder / 'input.yaml').write_text(text)
        (folder / 'tmp').mkdir()
        self.process = subprocess.Popen([os.environ['MUSTER'], 'run', folder / 'input.yaml', *flags], text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env={**os.environ, 'TMPDIR': str(folder / 'tmp')})
        self.alarm = threading.Timer(SECONDS, self.process.kill)
        self.alarm.start()
        self.lines = []

    def until(self, pattern):
        """Reads on to a line with the pattern and returns its match."""
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(pattern, line)
            if found:
                return found
        raise AssertionError('no %r in\n%s' % (pattern, ''.join(self.lines)))

    def end(self, code=0):
        """Reads to the end; nothing may be left behind."""
        self.lines += self.process.stdout.readlines()
        status = self.process.wait()
        self.alarm.cancel()
        self.process.stdout.close()
        assert status == code, '%d\n%s' % (status, ''.join(self.lines))
        assert list((self.folder / 'tmp').iterdir()) == []
        return ''.join(self.lines)


def test_training(tmp_path):
    """2a"""
    out = Run(example('ddp'), tmp_path / 'one').end()
    joined = re.findall(r'workers-0-(\d) \| rank (\d) of 4: joined at ddp-workers-0-0.ddp \((127\.[\d.]+):\d+\)', out)
    assert sorted((pod, rank) for pod, rank, _ in joined) == [(str(i), str(i)) for i in range(4)]
    assert len({address for _, _, address in joined}) == 1
    assert out.count('step 3, the sum of all ranks is 18') == 4


def test_two_trainings_at_once_do_not_collide(tmp_path):
    runs = [Run(example('ddp'), tmp_path / str(i)) for i in range(2)]
    assert all(run.end().count('step 3, the sum of all ranks is 18') == 4 for run in runs)


def test_environment_of_ranks(tmp_path):
    text = example('ddp').replace('[muster, tool, allreduce, --steps, "3"]',
                                  '[sh, -c, "echo $JOB_COMPLETION_INDEX $RANK $WORLD_SIZE $MASTER_ADDR; getent hosts $MASTER_ADDR > /dev/null && echo resolves"]')
    out = Run(text, tmp_path / 'run').end()
    for rank in range(4):
        assert 'workers-0-%d | %d %d 4 ddp-workers-0-0.ddp\n' % (rank, rank, rank) in out
    assert out.count('| resolves') == 4


def processes(command):
    """Of the whole machine, those with this command line."""
    found = []
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/cmdline' % name, 'rb') as file:
                if file.read().replace(b'\0', b' ').decode().strip() == command:
                    found.append(int(name))
        except OSError:
            pass
    return found


def test_a_killed_rank_takes_all_with_it_until_restarts_are_used_up(tmp_path):
    command = 'sleep 1000.%d' % os.getpid()
    text = example('ddp').replace('[muster, tool, allreduce, --steps, "3"]', '[sh, -c, "echo up; exec %s"]' % command) \
        .replace('maxRestarts: 3 ', 'maxRestarts: 1 ')
    run = Run(text, tmp_path / 'run')
    for attempt in range(2):
        for _ in range(4):
            run.until(r'\| up')
        ranks = blackbox.eventually(lambda: len(processes(command)) == 4 and processes(command))
        os.kill(ranks[0], signal.SIGKILL)
        if attempt == 0:
            run.until('restart 1 of at most 1')
    out = run.end(3)
    assert re.search(r'failed: pod ddp-workers-0-\d-\w+, container main: exit code 137, killed by signal 9', out)
    assert processes(command) == []


@pytest.fixture
def plain_user():
    """A folder of a user who is not root, and how to become that user."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='muster-user-'))
    if os.geteuid() != 0:
        yield folder, {}
    else:
        os.chown(folder, NOBODY, NOBODY)
        yield folder, {'user': NOBODY, 'group': NOBODY, 'extra_groups': []}
    shutil.rmtree(folder)


@pytest.mark.parametrize('name', ['ddp', 'driver-workers', 'initializers', 'mpi'])
def test_without_root(plain_user, name):
    folder, become = plain_user
    done = subprocess.run([os.environ['MUSTER'], 'run', '-'], input=example(name), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=SECONDS, cwd='/', env={**os.environ, 'TMPDIR': str(folder), 'HOME': str(folder)}, **become)
    assert done.returncode == 0, done.stdout
    assert list(folder.iterdir()) == []


def test_driver_and_workers(tmp_path):
    """2b: no worker exists before the driver's probe has passed."""
    text = example('driver-workers')
    # A driver that takes its time: it listens after a second.
    text = text.replace('[muster, tool, listen, $(POD_IP), "7400", "3"]', '[sh, -c, "sleep 1; exec muster tool listen $POD_IP 7400 3"]')
    run = Run(text, tmp_path / 'run')
    run.until('driver: running, 1 of 1 pods ready')
    before = ''.join(run.lines)
    assert 'listening at' in before and 'workers: starting' not in before and 'workers-' not in before
    assert len(set(re.findall(r'heard: worker (\d) is done', run.end()))) == 3
    drawn = subprocess.run([os.environ['MUSTER'], 'graph', '-f', '-', '-o', 'mermaid'], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert 'n0 -->|Ready| n1' in drawn


def test_initializers_then_training(tmp_path):
    """2c"""
    out = Run(example('initializers'), tmp_path / 'good').end()
    assert out.index('the data set is there') < out.index('trainer: starting') and out.index('the model is there') < out.index('trainer: starting')
    assert out.count('trains llama on one two three') == 2
    broken = example('initializers').replace('echo llama > model; echo the model is there', 'echo no route to the model; exit 4')
    out = Run(broken, tmp_path / 'bad').end(3)
    assert 'trainer: starting' not in out and 'trainer-' not in out
    assert re.search(r'failed: pod initializers-model-0-0-\w+, container main: exit code 4\n  its last line:\n  \| no route to the model\n', out)


def test_mpi(tmp_path):
    """2d: the launcher's end decides; the workers are stopped."""
    text = example('mpi')
    out = Run(text, tmp_path / 'good').end()
    ranks = re.findall(r'launcher-0-0 \| \[(\d)\] rank (\d) of 8 on mpi-workers-0-(\d)', out)
    assert sorted(ranks) == [(str(r), str(r), str(r // 2)) for r in range(8)]
    out = Run(text.replace("sh -c 'echo rank", "sh -c 'exit 9; echo rank"), tmp_path / 'bad', '--exit-code-from', 'launcher').end(9)
    assert re.search(r'failed: pod mpi-launcher-0-0-\w+, container main: exit code 9', out)
