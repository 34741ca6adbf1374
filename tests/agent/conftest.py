import os
import pathlib
import tempfile

import pytest

import blackbox
from local_pods import STRANGER, mounts_naming, processes_naming


@pytest.fixture
def home():
    """The folder of an ordinary user. Nothing is left in it, or of what was started there."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='home-'))
    if os.geteuid() == 0:
        os.chown(folder, STRANGER, STRANGER)
    yield folder
    blackbox.eventually(lambda: not processes_naming(folder))
    assert not list(folder.iterdir()) and not mounts_naming(folder)
    folder.rmdir()
