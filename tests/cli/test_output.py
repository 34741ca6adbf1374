"""What `muster run` does when its output is read slowly, not at all, or cannot be written."""
import fcntl
import os
import re
import signal
import struct
import subprocess
import termios
import time

import pytest

import blackbox
from command_line import SECONDS, job_set

# More than a pipe and the queue behind it take, and less per pod than a log file before it is rotated.
PODS, LINES, LETTERS = 2, 6000, 1000
TALK = 'i=0; while [ $i -lt %d ]; do echo "$i %s"; i=$((i+1)); done' % (LINES, 'x' * LETTERS)


class Run:
    """`muster run` whose output goes into a pipe; its errors into a file."""

    def __init__(self, folder, text, stdout=subprocess.PIPE):
        (folder / 'file.yaml').write_text(text)
        (folder / 'tmp').mkdir()
        self.errors, self.temporary = folder / 'errors', folder / 'tmp'
        with open(self.errors, 'w') as errors:
            self.process = subprocess.Popen([os.environ['MUSTER'], 'run', str(folder / 'file.yaml')], stdin=subprocess.DEVNULL, stdout=stdout,
                                            stderr=errors, text=True, env={**os.environ, 'TMPDIR': str(self.temporary)})

    def says(self, text):
        return blackbox.eventually(lambda: text in self.errors.read_text(), every=0.05)

    def ends(self, code):
        assert self.process.wait(SECONDS) == code, self.errors.read_text()
        assert list(self.temporary.iterdir()) == []
        return self.errors.read_text()


def is_stuck(pipe):
    """Whether something could be read, and no more comes."""
    looks = []
    for _ in range(2):
        looks.append(struct.unpack('i', fcntl.ioctl(pipe, termios.FIONREAD, b'    '))[0])
        time.sleep(0.5)
    return looks[0] > 4000 and looks[0] == looks[1]


@pytest.fixture
def run(tmp_path):
    runs = []

    def start(text, **options):
        runs.append(Run(tmp_path, text, **options))
        return runs[-1]
    yield start
    for each in runs:
        each.process.kill()
        each.process.wait()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_run_whose_output_nobody_reads(run, number):
    unread = run(job_set('unread', TALK + '; sleep 1000', pods=PODS))
    blackbox.eventually(lambda: is_stuck(unread.process.stdout))
    unread.process.send_signal(number)
    unread.says('stopping unread')
    unread.process.send_signal(number)
    unread.ends(128 + number)


def test_pods_go_on_and_no_line_is_lost_while_nobody_reads(run):
    slow = run(job_set('slow', TALK, pods=PODS))
    slow.says('work: done')
    lines = slow.process.stdout.read().splitlines()
    assert slow.process.wait(SECONDS) == 0
    for pod in range(PODS):
        numbers = [int(found[1]) for found in (re.match(r'work-0-%d \| (\d+) x{%d}$' % (pod, LETTERS), line) for line in lines) if found]
        assert numbers == list(range(LINES))


def test_a_run_ends_when_its_reader_has_gone(run):
    headed = run(job_set('headed', 'while :; do echo line; sleep 0.1; done'))
    assert headed.process.stdout.readline() == 'work-0-0 | line\n'
    headed.process.stdout.close()
    assert 'nobody reads the output any more: stopping headed' in headed.ends(128 + signal.SIGPIPE)


def test_output_that_cannot_be_written_is_no_success(run):
    with open('/dev/full', 'w') as full:
        lost = run(job_set('lost', 'echo line; sleep 1; echo line'), stdout=full).ends(74)
    assert lost.count('standard output cannot be written') == 1 and 'No space left on device' in lost
    assert 'jobset lost: ' in lost  # it has run to its end


@pytest.mark.parametrize('files', [64, 256])
def test_no_log_is_lost_where_few_files_may_be_open(tmp_path, files):
    """The limit is raised for the run; its pods have that of who has called it."""
    file = tmp_path / 'many.yaml'
    file.write_text(job_set('many', 'echo limit $(ulimit -Sn)', pods=100))
    done = subprocess.run(['bash', '-c', 'ulimit -Sn %d; exec "$MUSTER" run "$0"' % files, str(file)], text=True, capture_output=True,
                          timeout=SECONDS, env={**os.environ, 'TMPDIR': str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert sorted(line.split(' | ')[1] for line in done.stdout.splitlines()) == ['limit %d' % files] * 100
