"""Verbs as somebody uses them who knows kubectl, or nothing but `muster --help`."""
import json
import os
import re
import signal
import socket
import subprocess
import threading

import pytest

import blackbox
from command_line import Client, alone, job_set
from stub_server import stub_server

LABEL = 'jobset.sigs.k8s.io/jobset-name='
MAP = '{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}'


@pytest.fixture(scope='module')
def muster(tmp_path_factory):
    with blackbox.Muster(tmp_path_factory.mktemp('server')) as server:
        yield Client(server)


STUBBORN = "trap '' TERM; echo up; while :; do sleep 0.1; done"


def running(muster, name, script, pods=1, grace=2):
    muster('apply', '-f', '-', stdin=job_set(name, script, pods).replace('PeriodSeconds: 2', 'PeriodSeconds: %d' % grace))
    muster('wait', '--for=jsonpath={.status.replicatedJobsStatus[0].ready}=1', 'js/' + name, '--timeout=30s')
    blackbox.eventually(lambda: muster('logs', name).stdout.count('| up\n') == pods)        # and their traps are set


# delete


def test_delete_waits_for_the_pods(muster):
    running(muster, 'owner', "trap 'sleep 1; exit 0' TERM; echo up; while :; do sleep 0.1; done", 2)
    assert muster('delete', 'js', 'owner').stdout == 'jobset.jobset.x-k8s.io "owner" deleted from default namespace\n'
    assert muster('get', 'jobs,pods', '-l', LABEL + 'owner', '-o', 'name').stdout == ''


def test_delete_need_not_wait(muster):
    running(muster, 'left', STUBBORN, grace=60)
    muster('delete', 'js/left', '--wait=false')
    assert muster('get', 'pods', '-l', LABEL + 'left', '-o', 'name').stdout != ''
    muster('delete', 'pods', '-l', LABEL + 'left', '--now')
    assert muster('get', 'pods', '-l', LABEL + 'left', '-o', 'name').stdout == ''


def test_delete_says_what_takes_long(muster):
    running(muster, 'slow', STUBBORN, grace=6)
    assert muster('delete', 'js', 'slow').stderr == \
        'waiting for jobset.jobset.x-k8s.io/slow and what it owns to be gone; Ctrl-C leaves it to the server\n'


def test_delete_gives_up_waiting(muster):
    running(muster, 'stays', STUBBORN, grace=60)
    assert 'timed out waiting for' in muster('delete', 'js', 'stays', '--timeout=300ms', code=4).stderr
    muster('delete', 'pods', '-l', LABEL + 'stays', '--now')


def test_delete_of_what_is_not_there(muster):
    muster('apply', '-f', '-', stdin=MAP % 'nearby')
    missing = muster('delete', 'cm', 'neraby', code=1).stderr
    assert missing == 'error: configmaps "neraby" not found\n  help: did you mean "nearby"?\n'
    muster('delete', 'cm', 'neraby', '--ignore-not-found')
    both = muster('delete', 'cm', 'neraby', 'nearby', code=1)
    assert both.stdout == 'configmap "nearby" deleted from default namespace\n'
    assert muster('delete', 'pods', '-l', 'no=such').stderr == 'No resources found\n'


def test_delete_never_takes_more_than_was_named(muster):
    muster('apply', '-f', '-', stdin=MAP % 'bystander')
    muster('delete', 'cm', '', code=1)
    muster('delete', '-f', '-', stdin='{apiVersion: v1, kind: ConfigMap, metadata: {generateName: x-}}', code=1)
    muster('delete', 'cm', code=1)
    muster('delete', 'cm', 'other', '--all', code=1)
    assert muster('get', 'cm', '-o', 'name').stdout == 'configmap/bystander\n'


# apply


