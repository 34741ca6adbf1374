"""Every example runs on this machine to its end, and its parts speak in the order that its story asks for."""
import os
import pathlib
import subprocess

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / 'examples'
SECONDS = 120

# Lines that come one after the other; what may come at any time is left out.
STORIES = {
    'hello': ['driver is up', 'driver is done'],
    'fine-tune': ['the model is there', 'node 0 of 3 trains'],
    'deepspeed-mpi': ['the data set is there', 'launching', 'rank 0 joins', 'rank 0 is done', 'launched'],
    'simulate-then-analyze': ['rank 1 simulates', 'looking at the data of both simulations'],
    'scale-up-after-success': ['a small simulation', 'rank 3 of a large simulation'],
    'parameter-servers': ['model and data set are there', 'parameter server a is up', 'worker 0 trains', 'worker 0 is done'],
    'two-initializers': ['fetching hf://meta-llama', 'tuning', 'tuned'],
    'driver-then-workers': ['the driver listens', 'worker 0 works'],
    'ddp': ['rank 0 of 4: joined at ddp-workers-0-0.ddp', 'rank 0 of 4: step 3, the sum of all ranks is 18'],
    'driver-workers': ['listening at', 'heard: worker'],
    'initializers': ['the data set is there', 'the model is there', 'trains llama on one two three'],
    'mpi': ['takes launches', 'of 8 on mpi-workers-0-3'],
    'queue-driver-workers': ['the queue is open', 'driver 0 is up', 'worker 0 works', 'the queue is closed'],
}


def run(file):
    return subprocess.run([os.environ['MUSTER'], 'run', file], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=SECONDS)


def test_every_example_has_a_story():
    assert {file.stem for file in EXAMPLES.glob('*.yaml')} == set(STORIES)


@pytest.mark.parametrize('name', STORIES)
def test_example(name):
    done = run(EXAMPLES / (name + '.yaml'))
    assert done.returncode == 0, done.stdout
    at = 0
    for line in STORIES[name]:
        found = done.stdout.find(line, at)
        assert found >= 0, '%r is not in its place:\n%s' % (line, done.stdout)
        at = found


def test_a_first_stage_that_fails_is_the_last(tmp_path):
    text = (EXAMPLES / 'scale-up-after-success.yaml').read_text()
    assert 'exit 0' in text
    file = tmp_path / 'fails.yaml'
    file.write_text(text.replace('exit 0', 'exit 1'))
    done = run(file)
    assert done.returncode != 0, done.stdout
    assert 'a small simulation' in done.stdout
    assert 'large simulation' not in done.stdout
