"""Runs kubectl through the commands of a transcript and compares what it prints with what the transcript holds.

A transcript has lines `$ COMMAND` (continued by `> ` lines), each followed by the command's output; a status other than 0 is
shown as [exit N]. Those in same/ were written by running them against a real kube-apiserver: what kubectl shows there and here
cannot be told apart. Those in ours/ need what is only here (controllers, processes as pods, our kinds) and were written against
muster. What varies from run to run is replaced by a word in capitals before comparing.

MUSTER_GOLDEN=update writes the transcripts anew, same/ from a kube-apiserver that is started for it, without controllers.
"""
import difflib
import os
import pathlib
import re
import subprocess

import pytest

import blackbox

HERE = pathlib.Path(__file__).resolve().parent
UPDATE = os.environ.get('MUSTER_GOLDEN') == 'update'
COMMAND_SECONDS = 60
TIME = r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}'
VARYING = [
    (r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'UID'),
    (TIME, 'TIME'),
    (r'(resourceVersion"?: ?)"\d+"', r'\1"VERSION"'),
    (r'(?m)(?:(?<=\s\s)|^)(<invalid>|(\d+[smhd])+)(?=\s|$)', 'AGE'),
    (r'\b(\d+[smhd])+ ago|(?<=over )(\d+[smhd])+', 'AGE'),
    (r'https://127\.0\.0\.1:\d+', 'SERVER'),
    (r'\b10\.\d+\.\d+\.\d+\b', 'IP'),
    (r'/tmp/(LIVE|MERGED)-\d+/(\S+)(\t\S+ \S+ \S+)?', r'\1/\2'),
    (r'(?<=credential-id=)\w+|X509SHA256=\w+', 'ID'),
    (r'(?<=\S) {3,}', '   '),
    (r'(?m)[ \t]+$', ''),
]


def steady(text):
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text


def commands(transcript):
    """The commands of a transcript, without the outputs."""
    found = []
    for line in transcript.splitlines():
        if line.startswith('$ '):
            found.append(line[2:])
        elif line.startswith('> '):
            found[-1] += '\n' + line[2:]
    return found


class Session:
    """A namespace, a folder and a kubeconfig of its own on a server."""

    def __init__(self, kubeconfig, folder, namespace):
        self.folder, self.environment = folder, blackbox.environment(folder / 'config', folder.parent)
        self.environment['PATH'] = os.environ['KUBERNETES_BIN'] + os.pathsep + self.environment['PATH']
        (folder / 'config').write_text(pathlib.Path(kubeconfig).read_text())
        self.run('kubectl create namespace %s && kubectl config set-context --current --namespace=%s && kubectl create -f - <<E\n'
                 '{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}, automountServiceAccountToken: false}\nE'
                 % (namespace, namespace))

    def run(self, command):
        done = subprocess.run(['bash', '-c', '. "%s"\n%s' % (HERE / 'prelude.sh', command)], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_SECONDS)
        out = done.stdout + '\n' * (done.stdout[-1:] not in ('', '\n'))
        return steady(out + '[exit %d]\n' % done.returncode if done.returncode else out)

    def play(self, transcript):
        return ''.join('$ %s\n%s' % (c.replace('\n', '\n> '), self.run(c)) for c in commands(transcript))


@pytest.fixture(scope='module')
def real(tmp_path_factory):
    """The kubeconfig of a real API server, started only to write transcripts."""
    run = str(tmp_path_factory.mktemp('kubernetes'))
    kubernetes = HERE.parent / 'kubernetes'
    folder = subprocess.run([kubernetes / 'build.sh', 'etcd', 'kube-apiserver', 'kubectl'], check=True, stdout=subprocess.PIPE, text=True)
    settings = {**os.environ, 'RUN': run, 'BIN': folder.stdout.strip(), 'NO_KCM': '1', 'NO_SCHED': '1', 'NO_KWOK': '1',
                'ETCD_ARGS': '--unsafe-no-fsync'}
    subprocess.run([kubernetes / 'start.sh', '0'], env=settings, check=True, stdout=subprocess.DEVNULL)
    yield run + '/kubeconfig'
    subprocess.run([kubernetes / 'stop.sh'], env=settings, check=True)


@pytest.fixture(scope='module')
def bare(tmp_path_factory):
    with blackbox.Muster(tmp_path_factory.mktemp('bare'), controllers='none') as server:
        yield server.kubeconfig


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    with blackbox.Muster(tmp_path_factory.mktemp('whole')) as server:
        yield server.kubeconfig


def compare(kubeconfig, folder, path):
    transcript = path.read_text()
    played = Session(kubeconfig, folder, path.stem).play(transcript)
    if UPDATE:
        path.write_text(played)
        return
    differences = list(difflib.unified_diff(transcript.splitlines(), played.splitlines(), str(path.relative_to(HERE)), 'muster', n=2, lineterm=''))
    assert not differences, '\n'.join(differences)


@pytest.mark.parametrize('path', sorted((HERE / 'same').glob('*.txt')), ids=lambda path: path.stem)
def test_same_as_kube_apiserver(request, tmp_path, path):
    compare(request.getfixturevalue('real' if UPDATE else 'bare'), tmp_path, path)


@pytest.mark.parametrize('path', sorted((HERE / 'ours').glob('*.txt')), ids=lambda path: path.stem)
def test_ours(whole, tmp_path, path):
    compare(whole, tmp_path, path)