def test_apply_says_that_nothing_was_stored_only_if_it_is_so(muster, tmp_path):
    bad = job_set('astray', 'true').replace('backoffLimit', 'backofLimit')
    alone = muster('apply', '-f', '-', stdin=bad, code=1).stderr
    assert re.search(r' --> standard input:13:9\n +13 \| +backofLimit: 0\n +\| +\^{11} did you mean "backoffLimit"\?\nNothing was stored.\n', alone), alone
    (tmp_path / 'a.yaml').write_text(MAP % 'kept')
    (tmp_path / 'b.yaml').write_text(bad)
    both = muster('apply', '-f', tmp_path, code=1)
    assert both.stdout == 'configmap/kept created\n' and 'Nothing was stored' not in both.stderr
    muster('delete', 'cm', 'kept')


# logs


@pytest.mark.parametrize('more', [[], ['-f']], ids=['once', 'follow'])
def test_logs_of_a_container_that_does_not_exist(muster, more):
    if not muster('get', 'js', '-o', 'name').stdout.count('/boxed\n'):
        running(muster, 'boxed', 'echo up; sleep 1000')
    pod = muster('get', 'pods', '-l', LABEL + 'boxed', '-o', 'name').stdout.strip().split('/')[1]
    for words, owner in (['pod/' + pod], 'pod ' + pod), (['boxed'], 'jobset boxed'), (['-l', LABEL + 'boxed'], 'pod ' + pod):
        told = muster('logs', *words, '-c', 'foo', *more, code=1)
        assert told.stdout == '' and told.stderr == 'error: container foo is not valid for %s out of: main\n' % owner
    assert muster('logs', 'boxed', '-c', 'main').stdout == 'work-0-0 | up\n'


# get -w


def test_a_watch_takes_one_name(muster):
    assert '-w watches one object or all of a kind' in muster('get', 'cm', 'a', 'b', '-w', code=64).stderr


