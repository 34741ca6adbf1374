"""The JobSet project's own example files, unchanged: every one that needs no foreign kinds is applied and read back, and those
whose programs are on every machine are run.

They are taken from the Go module archive of v0.8.2, the last one that carries them: later the web site, where they lie, became a
module of its own that is not published."""
import json
import os
import pathlib
import subprocess

import pytest

import blackbox

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 120

# With the reason. All others are applied.
LEFT_OUT = {
    'argo-workflow/workflow.yaml': 'a Workflow, a kind of Argo',
    'prometheus-operator/prometheus.yaml': 'a Prometheus, a kind of the Prometheus operator',
}
# How a JobSet ends, and how often it was restarted until then. The others wait for minutes, for node pools, or need a framework.
RUNS = {
    'simple/success-policy.yaml': ('Completed', 0),
    'failure-policy/failjobset-action.yaml': ('Failed', 0),
    'depends-on/depends-on.yaml': ('Completed', 0),
    'simple/failure-policy.yaml': ('Failed', 3),
}


def folder():
    go = subprocess.run([HERE.parent / 'kubernetes' / 'go.sh'], check=True, text=True, capture_output=True).stdout.strip()
    module = subprocess.run([go, 'mod', 'download', '-json', 'sigs.k8s.io/jobset'], cwd=HERE / 'upstream', check=True, text=True,
                            capture_output=True, env={**os.environ, 'GOTOOLCHAIN': 'local'}).stdout
    return pathlib.Path(json.loads(module)['Dir']) / 'site' / 'static' / 'examples'


EXAMPLES = folder()
FILES = sorted(str(file.relative_to(EXAMPLES)) for file in EXAMPLES.rglob('*.yaml'))


def test_what_is_left_out_is_there():
    assert set(LEFT_OUT) | set(RUNS) <= set(FILES)
    assert len(FILES) == 21


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    with blackbox.Muster(tmp_path_factory.mktemp('upstream'), '*,-agent') as muster:
        for number in range(len(FILES)):
            blackbox.kubectl(muster, 'create', 'namespace', 'example-%d' % number)
        blackbox.kubectl(muster, 'create', 'namespace', 'argo')
        yield muster


def objects(text):
    """What kubectl prints of a file: objects, or Lists of them."""
    found, decoder = [], json.JSONDecoder()
    while text.strip():
        value, end = decoder.raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        found += value['items'] if value['kind'] == 'List' else [value]
    return found


def missing(wanted, found, path=''):
    """The paths of what was said in the file and is not in the object."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [each for key in wanted for each in missing(wanted[key], found.get(key), '%s.%s' % (path, key))]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [each for i, item in enumerate(wanted) for each in missing(item, found[i], '%s[%d]' % (path, i))]
    return [] if wanted == found else ['%s: %r is %r' % (path, wanted, found)]


@pytest.mark.parametrize('name', [name for name in FILES if name not in LEFT_OUT])
def test_applied_and_read_back(server, name):
    file, there = str(EXAMPLES / name), ['-n', 'example-%d' % FILES.index(name)]
    own = ['-n', 'argo'] if name.startswith('argo') else there        # the file says it itself
    said = objects(blackbox.kubectl(server, 'create', '--dry-run=client', '--validate=false', '-o', 'json', '-f', file, *own))
    blackbox.kubectl(server, 'apply', '-f', file, *own)
    found = objects(blackbox.kubectl(server, 'get', '-o', 'json', '-f', file, *own))
    assert len(found) == len(said) > 0
    for before, after in zip(said, found):
        assert missing(before, after) == []


def ended(server, name):
    job_set = json.loads(blackbox.kubectl(server, 'get', '-o', 'json', '-f', str(EXAMPLES / name)))
    status = job_set.get('status', {})
    return status.get('terminalState'), status.get('restarts', 0)


def test_run(tmp_path):
    with blackbox.Muster(tmp_path) as server:
        for name in RUNS:
            blackbox.kubectl(server, 'apply', '-f', str(EXAMPLES / name))
        for name, end in RUNS.items():
            blackbox.eventually(lambda name=name: ended(server, name)[0], SECONDS)
            assert ended(server, name) == end, name
