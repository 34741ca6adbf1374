"""The command line as people use it: verbs against a server, `run` here and there, exit codes, what a terminal shows."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

import pytest

import blackbox
from command_line import SECONDS, Client, alone, job_set, until

ESCAPE = '\x1b'


@pytest.fixture(scope='module')
def muster(tmp_path_factory):
    with blackbox.Muster(tmp_path_factory.mktemp('server')) as server:
        yield Client(server)


# Objects


def test_a_jobset_from_apply_to_delete(muster):
    assert muster('apply', '-f', '-', stdin=job_set('life', 'echo hello $JOB_COMPLETION_INDEX', 2)).stdout == \
        'jobset.jobset.x-k8s.io/life created\n'
    muster('wait', '--for=condition=Completed', 'jobset/life', '--timeout=30s')
    assert re.match(r'NAME +STATE +STAGE +READY +RESTARTS +AGE\nlife +Completed +- +1/1 +0 +\d+s\n$', muster('get', 'js', 'life').stdout)
    assert 'WAITING FOR' in muster('get', 'jobsets', '-o', 'wide').stdout
    assert sorted(muster('logs', 'life').stdout.splitlines()) == ['work-0-0 | hello 0', 'work-0-1 | hello 1']
    text = muster('describe', 'jobset', 'life').stdout
    assert re.search(r'work +done +1/1 +2/2', text) and 'AllJobsCompleted' in text and re.search(r'life-work-0-1-\w+ +0/1 +Completed', text)
    assert 'AllJobsCompleted' in muster('events', 'jobset/life').stdout
    assert muster('delete', 'jobset', 'life').stdout == 'jobset.jobset.x-k8s.io "life" deleted from default namespace\n'
    assert muster('get', 'js', 'life', code=1).stderr.startswith('error: no JobSet "life" in namespace default')


def test_forms_of_output(muster):
    muster('apply', '-f', '-', stdin='{apiVersion: v1, kind: ConfigMap, metadata: {name: form, labels: {a: b}}, data: {x: "1"}}')
    assert json.loads(muster('get', 'cm', 'form', '-o', 'json').stdout)['data'] == {'x': '1'}
    assert 'x: "1"' in muster('get', 'cm/form', '-o', 'yaml').stdout
    assert muster('get', 'configmaps', '-l', 'a=b', '-o', 'name').stdout == 'configmap/form\n'
    assert muster('get', 'cm', '-l', 'a=b', '-o', 'jsonpath={range .items[*]}{.metadata.name}={.data.x}{"\\n"}{end}').stdout == 'form=1\n'
    assert muster('get', 'cm', '--field-selector', 'metadata.name=form', '--no-headers').stdout.split()[:2] == ['form', '1']
    assert muster('get', 'cm', '-A').stdout.startswith('NAMESPACE')
    assert muster('get', 'pods', '-l', 'no=such').stderr == 'No resources found in default namespace.\n'
    assert 'unchanged' in muster('apply', '-f', '-', stdin='{apiVersion: v1, kind: ConfigMap, metadata: {name: form, labels: {a: b}}, data: {x: "1"}}').stdout
    assert 'configured' in muster('apply', '-f', '-', stdin='{apiVersion: v1, kind: ConfigMap, metadata: {name: form, labels: {a: b}}, data: {x: "2"}}').stdout


def test_what_was_probably_meant(muster):
    assert 'did you mean "pods"?' in muster('get', 'podz', code=1).stderr
    assert 'did you mean "get"?' in muster('gett', 'pods', code=64).stderr
    assert 'did you mean --namespace?' in muster('get', 'pods', '--namespce', 'x', code=64).stderr
    muster('apply', '-f', '-', stdin='{apiVersion: v1, kind: ConfigMap, metadata: {name: meant}}')
    assert 'did you mean "meant"?' in muster('get', 'cm', 'maent', code=1).stderr
    assert 'did you mean "JobSet"?' in muster('apply', '-f', '-', stdin='{apiVersion: jobset.x-k8s.io/v1alpha2, kind: Jobset}', code=1).stderr


def test_exit_codes_without_a_server(tmp_path):
    assert '--data-dir' in alone('get', 'pods', code=75).stderr
    assert 'muster serve --data-dir' in alone('get', 'pods', '--data-dir', tmp_path, code=75).stderr
    alone(code=64)
    alone('run', code=64)
    assert 'docs/simulation.md' in alone('sim', code=64).stderr


def test_wait_tells_how_it_ended(muster):
    muster('apply', '-f', '-', stdin=job_set('waits', 'exit 1'))
    muster('wait', '--for=condition=Completed', 'js/waits', '--timeout=30s', code=3)
    muster('wait', '--for=jsonpath={.status.terminalState}=Failed', 'js/waits', '--timeout=30s')
    muster('wait', '--for=condition=Completed=false', 'js/waits', '--timeout=0', code=4)
    muster('wait', '--for=nonsense', 'js/waits', code=64)
    muster('delete', 'js', 'waits', '--no-wait')
    muster('wait', '--for=delete', 'js/waits', '--timeout=30s')


def lists_of_maps(server):
    told = blackbox.kubectl(server, 'get', '--raw', '/metrics')
    return sum(map(int, re.findall(r'^apiserver_request_total\{code="200",resource="configmaps",verb="list"\} (\d+)', told, re.M)))


def test_watching(muster):
    before = lists_of_maps(muster.server)
    with subprocess.Popen([os.environ['MUSTER'], 'get', 'cm', '-l', 'w=1', '-w'], env=muster.environment, text=True, stdout=subprocess.PIPE) as watch:
        try:
            blackbox.eventually(lambda: lists_of_maps(muster.server) > before)      # it goes on from what it saw there, which is nothing
            muster('apply', '-f', '-', stdin='{apiVersion: v1, kind: ConfigMap, metadata: {name: watched, labels: {w: "1"}}}')
            assert watch.stdout.readline().startswith('NAME')
            assert watch.stdout.readline().startswith('watched')
        finally:
            watch.kill()


def test_control_codes_are_shown_nowhere(muster):
    """S3."""
    evil = ESCAPE + ']0;title\\a' + ESCAPE + '[2J' + '\u009b2J'
    muster('apply', '-f', '-', stdin=json.dumps({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {
        'name': 'evil', 'annotations': {'note': ESCAPE + '[2Jx\u009b2J'}}, 'data': {'k': ESCAPE + '[2J\u009b'}}))
    muster('apply', '-f', '-', stdin=job_set('evil', "printf 'a\\033[2Jb\\033]0;t\\007c\\r\\n'; exit 1"))
    muster('wait', '--for=condition=Failed', 'js/evil', '--timeout=30s')
    for words in (['get', 'cm', 'evil', '-o', 'json'], ['get', 'cm', 'evil', '-o', 'yaml'], ['get', 'cm', 'evil', '-o', 'jsonpath={.data.k}'],
                  ['describe', 'cm', 'evil'], ['describe', 'js', 'evil'], ['get', 'js'], ['get', 'pods'], ['logs', 'evil'], ['events'],
                  ['timeline', 'evil'], ['timeline', 'evil', '-o', 'svg'], ['graph', 'evil']):
        out = muster(*words).stdout
        assert ESCAPE not in out and '\u009b' not in out and '\a' not in out, words
    assert muster('logs', 'evil').stdout == 'work-0-0 | abc\n'
    assert ESCAPE not in muster('get', 'cm', evil, code=1).stderr
    assert ESCAPE not in muster(evil, code=64).stderr
    assert json.loads(muster('get', 'cm', 'evil', '-o', 'json').stdout)['data']['k'] == ESCAPE + '[2J\u009b'


def test_logs_go_on_with_pods_that_come_later(muster, shared):
    script = 'echo try; test -e {0} || {{ {1}; touch {0}; exit 1; }}'.format(shared / 'tried', until(shared / 'go'))
    muster('apply', '-f', '-', stdin=job_set('later', script, spec='failurePolicy: {maxRestarts: 2}'))
    with subprocess.Popen([os.environ['MUSTER'], 'logs', 'later', '-f'], env=muster.environment, text=True, stdout=subprocess.PIPE) as logs:
        assert logs.stdout.readline() == 'work-0-0 | try\n'
        (shared / 'go').touch()
        assert logs.stdout.read() == 'work-0-0 | try\n' and logs.wait(SECONDS) == 0
    assert muster('logs', 'later', '--tail', '1', '--prefix', 'none').stdout == 'try\n'


def test_logs_of_a_container_that_was_started_again(muster):
    text = job_set('again', 'echo one run; sleep 0.5; exit 1').replace('restartPolicy: Never', 'restartPolicy: OnFailure')
    muster('apply', '-f', '-', stdin=text.replace('backoffLimit: 0', 'backoffLimit: 5'))
    blackbox.eventually(lambda: 'CrashLoopBackOff' in muster('get', 'pods').stdout)
    assert muster('logs', 'again').stdout == 'work-0-0 | one run\n'
    assert muster('logs', 'again', '--previous').stdout == 'work-0-0 | one run\n'
    stamped = muster('logs', 'again', '-t', '-c', 'main', '--prefix', 'none').stdout
    assert re.match(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z one run\n$', stamped)
    blackbox.eventually(lambda: 'CrashLoopBackOff' in muster('describe', 'js', 'again').stdout)      # it may just run once more
    attached = subprocess.Popen([os.environ['MUSTER'], 'attach', 'again'], env=muster.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert 'CrashLoopBackOff' in blackbox.eventually(lambda: next((line for line in attached.stderr if 'work-0-0:' in line), ''))
    muster('cancel', 'again')
    assert attached.wait(SECONDS) == 5
    attached.stderr.close()


# run


def test_run_ends_with_the_outcome(tmp_path):
    done = alone('run', '-', stdin=job_set('ok', 'echo fine'))
    assert done.stdout == 'work-0-0 | fine\n'
    assert 'work: done' in done.stderr and ESCAPE not in done.stdout + done.stderr
    failed = alone('run', '-', code=3, stdin=job_set('bad', 'for i in $(seq 30); do echo line $i; done; exit 7')).stderr
    assert re.search(r'failed: pod bad-work-0-0-\w+, container main: exit code 7', failed)
    assert 'its last 20 lines' in failed and '| line 30' in failed and '| line 10\n' not in failed
    alone('run', '-', '--exit-code-from', 'work', code=7, stdin=job_set('bad', 'exit 7'))
    assert 'has not ended within' in alone('run', '-', '--timeout', '1s', code=4, stdin=job_set('slow', 'sleep 60')).stderr
    assert alone('run', '-', '--prefix', 'rank', stdin=job_set('rank', 'echo fine')).stdout == '0 | fine\n'


def test_a_file_that_cannot_be_read_is_refused(muster, tmp_path):
    assert 'Is a directory' in alone('run', tmp_path, code=1).stderr
    assert 'No such file' in alone('run', tmp_path / 'none.yaml', code=1).stderr
    assert 'there is no .yaml' in muster('apply', '-f', tmp_path, code=1).stderr


def test_apply_takes_the_files_of_a_folder_in_the_order_of_their_names(muster, tmp_path):
    for name in ('b.yaml', 'a.json', 'c.yml'):
        (tmp_path / name).write_text('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "%s"}}' % name)
    (tmp_path / 'read.me').write_text('nothing for a server')
    (tmp_path / 'deeper.yaml').mkdir()
    assert muster('apply', '-f', tmp_path).stdout == ''.join('configmap/%s created\n' % name for name in ('a.json', 'b.yaml', 'c.yml'))


def test_a_process_to_end_with_that_is_not_there_is_refused_at_once():
    refused = alone('run', '-', '--exit-code-from', 'wrok', code=64, stdin=job_set('named', 'sleep 1000'))
    assert 'did you mean "work"?' in refused.stderr


def test_run_explains_instead_of_waiting():
    no_image = job_set('template', 'true').replace('restartPolicy: Never', 'restartPolicy: Always')
    assert 'restartPolicy' in alone('run', '-', code=2, stdin=no_image).stderr
    too_large = job_set('large', 'true', container='resources: {requests: {cpu: "100000"}}')
    assert 'cannot be placed' in alone('run', '-', code=2, stdin=too_large).stderr
    broken = alone('run', '-', code=1, stdin='apiVersion: v1\nkind: [JobSet\nspec: x\n').stderr
    assert re.search(r'--> standard input:\d+:\d+\n', broken) and '^' in broken
    assert 'there is no JobSet' in alone('run', '-', code=1, stdin='{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}').stderr
    missing = alone('run', '-', code=3, stdin=job_set('missing', 'true').replace('[sh, -c, "true"]', '[no-such-program]')).stderr
    assert 'no-such-program' in missing
    volume = 'volumes: [{name: v, configMap: {name: no-such-map}}]\n            containers:'
    unmounted = job_set('unmounted', 'true', container='volumeMounts: [{name: v, mountPath: /v}]').replace('containers:', volume)
    assert 'configmap "no-such-map" not found' in alone('run', '-', code=2, stdin=unmounted).stderr


def test_run_says_that_it_waits_to_be_resumed():
    with subprocess.Popen([os.environ['MUSTER'], 'run', '-', '--timeout', '60s'], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        run.stdin.write(job_set('held', 'true', spec='suspend: true'))
        run.stdin.close()
        assert any('is suspended' in line for line in run.stderr)
        run.send_signal(signal.SIGINT)
        assert run.wait(SECONDS) == 130


def test_ctrl_c_stops_everything(tmp_path):
    marker = 'muster-cli-test-%d' % os.getpid()
    with subprocess.Popen([os.environ['MUSTER'], 'run', '-'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, 'TMPDIR': str(tmp_path)}) as run:
        run.stdin.write(job_set('stops', 'echo up; exec sleep 1000 %s' % marker).replace('sleep 1000 ' + marker, "sh -c 'sleep 1000; : %s'" % marker))
        run.stdin.close()
        assert run.stdout.readline() == 'work-0-0 | up\n'
        run.send_signal(signal.SIGINT)
        assert run.wait(SECONDS) == 130
        assert 'stopping stops' in run.stderr.read()
    assert subprocess.run(['pgrep', '-f', marker], stdout=subprocess.PIPE).stdout == b''
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_twice_kills(tmp_path):
    with subprocess.Popen([os.environ['MUSTER'], 'run', '-'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, 'TMPDIR': str(tmp_path)}) as run:
        stubborn = job_set('stubborn', "trap '' TERM; echo up; while :; do sleep 1; done")
        run.stdin.write(stubborn.replace('terminationGracePeriodSeconds: 2', 'terminationGracePeriodSeconds: 1000'))
        run.stdin.close()
        assert run.stdout.readline() == 'work-0-0 | up\n'
        run.send_signal(signal.SIGINT)
        run.send_signal(signal.SIGINT)      # as `timeout` does: to the process, and to its group
        assert 'stopping stubborn' in blackbox.eventually(lambda: next((line for line in run.stderr if 'stopping' in line), ''))
        time.sleep(0.2)
        assert run.poll() is None
        run.send_signal(signal.SIGINT)
        assert run.wait(SECONDS) == 130
    assert list(tmp_path.iterdir()) == []


def test_run_elsewhere(muster, tmp_path):
    done = muster('run', '-', '--kubeconfig', muster.server.kubeconfig, stdin=job_set('there', 'echo far away'))
    assert done.stdout == 'work-0-0 | far away\n'
    assert 'exists' in muster('run', '-', '--kubeconfig', muster.server.kubeconfig, code=1, stdin=job_set('there', 'true')).stderr
    bare = muster('run', '-', '--kubeconfig', muster.server.kubeconfig, code=2, stdin=job_set('bare', 'true').replace('image: none', ''))
    assert 'image: Required value\n  help: where pods are processes, image: none will do\n' in bare.stderr
    muster('run', '-', '--data-dir', muster.server.data_dir, code=3, stdin=job_set('there2', 'exit 1'))
    assert 'there2' in muster('get', 'js', '-o', 'name').stdout


def test_a_server_that_goes_is_missed(tmp_path):
    server = blackbox.Muster(tmp_path).start()
    muster = Client(server)
    with subprocess.Popen([os.environ['MUSTER'], 'run', '-', '--kubeconfig', server.kubeconfig], env=muster.environment, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdin.write(job_set('lost', 'echo up; sleep 20'))
        run.stdin.close()
        assert run.stdout.readline() == 'work-0-0 | up\n'
        server.stop()
        assert run.wait(SECONDS) == 75
        assert 'cannot be reached any more' in run.stderr.read()


def on_terminal(command, environment, keys=lambda text: None):
    """Runs it on a terminal of its own; returns what that showed and the exit code. `keys` may answer to what is shown."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, {**environment, 'TERM': 'xterm'})
    shown, end = b'', time.monotonic() + SECONDS
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
            answer = keys(shown.decode(errors='replace'))
            if answer:
                os.write(terminal, answer)
    status = os.waitpid(child, 0)[1]
    os.close(terminal)
    return shown.decode(errors='replace'), os.waitstatus_to_exitcode(status)


