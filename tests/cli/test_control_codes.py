"""S3: whatever a server, a file or an argument says, nothing but text and colours of ours reaches the terminal."""
import json
import os
import re
import subprocess

import pytest

import blackbox
from command_line import alone, job_set
from stub_server import stub_server

# Clears the screen, sets the title, colours, C1's own CSI, turns the direction of writing, goes back, rings.
EVIL = '\x1b[2J\x1b]0;title\x07\x1b[31m\x9b31m\u202e\u2066\b\r\x7f\x1bc'
TEXT = 'x' + EVIL + 'y'
OBEYED = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]')
TIME = '2026-01-01T00:00:00Z'


def metadata(name=TEXT):
    return {'name': name, 'namespace': 'default', 'uid': TEXT, 'resourceVersion': '1', 'creationTimestamp': TIME, 'annotations': {TEXT: TEXT},
            'labels': {TEXT: TEXT, 'jobset.sigs.k8s.io/jobset-name': 'x', 'jobset.sigs.k8s.io/replicatedjob-name': TEXT}}


CONDITIONS = [{'type': kind, 'status': 'True', 'reason': TEXT, 'message': TEXT, 'lastTransitionTime': TIME}
              for kind in (TEXT, 'Ready', 'muster.dev/Waiting', 'Completed')]
POD = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': metadata(), 'spec': {'nodeName': TEXT, 'containers': [{'name': TEXT, 'image': TEXT}]},
       'status': {'phase': 'Failed', 'reason': TEXT, 'message': TEXT, 'conditions': CONDITIONS, 'startTime': TIME, 'containerStatuses': [
           {'name': TEXT, 'containerID': TEXT, 'ready': False, 'restartCount': 1, 'state': {'terminated': {'exitCode': 1, 'reason': TEXT, 'message': TEXT, 'startedAt': TIME, 'finishedAt': TIME}}}]}}
JOB_SET = {'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind': 'JobSet', 'metadata': metadata(), 'status': {'conditions': CONDITIONS, 'terminalState': TEXT},
           'spec': {'replicatedJobs': [{'name': name, 'dependsOn': needs, 'template': {'spec': {'template': {'spec': {}}}}}
                                       for name, needs in ((TEXT, []), ('b', [{'name': TEXT, 'status': TEXT}]))]}}
EVENT = {'apiVersion': 'v1', 'kind': 'Event', 'metadata': metadata(), 'type': TEXT, 'reason': TEXT, 'message': TEXT, 'lastTimestamp': TIME,
         'involvedObject': {'kind': TEXT, 'name': TEXT}}