@pytest.mark.parametrize('form', [[], ['-o', 'name']], ids=['table', 'name'])
@pytest.mark.parametrize('status', [200, 410])
def test_the_fault_of_a_watch_is_told(tmp_path, form, status):
    fault = {'kind': 'Status', 'apiVersion': 'v1', 'status': 'Failure', 'reason': 'Expired', 'code': 410, 'message': 'too old resource version'}

    def answer(_, path, __):
        if 'watch=true' in path:
            asked.append(path)
            return (200, json.dumps({'type': 'ERROR', 'object': fault}) + '\n', {}) if status == 200 else (410, fault, {})
        return 200, {'kind': 'JobSet', 'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'metadata': {'name': 'a&b', 'resourceVersion': '1'}}, {}

    asked = []
    with stub_server(tmp_path, answer) as kubeconfig:
        told = alone('get', 'js', 'a&b', '-w', *form, '--kubeconfig', kubeconfig, code=1)
    assert told.stderr == 'error: too old resource version\n' and 'too old' not in told.stdout
    assert 'fieldSelector=metadata.name%3Da%26b&' in asked[0]


# submit


def test_submit_writes_down_where_it_runs(tmp_path):
    assert 'workingDir: %s\n' % os.getcwd() in alone('submit', '--print', '--', 'true').stdout
    assert 'workingDir: /srv\n' in alone('submit', '--print', '--chdir', '/srv', '--', 'true').stdout
    elsewhere = tmp_path / 'kubeconfig'
    elsewhere.write_text(json.dumps({'current-context': 'c', 'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'u'}}],
                                     'clusters': [{'name': 'c', 'cluster': {'server': 'https://192.0.2.1:6443'}}],
                                     'users': [{'name': 'u', 'user': {'token': 't'}}]}))
    assert 'workingDir' not in alone('submit', '--print', '--kubeconfig', elsewhere, '--', 'true').stdout


def test_submit_of_one_process_has_a_rank(muster, shared):
    name = muster('submit', '--', 'sh', '-c', 'echo $RANK of $WORLD_SIZE', cwd=shared).stdout.split('/')[1].strip()
    assert muster('attach', name).stdout == 'main-0-0 | 0 of 1\n'


if os.geteuid() == 0:       # pods of other users' servers see the machine's /tmp
    def test_a_folder_that_pods_do_not_see_is_pointed_out(muster, tmp_path):
        muster('submit', '--name', 'unseen', '--', 'true', cwd=tmp_path)
        assert 'chdir to "%s": no such file or directory; JobSets have a /tmp of their own here' % tmp_path in muster('attach', 'unseen', code=3).stderr
        muster('cancel', 'unseen')


@pytest.mark.parametrize('flag, number', [('--processes', '0'), ('--processes', '-3'), ('--processes', '1000000'), ('--processes', 'many'),
                                          ('--gpus', '-1'), ('--max-restarts', '-1')])
def test_submit_refuses_nonsense(flag, number):
    assert flag in alone('submit', '--print', flag, number, '--', 'true', code=64).stderr


def test_submit_to_a_queue_that_nobody_works_on(muster):
    assert 'no LocalQueue "night"' in muster('submit', '-q', 'night', '--', 'true', code=1).stderr
    muster('apply', '-f', '-', stdin='{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: night}, spec: {clusterQueue: c}}')
    assert 'no queue controller works here' in muster('submit', '-q', 'night', '--', 'true', code=1).stderr
    assert 'true-' not in muster('get', 'js', '-o', 'name').stdout
    assert 'kueue.x-k8s.io/queue-name: night' in alone('submit', '--print', '-q', 'night', '--', 'true').stdout


# Messages


def test_help_about_one_verb():
    assert alone('help', 'get').stdout == alone('get', '--help').stdout
    assert '--field-selector' in alone('help', 'get').stdout
    assert 'did you mean "get"?' in alone('help', 'gte', code=64).stderr


@pytest.mark.parametrize('word, verb', [('stop', 'cancel'), ('ps', 'get'), ('rm', 'delete'), ('up', 'run'), ('descibe', 'describe')])
def test_verbs_of_other_programs(word, verb):
    assert 'did you mean "%s"?' % verb in alone(word, code=64).stderr


def test_verbs_that_kubectl_has():
    assert '`kubectl exec`' in alone('exec', 'x', code=64).stderr
    assert '`kubectl -n team patch jobset train --type=merge ' in alone('-n', 'team', 'resume', 'train', code=64).stderr


def test_flags_that_a_verb_does_not_have():
    assert alone('run', '--time', '5', 'ddp.yaml', code=64).stderr == \
        'error: run has no flag --time; did you mean --timeout?\n  help: muster run --help\n'
    assert 'error: run has no flag -x\n' in alone('run', '-x', 'ddp.yaml', code=64).stderr
    assert 'error: run takes no further argument: b\n' in alone('run', 'a', 'b', code=64).stderr


def test_files_that_are_no_kubeconfig(tmp_path):
    for text, why in ('root:x:0:0\n', ''), ('', ''), ('a: [', ': yaml: '):
        (tmp_path / 'file').write_text(text)
        assert 'error: %s/file is no kubeconfig%s' % (tmp_path, why) in alone('get', 'js', '--kubeconfig', tmp_path / 'file', code=1).stderr
    assert 'is a folder' in alone('get', 'js', '--kubeconfig', tmp_path, code=1).stderr
    (tmp_path / 'file').write_text('contexts: []\n')
    assert 'no current-context' in alone('get', 'js', '--kubeconfig', tmp_path / 'file', code=1).stderr


def test_files_without_a_jobset(tmp_path):
    file = tmp_path / 'map.yaml'
    file.write_text(MAP % 'a')
    assert alone('graph', '-f', file, code=1).stderr == 'error: there is no JobSet in %s: it holds a ConfigMap\n' % file
    assert alone('run', file, code=1).stderr == \
        'error: there is no JobSet in %s: it holds a ConfigMap\n  help: muster apply -f FILE hands such to a server\n' % file


def test_a_bare_name_is_a_jobset(muster):
    muster('apply', '-f', '-', stdin=job_set('bare', 'true'))
    muster('wait', '--for=condition=Completed', 'bare', '--timeout=30s')
    assert 'Name:' in muster('describe', 'bare').stdout
    assert 'no JobSet "baer" in namespace default; did you mean "bare"?' in muster('describe', 'baer', code=1).stderr
    assert 'no JobSet "zzzz" in namespace default' in muster('describe', 'zzzz', code=1).stderr
    assert 'there is no kind "jobste"; did you mean "jobset"?' in muster('describe', 'jobste', code=1).stderr
    assert 'did you mean jobset/bare?' in muster('get', 'bare', code=1).stderr
    assert 'did you mean jobset/bare?\n  help: muster delete jobset bare ' in muster('delete', 'bare', code=1).stderr
    assert 'there is no kind "zzzz"\n  help: muster delete jobset zzzz ' in muster('delete', 'zzzz', code=1).stderr
    muster('delete', 'js', 'bare')


def test_apply_takes_a_file_without_a_flag(muster, tmp_path):
    file = tmp_path / 'map.yaml'
    file.write_text(MAP % 'plain-file')
    assert muster('apply', file).stdout == 'configmap/plain-file created\n'


def test_a_long_line_is_cut_around_its_fault(muster):
    data = {'k%d' % i: 'v' * 50 for i in range(500)}
    text = json.dumps({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'long', 'lables': {}}, 'data': data})
    error = muster('apply', '-f', '-', stdin=text, code=1).stderr
    assert 'did you mean "labels"?' in error and len(error) < 600, error
    assert len(muster('apply', '-f', '-', stdin=text[:-2], code=1).stderr) < 600