def test_a_terminal_shows_stages_and_colours(tmp_path, shared):
    file, go = tmp_path / 'a.yaml', shared / 'go'
    file.write_text(job_set('term', 'echo one; %s; echo two' % until(go), 2))
    environment = {k: v for k, v in os.environ.items() if k != 'NO_COLOR'}

    def go_on_after(*parts):
        def keys(shown):
            if all(re.search(part, shown) for part in parts):
                go.touch()
        return keys

    running, one = r'work #{10} 2/2 running', ESCAPE + r'\[\d+mwork-0-0' + ESCAPE + r'\[0m \| one\r\n'
    shown, code = on_terminal([os.environ['MUSTER'], 'run', str(file)], environment, go_on_after(running, one, 'Ctrl-C: stop'))
    assert code == 0
    assert re.search(one, shown), shown
    assert re.search(running, shown) and 'Ctrl-C: stop' in shown
    last = shown[shown.rindex('jobset term: ') - 200:shown.rindex('jobset term: ')]
    assert re.search(r'\[ok\][^\r]* work #{10} 2/2 done', last.split(ESCAPE + '[J')[-1]), 'the last picture stays: %r' % shown
    go.unlink()
    plain, code = on_terminal([os.environ['MUSTER'], 'run', str(file), '--no-progress'], {**environment, 'NO_COLOR': '1'}, go_on_after('work: running'))
    assert code == 0 and ESCAPE not in plain and 'work: running' in plain


