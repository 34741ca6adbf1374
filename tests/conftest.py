import os
import pathlib
import shutil
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
os.environ.setdefault('MUSTER', str(HERE.parent / 'build' / 'release' / 'muster'))


@pytest.fixture
def shared():
    """A folder in which pods can write, whoever they run as."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='shared-'))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def pytest_terminal_summary(terminalreporter):
    import blackbox
    for note in blackbox.NOTES:
        terminalreporter.write_line(note)
