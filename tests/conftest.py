import os
import pathlib
import shutil
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
os.environ.setdefault('MUSTER', str(HERE.parent / 'build' / 'release' / 'muster'))

from blackbox import SEEN_BY_PODS       # noqa: E402, found by the path above


@pytest.fixture
def shared():
    """A folder in which pods can write, whoever they run as."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='shared-', dir=SEEN_BY_PODS))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def pytest_terminal_summary(terminalreporter):
    import blackbox
    for note in blackbox.NOTES:
        terminalreporter.write_line(note)