def test_a_terminal_shows_that_it_stops(tmp_path, shared):
    file, go = tmp_path / 'a.yaml', shared / 'go'
    text = job_set('slow', "trap '%s; exit' TERM; echo up; sleep 60 & wait" % until(go))
    file.write_text(text.replace('terminationGracePeriodSeconds: 2', 'terminationGracePeriodSeconds: 30'))
    pressed = []

    def keys(shown):
        if '| up' in shown and '1/1 running' in shown and not pressed:
            pressed.append(len(shown))
            return b'\x03'
        if '1/1 stopping' in shown and 'stopping   Ctrl-C: kill' in shown:
            go.touch()

    shown, code = on_terminal([os.environ['MUSTER'], 'run', str(file)], {**os.environ, 'NO_COLOR': '1'}, keys)
    after = shown[shown.index('stopping slow; once more kills it'):]
    assert code == 130 and re.search(r'work #{10} 1/1 stopping', after) and 'stopping   Ctrl-C: kill' in after, shown
    assert 'running' not in after and 'Ctrl-C: stop' not in after, shown


def test_d_detaches(muster, tmp_path, shared):
    file = tmp_path / 'a.yaml'
    file.write_text(job_set('detached', 'echo one; ' + until(shared / 'go')))
    pressed = []

    def keys(shown):
        if '| one' in shown and not pressed:
            pressed.append(True)
            return b'd'

    shown, code = on_terminal([os.environ['MUSTER'], 'run', str(file), '--kubeconfig', str(muster.server.kubeconfig)], muster.environment, keys)
    assert code == 0, shown
    assert 'detached goes on; muster attach detached --kubeconfig %s comes back to it' % muster.server.kubeconfig in shown, shown
    with subprocess.Popen([os.environ['MUSTER'], 'attach', 'detached'], env=muster.environment, text=True, stdout=subprocess.PIPE) as attached:
        assert attached.stdout.readline() == 'work-0-0 | one\n'
        (shared / 'go').touch()
        assert attached.stdout.read() == '' and attached.wait(SECONDS) == 0