@pytest.mark.parametrize('number', ['0', '-1', '1001', 'x'])
def test_nodes_are_counted_from_one(number, tmp_path):
    assert '--nodes' in alone('serve', '--data-dir', tmp_path / 'd', '--nodes', number, code=64).stderr


def test_a_port_that_is_taken_has_a_holder(tmp_path):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        error = alone('serve', '--data-dir', tmp_path / 'd', '--listen', '127.0.0.1:%d' % taken.getsockname()[1], code=1).stderr
    assert re.search(r'port %d is taken by \S+ \(pid %d\)' % (taken_port(error), os.getpid()), error), error


def taken_port(error):
    return int(re.search(r'127\.0\.0\.1:(\d+)', error)[1])


# get, describe, wait like kubectl's


def test_get_shows_what_is_there_of_several(muster):
    muster('apply', '-f', '-', stdin=MAP % 'one-of-two')
    some = muster('get', 'cm', 'one-of-two', 'nothing-alike', code=1)
    assert 'one-of-two' in some.stdout and 'no ConfigMap "nothing-alike"' in some.stderr
    assert json.loads(muster('get', 'cm', 'one-of-two', 'nothing-alike', '-o', 'json', code=1).stdout)['items'][0]['metadata']['name'] == 'one-of-two'
    assert muster('get', 'cm', 'nothing-alike', '-o', 'name', code=1).stdout == ''
    assert 'configmap/one-of-two ' in muster('get', 'cm,sa').stdout
    assert muster('get', 'pods', '-o', 'json', '-l', 'no=such').stdout == kubectl_like_list()


def kubectl_like_list():
    return json.dumps({'apiVersion': 'v1', 'items': [], 'kind': 'List', 'metadata': {'resourceVersion': ''}}, indent=4) + '\n'


def test_flags_where_kubectl_takes_them(muster):
    muster('apply', '-n=default', '-f', '-', stdin=MAP % 'placed')
    assert muster('-n', 'default', 'get', 'cm', 'placed', '-o=name').stdout == 'configmap/placed\n'
    assert muster('-n=kube-system', 'get', 'cm', 'placed', code=1).stderr.startswith('error: no ConfigMap "placed" in namespace kube-system')
    keys = list(json.loads(muster('get', 'cm', 'placed', '-ojson').stdout))
    assert keys == sorted(keys)


