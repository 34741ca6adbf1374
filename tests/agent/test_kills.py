"""R12: the server dies by SIGKILL again and again while pods come and go. No pod is started twice, none is lost, nothing is left.

MUSTER_KILLS: how often it dies (300); docs/reliability.md has the long form."""
import os
import pathlib
import random
import shutil
import signal
import tempfile
import time

from blackbox import NOTES, Muster, eventually
from local_pods import apply, call, items, processes_naming

KILLS = int(os.environ.get('MUSTER_KILLS', '300'))
SEED = int(os.environ.get('MUSTER_SEED', '1'))
SECONDS = 300

# Every main process writes a line with its pod's uid when it starts and one when it ends; a second start would be seen.
JOB = {
    'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': 'life'},
    'spec': {'completionMode': 'Indexed', 'completions': 1_000_000, 'parallelism': 6, 'backoffLimit': 1_000_000, 'template': {'spec': {
        'restartPolicy': 'Never', 'terminationGracePeriodSeconds': 1,
        'volumes': [{'name': 'notes', 'hostPath': {'path': None}}],
        'containers': [{
            'name': 'main', 'image': 'none',
            'env': [{'name': 'UID_OF_POD', 'valueFrom': {'fieldRef': {'fieldPath': 'metadata.uid'}}}],
            'command': ['sh', '-c', 'echo "start $UID_OF_POD" | tee -a /notes/lives; sleep 0.$(( ${#UID_OF_POD} % 3 ))$(($$ % 7)); echo "end $UID_OF_POD" >> /notes/lives'],
            'volumeMounts': [{'name': 'notes', 'mountPath': '/notes'}]}]}}}}


def started(notes):
    """The pods that have, each as often as it did."""
    file = notes / 'lives'
    lines = file.read_text().split('\n')[:-1] if file.exists() else []
    return [line.split()[1] for line in lines if line.startswith('start')]


def test_a_server_that_is_killed_adopts_its_pods():
    folder = pathlib.Path(tempfile.mkdtemp(prefix='kills-'))
    notes = folder / 'notes'
    notes.mkdir()
    notes.chmod(0o777)
    folder.chmod(0o711)
    rng = random.Random(SEED)
    JOB['spec']['template']['spec']['volumes'][0]['hostPath']['path'] = str(notes)
    with Muster(folder, '*') as server:
        apply(server, JOB)
        slowest, kills, end = 0, 0, time.monotonic()
        # A slow machine starts less than a pod between two kills: it goes on until enough has happened.
        while kills < KILLS or (len(started(notes)) <= KILLS and time.monotonic() < end):
            kills += 1
            if kills == KILLS:
                end = time.monotonic() + SECONDS
            time.sleep(rng.uniform(0, 0.25))
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            server.process.stdout.close()
            began = time.monotonic()
            server.start()
            slowest = max(slowest, time.monotonic() - began)
        call(server, 'delete', 'job', 'life', '--timeout', '%ds' % SECONDS)
        eventually(lambda: not items(server, 'pods'), SECONDS)
        left = lambda part: [entry for entry in (folder / 'data' / part).iterdir() if part != 'messages' or entry.suffix != '.spare']
        for part in ('pods', 'logs', 'messages', *(['groups'] if os.geteuid() == 0 else [])):  # of the last, emptied files are kept for others
            eventually(lambda: not left(part), SECONDS)
    starts = started(notes)
    twice = {uid for uid in starts if starts.count(uid) > 1}
    assert not twice, 'started twice: %s' % twice
    assert len(starts) > KILLS, 'too little happened: %d starts' % len(starts)
    eventually(lambda: not processes_naming(folder))
    NOTES.append('agent: %d kills, %d pods started, none twice, nothing left; slowest start %.2f s' % (kills, len(starts), slowest))
    shutil.rmtree(folder)