# Further verbs


def test_submit_and_cancel(muster, shared):
    printed = alone('submit', '--print', '-N', '2', '--name', 'made', '--', 'sh', '-c', 'echo $RANK of $WORLD_SIZE').stdout
    assert 'parallelism: 2' in printed and 'muster.dev/rank-env' in printed
    # In a folder that pods see: the checkout may lie in /tmp, and pods of root's server have one of their own.
    name = muster('submit', '--', 'sh', '-c', 'echo submitted in $PWD', cwd=shared).stdout.split('/')[1].strip()
    assert muster('attach', name).stdout == 'main-0-0 | submitted in %s\n' % shared
    assert muster('submit', '--name', 'next', '--after', 'ok:' + name, '--', 'sleep', '1000', cwd=shared).stdout == 'jobset.jobset.x-k8s.io/next\n'
    muster('wait', '--for=jsonpath={.status.replicatedJobsStatus[0].ready}=1', 'js/next', '--timeout=30s')
    muster('cancel', 'next')
    muster('get', 'js', 'next', code=1)
    assert muster('get', 'pods', '-l', 'jobset.sigs.k8s.io/jobset-name=next', '-o', 'name').stdout == ''
    failing = muster('submit', '--', 'false', cwd=shared).stdout.split('/')[1].strip()
    muster('submit', '--after', 'ok:' + failing, '--', 'true', code=5)