def test_describe_by_labels(muster):
    muster('apply', '-f', '-', stdin='{apiVersion: v1, kind: ConfigMap, metadata: {name: told, labels: {tell: me}}}')
    assert 'Name:         told\n' in muster('describe', 'cm', '-l', 'tell=me').stdout
    assert muster('describe', 'cm', '-l', 'tell=nobody').stderr == 'No resources found in default namespace.\n'


def test_events_of_all_namespaces(muster):
    muster('apply', '-f', '-', stdin=job_set('eventful', 'true'))
    muster('wait', '--for=condition=Completed', 'eventful', '--timeout=30s')
    rows = blackbox.eventually(lambda: [row for row in muster('events', '-A').stdout.splitlines() if 'jobset/eventful' in row])
    assert rows[0].split()[0] == 'default'
    assert muster('events', '-A').stdout.startswith('NAMESPACE ') and muster('events').stdout.startswith('LAST SEEN ')


def test_watching_names(muster):
    muster('apply', '-f', '-', stdin='{apiVersion: v1, kind: ConfigMap, metadata: {name: seen, labels: {look: "1"}}}')
    with subprocess.Popen([os.environ['MUSTER'], 'get', 'cm', '-l', 'look=1', '-w', '-o', 'name'], env=muster.environment, text=True,
                          stdout=subprocess.PIPE) as watch:
        try:
            assert watch.stdout.readline() == 'configmap/seen\n'
            muster('apply', '-f', '-', stdin='{apiVersion: v1, kind: ConfigMap, metadata: {name: seen, labels: {look: "1"}}, data: {a: b}}')
            assert watch.stdout.readline() == 'configmap/seen\n'
        finally:
            watch.kill()


def test_get_refuses_contradictions(muster):
    muster('get', 'cm', 'x', '-l', 'a=b', code=64)
    muster('get', 'cm', 'x', '-A', code=64)
    assert muster('get', 'pv').stderr == 'No resources found\n'


def test_pods_of_one_that_had_the_name_before(muster):
    muster('apply', '-f', '-', stdin=job_set('again', 'true'))
    muster('wait', '--for=condition=Completed', 'again', '--timeout=30s')
    former = {'metadata': {'name': 'former', 'labels': {LABEL[:-1]: 'again', 'jobset.sigs.k8s.io/jobset-uid': 'another'}},
              'apiVersion': 'v1', 'kind': 'Pod', 'spec': {'containers': [{'name': 'main', 'image': 'none', 'command': ['true']}]}}
    muster('apply', '-f', '-', stdin=json.dumps(former))
    for verb in ('timeline', 'describe', 'logs'):
        text = muster(verb, 'again').stdout
        assert 'former' not in text, text
    assert 'work-0-0' in muster('timeline', 'again').stdout and 'work-0-0' in muster('describe', 'again').stdout
    muster('delete', 'pod', 'former', '--now')


def test_timeline_tells_what_it_could_not_read(tmp_path):
    def answer(_, path, __):
        if '/jobsets/x' in path:
            return 200, {'kind': 'JobSet', 'metadata': {'name': 'x', 'uid': 'u'}}, {}
        if '/events' in path:
            return 403, {'kind': 'Status', 'status': 'Failure', 'reason': 'Forbidden', 'code': 403, 'message': 'events are not for you'}, {}
        return 200, {'kind': 'List', 'metadata': {'resourceVersion': '1'}, 'items': []}, {}

    with stub_server(tmp_path, answer) as kubeconfig:
        told = alone('timeline', 'x', '--kubeconfig', kubeconfig, code=1)
    assert told.stdout == '' and 'events are not for you' in told.stderr


def test_labels_are_a_column(muster):
    muster('apply', '-f', '-', stdin='{apiVersion: v1, kind: ConfigMap, metadata: {name: marked, labels: {a: b}}}')
    assert re.search(r'LABELS\nmarked +\d+ +\w+ +a=b\n', muster('get', 'cm', 'marked', '--show-labels').stdout)


