"""A real Kubernetes on loopback, and `muster operator` for it."""
import os
import pathlib
import ssl
import subprocess
import urllib.error
import urllib.request

import blackbox

KUBERNETES = pathlib.Path(__file__).resolve().parent / 'kubernetes'


class Cluster:
    """A real control plane with kwok as its nodes. Pods keep running unless `settings` (of start.sh) say otherwise."""

    def __init__(self, folder, nodes, **settings):
        self.nodes = nodes
        self.folder, self.run = folder, folder / 'kubernetes'
        self.kubeconfig = self.run / 'kubeconfig'
        self.settings = {**os.environ, 'RUN': str(self.run), 'KWOK_HOLD': '1', 'ETCD_ARGS': '--unsafe-no-fsync', **settings}
        binaries = pathlib.Path(os.environ['KUBERNETES_BIN'])
        if (binaries / 'kube-apiserver').exists():
            self.settings['BIN'] = str(binaries)

    def __enter__(self):
        subprocess.run([KUBERNETES / 'start.sh', str(self.nodes)], env=self.settings, check=True, stdout=subprocess.DEVNULL)
        return self

    def install(self):
        manifests = self.folder / 'install.yaml'
        with open(manifests, 'w') as out:
            subprocess.run([os.environ['MUSTER'], 'install', '--print'], check=True, stdout=out)
        blackbox.kubectl(self, 'apply', '--server-side', '-f', str(manifests))
        # A definition that has no status yet is an error to kubectl, and `kubectl wait` gives up on it.
        established = '{.status.conditions[?(@.type=="Established")].status}'
        definition = ('get', 'crd', 'jobsets.jobset.x-k8s.io', '-o', 'jsonpath=' + established)
        blackbox.eventually(lambda: blackbox.kubectl(self, *definition, check=False) == 'True')

    def __exit__(self, *_):
        subprocess.run([KUBERNETES / 'stop.sh'], env=self.settings, check=True)


class Operator:
    """One `muster operator` that tells the API server of its own webhooks."""

    def __init__(self, cluster, *flags):
        self.log = cluster.folder / 'operator.log'
        command = [os.environ['MUSTER'], 'operator', '--kubeconfig', cluster.kubeconfig, '--controllers', 'jobset',
                   '--manage-webhooks', '--health-listen', '127.0.0.1:0', *flags]
        self.process, match = blackbox.start_program(command, self.log, r'webhooks at (\S+), health at (\S+)')
        self.webhooks, self.health = match[1], match[2]

    def get(self, path):
        anybody = ssl.create_default_context()
        anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
        try:
            with urllib.request.urlopen(self.health + path, context=anybody, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def wait_until_ready(self):
        blackbox.eventually(lambda: self.get('/readyz') == (200, 'ok'))
        return self

    def stop(self):
        blackbox.stop_program(self.process, self.log)
