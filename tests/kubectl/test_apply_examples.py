"""A plain `kubectl apply` of an unchanged file succeeds however often it is repeated, and changes nothing."""
import pathlib

import pytest

import blackbox

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / 'examples'
TIMES = 3


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    # The sets are managed, and no pod runs: nothing ends between two commands.
    with blackbox.Muster(tmp_path_factory.mktemp('apply'), controllers='jobset,job') as server:
        yield server


@pytest.mark.parametrize('file', sorted(EXAMPLES.glob('*.yaml')), ids=lambda file: file.stem)
def test_applies_again(server, file):
    for _ in range(TIMES):
        blackbox.kubectl(server, 'apply', '-f', file)
    assert set(blackbox.kubectl(server, 'get', 'jobsets', '-o', 'jsonpath={.items[*].metadata.generation}').split()) == {'1'}