def test_wait_for_nothing(muster):
    assert 'no matching resources found' in muster('wait', '--for=condition=Ready', 'pods', '-l', 'no=such', code=1).stderr
    muster('wait', '--for=delete', 'pods', '-l', 'no=such')
    muster('apply', '-f', '-', stdin=MAP % 'waited')
    assert muster('wait', '--for=jsonpath={.metadata.name}=waited', 'cm/waited').stdout == 'configmap/waited condition met\n'


# Kinds by discovery


CRON_TABS = {'metadata': {'name': 'stable.example.com'}, 'versions': [{'version': 'v1', 'resources': [{
    'resource': 'crontabs', 'singularResource': 'crontab', 'scope': 'Namespaced', 'shortNames': ['ct'], 'verbs': ['get', 'list'],
    'responseKind': {'group': 'stable.example.com', 'version': 'v1', 'kind': 'CronTab'}}]}]}
TABLE = {'kind': 'Table', 'apiVersion': 'meta.k8s.io/v1', 'metadata': {},
         'columnDefinitions': [{'name': 'Name', 'type': 'string', 'format': 'name'}, {'name': 'Spec', 'type': 'string'}],
         'rows': [{'cells': ['nightly', '0 3 * * *'], 'object': {'metadata': {'name': 'nightly'}}}]}


@pytest.fixture
def vendor(tmp_path):
    """A server with a kind that muster has never heard of; yields the flags that name it and what it was asked."""
    asked = []
    answers = {'/apis': {'kind': 'APIGroupDiscoveryList', 'items': [CRON_TABS]},
               '/apis/stable.example.com/v1/namespaces/default/crontabs': TABLE,
               '/api/v1/namespaces/default/pods': {**TABLE, 'rows': []}}

    def answer(_, path, __):
        asked.append(path)
        return (200, answers[path], {}) if path in answers else (404, '404 page not found\n', {'Content-Type': 'text/plain'})

    with stub_server(tmp_path, answer) as kubeconfig:
        yield ['--kubeconfig', kubeconfig], asked


def test_kinds_of_other_vendors(vendor):
    flags, asked = vendor
    for word in ('ct', 'crontab', 'crontabs.stable.example.com'):
        assert alone('get', word, *flags).stdout == 'NAME      SPEC\nnightly   0 3 * * *\n'
    assert asked.count('/apis') == 3
    assert 'did you mean "crontabs"?' in alone('get', 'crontbas', *flags, code=1).stderr


def test_discovery_is_not_asked_for_what_all_servers_have(vendor):
    flags, asked = vendor
    alone('get', 'pods', *flags)
    assert asked == ['/api/v1/namespaces/default/pods']


@pytest.mark.parametrize('words', [['get', 'js'], ['get', 'js', 'x'], ['describe', 'js', 'x'], ['top', '--once'], ['submit', '--', 'true']], ids=' '.join)
def test_a_server_without_jobsets(vendor, words):
    assert 'this server has no jobsets.jobset.x-k8s.io; `muster install --print`' in alone(words[0], *vendor[0], *words[1:], code=1).stderr


def test_top_can_be_stopped_while_it_waits(tmp_path):
    waits = threading.Event()

    def answer(_, path, __):
        if '/pods' not in path:
            return 200, {'kind': 'List', 'metadata': {'resourceVersion': '1'}, 'items': []}, {}
        waits.set()
        return 500, 'not yet', {}

    with stub_server(tmp_path, answer) as kubeconfig:
        with subprocess.Popen([os.environ['MUSTER'], 'top', '--once', '--kubeconfig', kubeconfig], stdout=subprocess.DEVNULL) as top:
            assert waits.wait(30)
            top.send_signal(signal.SIGTERM)
            assert top.wait(10) == 128 + signal.SIGTERM
