"""kubectl exec, attach and logs against pods that run as processes here."""
import os
import re
import subprocess
import time

import kubernetes.client
import kubernetes.config
import kubernetes.stream
import pytest

import blackbox

POD = '''
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  restartPolicy: %s
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: none, command: [sh, -c, "%s"], workingDir: /tmp, env: [{name: COLOUR, value: blue}]}
'''


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    with blackbox.Muster(tmp_path_factory.mktemp('exec')) as muster:
        blackbox.eventually(lambda: 'True' in blackbox.kubectl(
            muster, 'get', 'nodes', '-o', 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}'))
        run_pod(muster, 'idle', 'sleep 1000', 'Never')
        running(muster, 'idle')
        yield muster


def kubectl(server, *arguments, stdin='', timeout=60):
    """Everything that it tells: exit status, output, error output."""
    done = subprocess.run([os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl'), *arguments], input=stdin, text=True, capture_output=True,
                          env=blackbox.environment(server.kubeconfig, server.folder), timeout=timeout)
    return done.returncode, done.stdout, done.stderr


def run_pod(server, name, script, restart='Never'):
    manifest = server.folder / (name + '.yaml')
    manifest.write_text(POD % (name, restart, script))
    blackbox.kubectl(server, 'create', '-f', str(manifest))


def pod_field(server, name, path):
    return blackbox.kubectl(server, 'get', 'pod', name, '-o', 'jsonpath={%s}' % path)


def running(server, name):
    blackbox.eventually(lambda: pod_field(server, name, '.status.containerStatuses[0].state.running.startedAt'))


def test_output_and_exit_code_come_through(server):
    assert kubectl(server, 'exec', 'idle', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3') == (
        3, 'out\n', 'err\ncommand terminated with exit code 3\n')
    assert kubectl(server, 'exec', 'idle', '--', 'true') == (0, '', '')


def test_the_command_has_the_container_s_environment_and_folder(server):
    assert kubectl(server, 'exec', 'idle', '--', 'sh', '-c', 'echo $COLOUR; pwd') == (0, 'blue\n/tmp\n', '')


def test_input_goes_through_to_its_end(server):
    text = ''.join('line %d\n' % i for i in range(100000))
    assert kubectl(server, 'exec', '-i', 'idle', '--', 'cat', stdin=text) == (0, text, '')


def test_the_end_of_the_input_does_not_end_the_command(server):
    assert kubectl(server, 'exec', '-i', 'idle', '--', 'sh', '-c', 'cat; sleep 0.5; echo after', stdin='before\n') == (0, 'before\nafter\n', '')


def test_much_output_waits_for_a_slow_reader(server):
    program = os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl')
    with subprocess.Popen([program, 'exec', 'idle', '--', 'sh', '-c', 'yes | head -c 30000000'], stdout=subprocess.PIPE,
                          env=blackbox.environment(server.kubeconfig, server.folder)) as process:
        time.sleep(1)
        assert len(process.stdout.read()) == 30000000
        assert process.wait(60) == 0


def test_a_terminal(server):
    inner = '%s exec -it idle -- sh -c "tty; stty size; exit 4"' % os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl')
    done = subprocess.run(['script', '-qec', 'stty rows 33 cols 99; ' + inner, '/dev/null'], input='', text=True, capture_output=True,
                          env=blackbox.environment(server.kubeconfig, server.folder), timeout=60)
    assert done.returncode == 4, done.stdout
    assert re.search(r'/dev/pts/\d+\s+33 99\s', done.stdout), done.stdout


def test_a_command_goes_with_its_client(server):
    program = os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl')
    with subprocess.Popen([program, 'exec', 'idle', '--', 'sh', '-c', 'echo $$; exec sleep 1000'], stdout=subprocess.PIPE, text=True,
                          env=blackbox.environment(server.kubeconfig, server.folder)) as process:
        pid = process.stdout.readline().strip()
        alive = ('exec', 'idle', '--', 'kill', '-0', pid)
        assert kubectl(server, *alive)[0] == 0
        process.kill()
    blackbox.eventually(lambda: kubectl(server, *alive)[0] != 0)


def test_what_cannot_be_executed_says_why(server):
    status, _, error = kubectl(server, 'exec', 'idle', '--', '/no/such/program')
    assert status != 0 and 'no/such/program' in error, error


def test_a_container_that_does_not_run_is_not_found(server):
    run_pod(server, 'waiting', 'exit 1', 'Always')
    blackbox.eventually(lambda: pod_field(server, 'waiting', '.status.containerStatuses[0].state.waiting.reason') == 'CrashLoopBackOff')
    status, _, error = kubectl(server, 'exec', 'waiting', '--', 'true')
    assert (status, error) == (1, 'error: unable to upgrade connection: container not found ("main")\n')
    assert kubectl(server, 'exec', 'none', '--', 'true')[2] == 'Error from server (NotFound): pods "none" not found\n'


def test_attach_shows_what_comes_and_ends_with_the_container(server, shared):
    # What it says while it waits shows when kubectl is attached.
    run_pod(server, 'talking', 'echo early; while [ ! -e %s/go ]; do echo here; sleep 0.1; done; echo out; echo err >&2' % shared)
    running(server, 'talking')
    blackbox.eventually(lambda: 'early' in kubectl(server, 'logs', 'talking')[1])
    with open(server.folder / 'attach.err', 'w+') as errors, subprocess.Popen(
            [os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl'), 'attach', 'talking'], stdout=subprocess.PIPE, stderr=errors, text=True,
            env=blackbox.environment(server.kubeconfig, server.folder)) as process:
        assert process.stdout.readline() == 'here\n'
        (shared / 'go').touch()
        rest = process.stdout.read()
        assert process.wait(60) == 0
        assert re.fullmatch(r'(here\n)*out\n', rest), rest
        errors.seek(0)
        error = errors.read()
    assert error.endswith('\nerr\n'), error


def test_logs_of_the_present_and_the_previous_run(server):
    run_pod(server, 'restarting', 'echo run; exit 1', 'Always')
    blackbox.eventually(lambda: pod_field(server, 'restarting', '.status.containerStatuses[0].restartCount') not in ('', '0'))
    assert kubectl(server, 'logs', 'restarting', '--previous') == (0, 'run\n', '')
    blackbox.eventually(lambda: kubectl(server, 'logs', 'restarting') == (0, 'run\n', ''))      # it has started, and is about to say so
    assert kubectl(server, 'logs', 'idle', '--previous')[2] == (
        'Error from server (BadRequest): previous terminated container "main" in pod "idle" not found\n')


def test_follow_ends_with_the_run(server, shared):
    run_pod(server, 'counting', 'echo 1; while [ ! -e %s/go ]; do sleep 0.1; done; for i in 2 3; do echo $i; sleep 0.3; done' % shared)
    running(server, 'counting')
    with subprocess.Popen([os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl'), 'logs', '-f', 'counting'], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=blackbox.environment(server.kubeconfig, server.folder)) as follower:
        assert follower.stdout.readline() == '1\n'
        (shared / 'go').touch()
        assert follower.stdout.read() == '2\n3\n'
        assert follower.wait(60) == 0


def test_log_options(server):
    run_pod(server, 'lines', 'for i in 1 2 3 4; do echo line $i; done; printf end')
    blackbox.eventually(lambda: pod_field(server, 'lines', '.status.phase') == 'Succeeded')
    assert kubectl(server, 'logs', 'lines', '--tail=2')[1] == 'line 4\nend\n'
    assert kubectl(server, 'logs', 'lines', '--limit-bytes=10')[1] == 'line 1\nlin'
    assert kubectl(server, 'logs', 'lines', '--since-time=2035-01-01T00:00:00Z')[1] == ''
    assert kubectl(server, 'logs', 'lines', '--since=1h', '--tail=1')[1] == 'end\n'
    assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z end\n', kubectl(server, 'logs', 'lines', '--timestamps', '--tail=1')[1])


def test_files_are_copied_in_and_out(server, shared):
    (server.folder / 'sent').write_text('some text\n')
    assert kubectl(server, 'cp', str(server.folder / 'sent'), 'idle:%s/copy' % shared)[0] == 0
    assert kubectl(server, 'cp', 'idle:%s/copy' % shared, str(server.folder / 'returned'))[0] == 0
    assert (server.folder / 'returned').read_text() == 'some text\n'


def test_python_s_client_executes_too(server):
    client = kubernetes.config.new_client_from_config(str(server.kubeconfig))
    pods = kubernetes.client.CoreV1Api(client)
    channel = kubernetes.stream.stream(pods.connect_get_namespaced_pod_exec, 'idle', 'default', command=['sh', '-c', 'read a; echo got $a; exit 5'],
                                       stdin=True, stdout=True, stderr=True, tty=False, _preload_content=False)
    channel.write_stdin('this\n')
    channel.run_forever(timeout=30)
    assert (channel.read_stdout(), channel.returncode) == ('got this\n', 5)


def test_a_restarted_server_finds_its_pods_again(tmp_path, shared):
    with blackbox.Muster(tmp_path) as muster:
        run_pod(muster, 'lasting', 'echo before; while [ ! -e %s/go ]; do sleep 0.1; done; echo after' % shared)
        running(muster, 'lasting')
        muster.restart()
        blackbox.eventually(lambda: kubectl(muster, 'exec', 'lasting', '--', 'true')[0] == 0)
        program = os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl')
        with subprocess.Popen([program, 'logs', '-f', 'lasting'], stdout=subprocess.PIPE, text=True,
                              env=blackbox.environment(muster.kubeconfig, muster.folder)) as follower:
            assert follower.stdout.readline() == 'before\n'
            (shared / 'go').touch()
            assert follower.stdout.read() == 'after\n'
            assert follower.wait(60) == 0
        blackbox.eventually(lambda: pod_field(muster, 'lasting', '.status.phase') == 'Succeeded')
        assert kubectl(muster, 'exec', 'lasting', '--', 'true')[0] == 1
