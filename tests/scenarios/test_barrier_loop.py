"""The program in which pods of a group wait on Kubernetes (docs/barrier.md), taken from a child Job and run by bash in a folder of its own."""
import json
import pathlib
import re
import signal
import subprocess
import time

import blackbox

JOBSET = {'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind': 'JobSet', 'metadata': {'name': 'group'}, 'spec': {
    'groupSchedulingConfig': {'timeoutAfterSeconds': 1}, 'coordinator': {'replicatedJob': 'workers'}, 'replicatedJobs': [{
        'name': 'workers', 'template': {'spec': {'parallelism': 4, 'completions': 4, 'template': {'spec': {
            'containers': [{'name': 'main', 'image': 'busybox'}]}}}}}]}}


def waiting_container(folder):
    """As the JobSet controller injects it."""
    with blackbox.Muster(folder, 'jobset') as muster:
        (folder / 'group.json').write_text(json.dumps(JOBSET))
        blackbox.kubectl(muster, 'create', '-f', str(folder / 'group.json'))
        blackbox.eventually(lambda: blackbox.kubectl(muster, 'get', 'jobs', '-o', 'name'))
        job = json.loads(blackbox.kubectl(muster, 'get', 'job', 'group-workers-0', '-o', 'json'))
    return job['spec']['template']['spec']['initContainers'][-1]


class Pod:
    def __init__(self, container, folder, **changes):
        self.volume, self.last_words = folder / 'volume', folder / 'termination-log'
        self.volume.mkdir(exist_ok=True)
        script = container['command'][2].replace('/mnt/group-scheduling', str(self.volume))
        script = script.replace('/dev/termination-log', str(self.last_words))
        variables = {**{v['name']: v['value'] for v in container['env']}, 'COORDINATOR': 'localhost', **changes}
        self.process = subprocess.Popen([*container['command'][:2], script], env={'PATH': '/usr/bin:/bin', **variables},
                                        stderr=subprocess.DEVNULL)

    def wait(self):
        return self.process.wait(30)

    def has_trap(self, number):
        """Whether it handles a signal, which would just kill it before."""
        caught = re.search(r'^SigCgt:\s*(\w+)$', pathlib.Path('/proc/%d/status' % self.process.pid).read_text(), re.M)[1]
        return int(caught, 16) >> (number - 1) & 1


def test_the_loop_waits_says_why_it_gives_up_and_goes_when_told(tmp_path):
    container = waiting_container(tmp_path)
    assert {v['name'] for v in container['env']} == {'GROUP_SIZE', 'TIMEOUT_SECONDS', 'COORDINATOR'}

    began = time.monotonic()
    alone = Pod(container, tmp_path)
    assert alone.wait() == 1 and time.monotonic() - began >= 1
    assert alone.last_words.read_text() == 'the group did not start within 1 s: 1 of 4 pods had started\n'

    (alone.volume / 'progress').write_text('3')
    (alone.volume / 'missing').write_text('1 of w-3')
    counted = Pod(container, tmp_path)
    assert counted.wait() == 1
    assert counted.last_words.read_text() == 'the group did not start within 1 s: 3 of 4 pods had started; missing: 1 of w-3\n'

    patient = Pod(container, tmp_path, TIMEOUT_SECONDS='')
    deleted = Pod(container, tmp_path, TIMEOUT_SECONDS='')
    time.sleep(0.3)
    for pod in (patient, deleted):
        blackbox.eventually(lambda: pod.has_trap(signal.SIGTERM))
    assert patient.process.poll() is None
    deleted.process.send_signal(signal.SIGTERM)
    assert deleted.wait() == 143
    (patient.volume / 'started').write_text('4 of 4')
    assert patient.wait() == 0

    nameless = Pod(container, tmp_path, COORDINATOR='nobody.invalid')
    assert nameless.wait() == 1
    assert nameless.last_words.read_text() == ('the group did not start within 1 s: all 4 pods had started, '
                                               'but the name nobody.invalid was not known\n')

    (nameless.volume / 'coordinator-ended').write_text('true')
    assert Pod(container, tmp_path, COORDINATOR='nobody.invalid').wait() == 0
