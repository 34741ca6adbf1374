"""The muster command as a program with arguments, output and an exit code."""
import json
import os
import subprocess

import blackbox

SECONDS = 60


def call(arguments, environment, code=0, stdin='', cwd=None):
    done = subprocess.run([os.environ['MUSTER'], *map(str, arguments)], env=environment, input=stdin, text=True, capture_output=True,
                          timeout=SECONDS, cwd=cwd)
    assert done.returncode == code, '%s: %d\n%s%s' % (arguments, done.returncode, done.stdout, done.stderr)
    return done


class Client:
    """muster with a server's kubeconfig."""

    def __init__(self, server):
        self.server = server
        self.environment = blackbox.environment(server.kubeconfig, server.folder)

    def __call__(self, *arguments, code=0, stdin='', cwd=None):
        return call(arguments, self.environment, code, stdin, cwd)


def alone(*arguments, code=0, stdin='', environment=None):
    """muster without a server."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith('KUBE')}
    return call(arguments, {**kept, 'HOME': '/nonexistent', **(environment or {})}, code, stdin)


def until(file):
    """A script that waits for a file: by making it, a test lets a pod go on. A test that has ended has taken the folder away, too."""
    return 'while [ -e %s ] && [ ! -e %s ]; do sleep 0.1; done' % (file.parent, file)


def job_set(name, script, pods=1, spec='', container=''):
    """A JobSet of one replicated job whose pods run a shell script."""
    return '''
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: %s}
spec:
  %s
  replicatedJobs:
  - name: work
    template:
      spec:
        parallelism: %d
        completions: %d
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            terminationGracePeriodSeconds: 2
            containers:
            - name: main
              image: none
              %s
              command: [sh, -c, %s]
''' % (name, spec, pods, pods, container, json.dumps(script))