SECRET = {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': metadata(), 'data': {TEXT: TEXT}}
OTHER = {'apiVersion': 'evil.example.com/v1', 'kind': TEXT, 'metadata': metadata(), 'spec': {TEXT: [TEXT]}}
OBJECTS = {'pods': POD, 'jobsets': JOB_SET, 'events': EVENT, 'secrets': SECRET}
DISCOVERY = {'kind': 'APIGroupDiscoveryList', 'items': [{'metadata': {'name': 'evil.example.com'}, 'versions': [{'version': 'v1', 'resources': [
    {'resource': 'evils', 'singularResource': TEXT, 'responseKind': {'kind': TEXT}, 'scope': 'Namespaced', 'verbs': ['get']}]}]}]}


def answer(method, path, accept):
    place = path.split('?')[0].split('/')
    warning = {'Warning': '299 - "%s"' % TEXT.replace('\r', '').encode('utf-8').decode('latin-1')}
    if place[-1] == 'log':
        return 200, (TEXT + '\n') * 3, {'Content-Type': 'text/plain'}
    if path.startswith('/apis?') or path == '/apis':
        return 200, DISCOVERY, {}
    if place[-1] == 'refused':
        return 422, {'kind': 'Status', 'reason': 'Invalid', 'message': TEXT, 'details': {'causes': [{'field': TEXT, 'message': TEXT}]}}, warning
    if place[-1] == 'missing':
        return 404, {'kind': 'Status', 'reason': 'NotFound', 'message': TEXT}, warning
    of = next((part for part in reversed(place) if part in OBJECTS), '')
    one = OBJECTS.get(of, OTHER)
    if method != 'GET' or place[-1] not in (*OBJECTS, 'evils', 'configmaps', 'jobs'):
        return 200, one, warning
    if 'as=Table' in accept and of != 'jobsets':
        return 200, {'kind': 'Table', 'metadata': {}, 'columnDefinitions': [{'name': name, 'priority': 0} for name in ('Name', TEXT)],
                     'rows': [{'cells': [TEXT, TEXT], 'object': {'metadata': metadata()}}]}, warning
    return 200, {'kind': 'List', 'metadata': {'resourceVersion': '1'}, 'items': [one]}, warning


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    with stub_server(tmp_path_factory.mktemp('evil'), answer) as kubeconfig:
        yield ['--kubeconfig', kubeconfig]


def check(*arguments, stdin=''):
    """Runs it, whatever its exit code, and looks at what it said."""
    done = subprocess.run([os.environ['MUSTER'], *map(str, arguments)], input=stdin.encode(), capture_output=True, timeout=60,
                          env={**{k: v for k, v in os.environ.items() if not k.startswith('KUBE')}, 'HOME': '/nonexistent'})
    said = (done.stdout + done.stderr).decode()       # which also proves that it is UTF-8
    assert not OBEYED.search(said), '%s: %r' % (arguments, said)
    assert done.returncode >= 0 and said, (arguments, done)
    return said


FORMS = [[], ['-o', 'wide'], ['-o', 'json'], ['-o', 'yaml'], ['-o', 'name'], ['-o', 'jsonpath={.items[*].metadata.name} {.metadata.name}'],
         ['--show-labels'], ['-A']]


@pytest.mark.parametrize('kind', ['pods', 'jobsets', 'secrets', 'evils', 'events,pods'])
@pytest.mark.parametrize('form', FORMS, ids=' '.join)
def test_get(server, kind, form):
    check('get', kind, *form, *server)


@pytest.mark.parametrize('words', [
    ['describe', 'pod', 'x'], ['describe', 'js', 'x'], ['describe', 'secret', 'x'], ['describe', 'evils', 'x'], ['describe', 'pods'], ['events'],
    ['events', 'pod/x'], ['logs', 'pod/x'], ['logs', 'x', '--prefix', 'none'], ['top', '--once'], ['top', '--once', '-A'],
    ['graph', 'x'], ['graph', 'x', '-o', 'dot'], ['graph', 'x', '-o', 'mermaid'], ['timeline', 'x'], ['timeline', 'x', '-o', 'json'],
    ['timeline', 'x', '-o', 'svg'], ['timeline', 'x', '-o', 'perfetto'], ['delete', 'pod', 'x', '--wait=false'],
    ['delete', 'pods', '--all', '--wait=false'], ['cancel', 'x', '--wait=false'], ['submit', '--', 'true'], ['submit', '-q', 'x', '--', 'true'],
    ['wait', '--for=condition=Ready', 'pod/x', '--timeout=1s']], ids=' '.join)
def test_what_a_server_says(server, words):
    check(*words[:1], *server, *words[1:])


@pytest.mark.parametrize('verb', ['get', 'describe', 'delete', 'wait'])
@pytest.mark.parametrize('name', ['missing', 'refused'])
def test_what_a_server_refuses(server, verb, name):
    check(verb, *(['--for=condition=Ready'] if verb == 'wait' else []), 'pod/' + name, *server)


@pytest.mark.parametrize('name', ['x', 'refused'])
def test_apply(server, name):
    check('apply', '-f', '-', *server, stdin='{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {}}}' % name)


@pytest.mark.parametrize('text', [
    json.dumps({'apiVersion': TEXT, 'kind': TEXT}), 'apiVersion: v1\nkind: "%s"\n' % TEXT.replace('\\', ''), 'kind: [%s' % TEXT,
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"' + '\u202e' * 200 + '": }'])
def test_files(server, text):
    check('apply', '-f', '-', *server, stdin=text)
    check('run', '-', stdin=text)
    check('graph', '-f', '-', stdin=text)


ARGUMENT = TEXT.replace('\0', '')


@pytest.mark.parametrize('words', [
    [ARGUMENT], ['help', ARGUMENT], ['get', ARGUMENT], ['get', 'pods', ARGUMENT], ['get', 'pods', '-o', ARGUMENT], ['get', 'pods', '--' + ARGUMENT],
    ['get', 'pods', '-n', ARGUMENT], ['describe', 'pod', ARGUMENT], ['describe', ARGUMENT], ['events', ARGUMENT + '/x'], ['logs', ARGUMENT],
    ['wait', '--for=' + ARGUMENT, 'pod/x'], ['wait', '--for=condition=Ready', 'pod/' + ARGUMENT, '--timeout=1s'],
    ['wait', '--for=delete', 'pod/x', '--timeout=' + ARGUMENT], ['delete', 'pod', ARGUMENT, '--wait=false'], ['cancel', ARGUMENT, '--wait=false'],
    ['delete', '-f', ARGUMENT], ['apply', ARGUMENT], ['run', ARGUMENT], ['graph', ARGUMENT], ['graph', '-f', ARGUMENT], ['timeline', ARGUMENT],
    ['timeline', 'x', '-o', ARGUMENT], ['example', ARGUMENT], ['completion', ARGUMENT], ['submit', '--after', ARGUMENT, '--', 'true'],
    ['submit', '--env', ARGUMENT, '--', 'true'], ['submit', '--print', '--name', ARGUMENT, '--', ARGUMENT], ['submit', '-N', ARGUMENT, '--', 'true'],
    ['serve', '--data-dir', '/dev/null/x', '--listen', ARGUMENT], ['serve', '--data-dir', '/dev/null/x', '--controllers', ARGUMENT],
    ['serve', '--data-dir', '/dev/null/' + ARGUMENT], ['serve', '--data-dir', '/dev/null/x', '--config', ARGUMENT],
    ['get', 'pods', '--data-dir', ARGUMENT], ['get', 'pods', '--kubeconfig', ARGUMENT], ['check', ARGUMENT], ['backup', ARGUMENT, '/dev/null/x'],
    ['restore', ARGUMENT, '/dev/null/x'], ['sim', ARGUMENT]], ids=lambda words: ' '.join(words[:1] + [str(len(words))]))
def test_arguments(server, words):
    needs_server = words[0] in ('get', 'describe', 'events', 'logs', 'wait', 'delete', 'cancel', 'apply', 'graph', 'timeline', 'submit')
    names_one = '--data-dir' in words or '--kubeconfig' in words
    check(words[0], *(server if needs_server and not names_one else []), *words[1:])


SCRIPT = "printf 'a\\033[2Jb\\033]0;t\\007c\\302\\233d\\342\\200\\256e\\r\\n'; printf '\\033[2Jlast words' > /dev/termination-log; printf '\\377\\033c\\n' >&2; exit 1"


def test_what_programs_write(tmp_path):
    """Their lines, shown live by run and attach, and again when the run has failed."""
    said = check('run', '-', stdin=job_set('evil', SCRIPT))
    assert 'work-0-0 | abcde\n' in said and 'exit code 1' in said
    with blackbox.Muster(tmp_path) as server:
        place = ['--kubeconfig', server.kubeconfig]
        check('apply', *place, '-f', '-', stdin=job_set('evil', SCRIPT))
        assert 'work-0-0 | abcde\n' in check('attach', *place, 'evil')
        for words in (['logs', 'evil'], ['describe', 'js', 'evil'], ['get', 'pods', '-o', 'yaml'], ['events'], ['top', '--once']):
            check(*words, *place)


def test_every_verb_is_looked_at():
    """A new verb gets its row above."""
    here = open(__file__, encoding='utf-8').read()
    silent = {'operator', 'install', 'doctor', 'version'}     # they show nobody else's text
    for verb in re.findall(r'^  (\w+) {2,}', alone('--help').stdout, re.M):
        assert verb in silent or "'%s'" % verb in here, verb