def test_graph_timeline_top_completion(muster):
    text = alone('example', 'driver-workers').stdout
    assert '`> workers' in alone('graph', '-f', '-', stdin=text).stdout
    assert '-->|Ready|' in alone('graph', '-f', '-', '-o', 'mermaid', stdin=text).stdout
    muster('apply', '-f', '-', stdin=job_set('drawn', 'sleep 0.1', 2))
    muster('wait', '--for=condition=Completed', 'js/drawn', '--timeout=30s')
    assert len(json.loads(muster('timeline', 'drawn', '-o', 'json').stdout)['pods']) == 2
    assert json.loads(muster('timeline', 'drawn', '-o', 'perfetto').stdout)['traceEvents']
    assert muster('timeline', 'drawn', '-o', 'svg').stdout.startswith('<svg')
    assert 'succeeded' in muster('timeline', 'drawn').stdout
    assert 'drawn' in muster('top', '--once').stdout
    for shell in ('bash', 'zsh'):
        subprocess.run(['bash', '-n'], input=alone('completion', shell).stdout, text=True, check=True)


@pytest.mark.parametrize('line, offered', [('example dd', ['ddp']), ('get js -o ', ['wide', 'json', 'yaml', 'name', 'jsonpath=']),
                                           ('run x --prefix r', ['rank']), ('completion z', ['zsh'])])
