"""Starts the muster binary on loopback and calls programs against it."""
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

START_SECONDS = 60
STOP_SECONDS = 30
NOTES = []      # lines for the end of the run
SEEN_BY_PODS = '/run' if os.geteuid() == 0 else None      # where tests make folders for pods to see: those of root's servers have a /tmp of their own
SUBJECT = {'admin': '/O=system:masters/CN=admin'}       # others: /CN=NAME


def start_program(command, log, greeting):
    """Starts muster and waits for the line that it prints when it is ready; returns the process and the line's match."""
    with open(log, 'ab') as out:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=out, text=True)
    alarm = threading.Timer(START_SECONDS, process.kill)
    alarm.start()
    line = process.stdout.readline()
    alarm.cancel()
    match = re.search(greeting, line)
    assert match, 'muster did not start: %s%s' % (line, log.read_text()[-2000:])
    return process, match


def stop_program(process, log):
    """Ends it cleanly."""
    process.send_signal(signal.SIGTERM)
    try:
        status = process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    finally:
        process.stdout.close()
    assert status == 0, 'muster ended with %d: %s' % (status, log.read_text()[-2000:])


def fake_node(name, labels=None, taints=None, allocatable=None):
    """A node for kwok to play."""
    room = {'cpu': '64', 'memory': '256Gi', 'pods': '256', **(allocatable or {})}
    return {'apiVersion': 'v1', 'kind': 'Node', 'spec': {'taints': taints or []}, 'status': {'allocatable': room, 'capacity': room}, 'metadata': {
        'name': name, 'labels': {'kubernetes.io/hostname': name, 'type': 'kwok', **(labels or {})}, 'annotations': {'kwok.x-k8s.io/node': 'fake'}}}


class Muster:
    """One `muster serve` with its own data directory."""

    def __init__(self, folder, controllers='*', *flags):
        self.folder = pathlib.Path(folder)
        self.data_dir, self.kubeconfig = self.folder / 'data', self.folder / 'kubeconfig'
        self.controllers, self.flags = controllers, flags
        self.listen, self.server, self.process = '127.0.0.1:0', None, None
        self.log = self.folder / 'muster.log'

    def start(self):
        command = [os.environ['MUSTER'], 'serve', '--data-dir', self.data_dir, '--listen', self.listen,
                   '--controllers', self.controllers, '--kubeconfig-out', self.kubeconfig, *self.flags]
        self.process, match = start_program(command, self.log, r'serves (https://(\S+))')
        self.server, self.listen = match[1], match[2]       # a restart takes the same port
        return self

    def stop(self):
        stop_program(self.process, self.log)

    def restart(self):
        self.stop()
        self.start()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        try:
            if self.runs_pods():
                self.end_pods()
        finally:
            self.stop()

    def runs_pods(self):
        names = self.controllers.split(',')
        return 'agent' in names or ('*' in names and '-agent' not in names)

    def end_pods(self):
        """Processes of pods outlive the server; those of tests must not."""
        kubectl(self, 'delete', 'jobsets,jobs,pods', '--all', '--all-namespaces', '--grace-period=1', '--wait=false')
        eventually(lambda: not kubectl(self, 'get', 'pods', '--all-namespaces', '-o', 'name'))

    def certificate(self, user):
        """A client certificate and its key, as paths, signed by the server's authority."""
        certificate, key, pki = self.folder / (user + '.crt'), self.folder / (user + '.key'), self.data_dir / 'pki'
        request = subprocess.run(
            ['openssl', 'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key,
             '-subj', SUBJECT.get(user, '/CN=' + user)], check=True, capture_output=True)
        subprocess.run(['openssl', 'x509', '-req', '-CA', pki / 'ca.crt', '-CAkey', pki / 'ca.key', '-days', '30',
                        '-out', certificate], input=request.stdout, check=True, capture_output=True)
        return str(certificate), str(key)


def environment(kubeconfig, home):
    """What programs see: nothing of the caller's Kubernetes."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith('KUBE')}
    return {**kept, 'KUBECONFIG': str(kubeconfig), 'HOME': str(home), 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC'}


def kubectl(server, *arguments, check=True):
    program = os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl')
    done = subprocess.run([program, *arguments], env=environment(server.kubeconfig, server.folder), text=True,
                          capture_output=True, timeout=120)
    assert not check or done.returncode == 0, 'kubectl %s: %s' % (' '.join(arguments), done.stderr)
    return done.stdout


def eventually(condition, seconds=60, every=0.2):
    """Waits until the condition holds and returns what it returned; fails with its last value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, 'still %r after %d s' % (value, seconds)
        time.sleep(every)
