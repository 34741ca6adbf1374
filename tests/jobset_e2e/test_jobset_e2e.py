"""The JobSet project's own end-to-end suite, unmodified, against `muster serve`: its pods are processes of this machine."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import blackbox

HERE = pathlib.Path(__file__).resolve().parent
SPECS = 12
# Its pods call ping. That takes a raw socket, which the images of the suite, being root's, may have.
AS_ROOT = ['--pod-user', 'root'] if os.geteuid() == 0 else []
SECONDS = 600       # by itself the suite takes less than three minutes, most of it asleep


@pytest.fixture(scope='module')
def suite():
    """The folder of the suite and its runner."""
    assert shutil.which('ping'), 'there is no ping: scripts/setup.sh test'
    if not AS_ROOT and subprocess.run(['setpriv', '--no-new-privs', 'ping', '-c1', '127.0.0.1'], capture_output=True).returncode:
        pytest.skip('pods of this user cannot ping: net.ipv4.ping_group_range leaves their group out (docs/testing.md)')
    return pathlib.Path(subprocess.run([HERE / 'build.sh'], check=True, text=True, stdout=subprocess.PIPE).stdout.strip())


@pytest.mark.parametrize('at_once', [1, 4, SPECS])
def test_every_spec_passes(suite, tmp_path, at_once):
    with blackbox.Muster(tmp_path, '*', *AS_ROOT) as server:
        done = subprocess.run([suite / 'ginkgo', '--procs', str(at_once), '--no-color', '--timeout', '%ds' % SECONDS,
                               suite / 'e2e.test'], env=blackbox.environment(server.kubeconfig, tmp_path), text=True,
                              cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS + 60)
    assert done.returncode == 0, done.stdout
    assert re.search(r'Ran %d of %d Specs' % (SPECS, SPECS), done.stdout), done.stdout[-2000:]