def test_completion_offers_values(line, offered):
    words = ['muster', *line.split(' ')]
    script = alone('completion', 'bash').stdout + '\nCOMP_WORDS=(%s) COMP_CWORD=%d; _muster; printf "%%s\\n" "${COMPREPLY[@]}"' % (
        ' '.join("'%s'" % word for word in words), len(words) - 1)
    done = subprocess.run(['bash'], input=script, text=True, check=True, capture_output=True)
    assert done.stdout.split() == offered
    assert '-a get' in alone('completion', 'fish').stdout


def test_top_goes_down_to_the_log(muster):
    muster('apply', '-f', '-', stdin=job_set('looked-at', 'echo a line of the log; sleep 1000'))
    muster('wait', '--for=jsonpath={.status.replicatedJobsStatus[0].ready}=1', 'js/looked-at', '--timeout=30s')
    step = [0]

    def keys(shown):
        screen = shown[shown.rfind(ESCAPE + '[H'):]
        if step[0] == 0 and 'JOBSET' in screen and 'looked-at' in screen:
            names = [line.split()[1] for line in re.sub(ESCAPE + r'\[[0-9;?]*[A-Za-z]', '', screen).split('\r\n') if line.startswith('default ')]
            step[0] = 1
            return b'j' * names.index('looked-at') + b'\r'
        if step[0] == 1 and 'looked-at-work-0-0' in screen:
            step[0] = 2
            return b'\r'
        if step[0] == 2 and 'a line of the log' in screen:
            step[0] = 3
            return b'q'

    shown, code = on_terminal([os.environ['MUSTER'], 'top'], muster.environment, keys)
    assert code == 0 and step[0] == 3, shown
    assert shown.endswith(ESCAPE + '[?1049l')
    muster('cancel', 'looked-at')


def test_doctor_says_what_the_machine_can_do():
    assert re.search(r'\[..\] disk ', alone('doctor').stdout)


def test_examples_are_in_the_binary():
    listed = [line.split()[0] for line in alone('example').stdout.splitlines() if line and not line.startswith('muster')]
    folder = os.path.join(os.path.dirname(__file__), '..', '..', 'examples')
    assert listed == sorted(name[:-5] for name in os.listdir(folder) if name.endswith('.yaml'))
    for name in listed:
        with open(os.path.join(folder, name + '.yaml')) as file:
            assert alone('example', name).stdout == file.read()
    assert 'did you mean "ddp"?' in alone('example', 'dpd', code=1).stderr
