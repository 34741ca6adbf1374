"""Sends every recorded request of wire-corpus and compares the answers with those of kube-apiserver v1.36.3.

Steps that differ must be exactly those in known_differences.txt, each with its reason: a new difference fails, and so does an
entry that has come to nothing.
"""
import argparse
import collections
import json
import pathlib
import subprocess

import pytest

import blackbox
from conformance import replay

HERE = pathlib.Path(__file__).resolve().parent
CASES = sorted((HERE / 'wire-corpus').glob('*.json'))


def known_differences():
    """{case: {step: reason}}, from lines of CASE#STEPS REASON; STEPS are numbers and ranges, as 1,4-7."""
    known = collections.defaultdict(dict)
    for line in (HERE / 'known_differences.txt').read_text().splitlines():
        if not line.strip() or line.startswith('#'):
            continue
        place, _, reason = line.partition(' ')
        case, _, steps = place.partition('#')
        assert reason.strip(), 'no reason: ' + line
        for part in steps.split(','):
            first, _, last = part.partition('-')
            known[case].update(dict.fromkeys(range(int(first), int(last or first) + 1), reason.strip()))
    return known


class Collector(replay.Replay):
    """A replay that keeps the differences instead of printing them."""

    def __init__(self, server):
        options = argparse.Namespace(server=server.server, ca=str(server.data_dir / 'pki' / 'ca.crt'), subset=False, settle=0,
                                     verbose=False)
        users = {user: (*server.certificate(user), None) for user in ('admin', 'alice')}
        super().__init__(options, {**users, 'anon': (None, None, None)})
        self.server, self.differing = server, {}

    def act(self, what):
        assert 'restart the server' in what
        self.server.restart()
        return True

    def report(self, name, number, title, diffs):
        self.count['failed' if diffs else 'passed'] += 1
        if diffs:
            shown = (tuple(json.dumps(x, default=repr)[:300] for x in d) for d in diffs)
            self.differing[number] = [title, *('%s expected %s got %s' % x for x in shown)]


@pytest.fixture(scope='module')
def collector(tmp_path_factory):
    folder = tmp_path_factory.mktemp('conformance')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'hook.key', '-out', 'hook.crt', '-days', '2',
                    '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'], cwd=folder, check=True, capture_output=True)
    replay.Webhook.start(str(folder / 'hook.crt'), str(folder / 'hook.key'))
    with blackbox.Muster(folder, controllers='none') as server:
        made = Collector(server)
        yield made
    blackbox.NOTES.append('conformance: of %d recorded steps %d answered alike, %d differ, %d skipped' % (
        sum(made.count.values()), *(made.count[k] for k in ('passed', 'failed', 'skipped'))))


def explain(steps, known):
    """One block per step that is not as listed."""
    lines = []
    for number in sorted(set(steps) ^ set(known), key=str):
        if number in steps:
            lines += ['step %s differs: %s' % (number, '\n    '.join(steps[number][:12]))]
        else:
            lines += ['step %s no longer differs; remove it from known_differences.txt (%s)' % (number, known[number])]
    return '\n'.join(lines)


@pytest.mark.parametrize('path', CASES, ids=lambda path: path.stem)
def test_recorded_answers(collector, path):
    collector.differing = {}
    collector.run(path)
    unforeseen = explain(collector.differing, known_differences()[path.stem])
    assert not unforeseen, unforeseen


def test_known_differences_name_recorded_steps():
    steps = {path.stem: len(json.loads(path.read_text())['steps']) for path in CASES}
    for case, listed in known_differences().items():
        assert max(listed) <= steps[case], case


def test_nothing_was_skipped(collector):
    assert collector.count['skipped'] == 0
