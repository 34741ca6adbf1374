"""`muster operator` on a real Kubernetes: its own Job controller, scheduler and garbage collector, with kwok as the nodes."""
import json
import os
import subprocess

import pytest

import blackbox
from cluster import Cluster, Operator

NODES = 3
LEASE = ('lease', '6d4f6a47.jobset.x-k8s.io', '-n', 'jobset-system')
EXCLUSIVE = 'alpha.jobset.sigs.k8s.io/exclusive-topology'


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp('operator'), NODES) as made:
        yield made


@pytest.fixture(scope='module')
def operator(cluster):
    cluster.install()
    made = Operator(cluster).wait_until_ready()
    yield made
    if made.process.poll() is None:
        made.stop()


def kubectl(cluster, *arguments):
    return blackbox.kubectl(cluster, *arguments)


def refusal(cluster, *arguments):
    """What kubectl says when the request is refused."""
    program = os.path.join(os.environ['KUBERNETES_BIN'], 'kubectl')
    done = subprocess.run([program, *arguments], env=blackbox.environment(cluster.kubeconfig, cluster.folder), text=True,
                          capture_output=True, timeout=120)
    assert done.returncode != 0, 'kubectl %s was not refused' % ' '.join(arguments)
    return done.stderr


def get(cluster, *arguments):
    return json.loads(kubectl(cluster, 'get', '-o', 'json', *arguments))


def job_set(name, replicas=1, pods=1, annotations=None, pod_spec=None, **spec):
    pod = {'restartPolicy': 'Never', 'containers': [{'name': 'main', 'image': 'fake'}], **(pod_spec or {})}
    job = {'spec': {'parallelism': pods, 'completions': pods, 'backoffLimit': 0, 'template': {'spec': pod}}}
    return {'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind': 'JobSet', 'metadata': {'name': name, 'annotations': annotations or {}},
            'spec': {'replicatedJobs': [{'name': 'w', 'replicas': replicas, 'template': job}], **spec}}


def file_with(cluster, item):
    path = cluster.folder / 'object.json'
    path.write_text(json.dumps(item))
    return str(path)


def create(cluster, item):
    kubectl(cluster, 'create', '-f', file_with(cluster, item))


def pods_of(cluster, name):
    return get(cluster, 'pods', '-l', 'jobset.sigs.k8s.io/jobset-name=' + name)['items']


def end_pods(cluster, name, phase):
    for pod in pods_of(cluster, name):
        kubectl(cluster, 'patch', 'pod', pod['metadata']['name'], '--subresource=status', '--type=merge', '-p',
                json.dumps({'status': {'phase': phase}}))


def test_before_it_is_installed_it_says_what_is_missing(cluster):
    early = Operator(cluster, '--no-leader-elect')
    try:
        wanted = 'does not know this resource: is its definition installed? resource=jobsets.jobset.x-k8s.io'
        blackbox.eventually(lambda: wanted in early.log.read_text())
    finally:
        early.stop()


def test_the_manifests_apply_cleanly_and_again(cluster):
    cluster.install()
    definition = get(cluster, 'crd', 'jobsets.jobset.x-k8s.io')
    conditions = {c['type']: c['status'] for c in definition['status']['conditions']}
    assert conditions['Established'] == 'True' and 'NonStructuralSchema' not in conditions
    cluster.install()
    assert get(cluster, 'crd', 'jobsets.jobset.x-k8s.io')['metadata']['generation'] == definition['metadata']['generation']


def test_it_is_alive_ready_and_leads(cluster, operator):
    assert operator.get('/healthz') == (200, 'ok')
    blackbox.eventually(lambda: get(cluster, *LEASE)['spec'].get('holderIdentity'))
    assert 'muster_webhook_requests_total' in operator.get('/metrics')[1]
    assert operator.get('/else')[0] == 404


def test_a_jobset_is_defaulted(cluster, operator):
    create(cluster, job_set('defaulted', suspend=True, failurePolicy={'maxRestarts': 1, 'rules': [{'action': 'FailJobSet'}]}))
    spec = get(cluster, 'jobset', 'defaulted')['spec']
    assert spec['successPolicy'] == {'operator': 'All'}
    assert spec['startupPolicy'] == {'startupPolicyOrder': 'AnyOrder'}
    assert spec['network'] == {'enableDNSHostnames': True, 'publishNotReadyAddresses': True}
    assert spec['failurePolicy']['rules'][0]['name'] == 'failurePolicyRule0'
    assert spec['failurePolicy']['restartStrategy'] == 'Recreate'
    assert spec['replicatedJobs'][0]['template']['spec']['completionMode'] == 'Indexed'
    assert spec['replicatedJobs'][0]['groupName'] == 'default'


def test_new_fields_are_not_pruned(cluster, operator):
    create(cluster, job_set('gang', suspend=True, gangConfig={'gangMode': 'Gang'}))
    assert get(cluster, 'jobset', 'gang')['spec']['gangConfig'] == {'gangMode': 'Gang'}


def test_faults_are_told_by_the_webhook(cluster, operator):
    wrong = job_set('wrong', successPolicy={'operator': 'All', 'targetReplicatedJobs': ['none']})
    said = refusal(cluster, 'create', '-f', file_with(cluster, wrong))
    assert 'The JobSet "wrong" is invalid: spec.successPolicy.targetReplicatedJobs[0]' in said
    assert "invalid replicatedJob name 'none' does not appear in .spec.ReplicatedJobs" in said


def test_faults_are_told_by_the_definition(cluster, operator):
    both = job_set('both', startupPolicy={'startupPolicyOrder': 'InOrder'})
    both['spec']['replicatedJobs'].append({**both['spec']['replicatedJobs'][0], 'name': 'x',
                                           'dependsOn': [{'name': 'w', 'status': 'Ready'}]})
    assert 'StartupPolicy and DependsOn APIs are mutually exclusive' in refusal(cluster, 'create', '-f', file_with(cluster, both))


def test_what_is_immutable_stays(cluster, operator):
    change = json.dumps([{'op': 'replace', 'path': '/spec/replicatedJobs/0/replicas', 'value': 7}])
    said = refusal(cluster, 'patch', 'jobset', 'defaulted', '--type=json', '-p', change)
    assert 'spec.replicatedJobs: Invalid value' in said and 'field is immutable' in said


def test_a_jobset_runs_and_completes(cluster, operator):
    create(cluster, job_set('good', replicas=2, pods=2))
    status = lambda: get(cluster, 'jobset', 'good').get('status', {}).get('replicatedJobsStatus', [{}])[0]
    blackbox.eventually(lambda: status().get('ready') == 2)
    jobs = get(cluster, 'jobs', '-l', 'jobset.sigs.k8s.io/jobset-name=good')['items']
    assert sorted(job['metadata']['name'] for job in jobs) == ['good-w-0', 'good-w-1']
    assert get(cluster, 'service', 'good')['spec']['clusterIP'] == 'None'
    end_pods(cluster, 'good', 'Succeeded')
    kubectl(cluster, 'wait', 'jobset/good', '--for=condition=Completed', '--timeout=60s')
    assert get(cluster, 'jobset', 'good')['status']['terminalState'] == 'Completed'


def test_a_failed_job_restarts_the_set(cluster, operator):
    create(cluster, job_set('bad', failurePolicy={'maxRestarts': 1}))
    attempt = lambda pod: pod['metadata']['labels']['jobset.sigs.k8s.io/restart-attempt']
    for number in ('0', '1'):
        blackbox.eventually(lambda: [p['status']['phase'] for p in pods_of(cluster, 'bad') if attempt(p) == number] == ['Running'])
        end_pods(cluster, 'bad', 'Failed')
    kubectl(cluster, 'wait', 'jobset/bad', '--for=condition=Failed', '--timeout=60s')
    status = get(cluster, 'jobset', 'bad')['status']
    assert (status['restarts'], status['terminalState']) == (1, 'Failed')


def test_a_job_has_a_node_for_itself(cluster, operator):
    create(cluster, job_set('apart', replicas=2, pods=2, annotations={EXCLUSIVE: 'kubernetes.io/hostname'}))
    running = lambda: [p for p in pods_of(cluster, 'apart') if p['status']['phase'] == 'Running']
    blackbox.eventually(lambda: len(running()) == 4, seconds=120)
    nodes = {}
    for pod in running():
        nodes.setdefault(pod['metadata']['labels']['jobset.sigs.k8s.io/job-index'], set()).add(pod['spec']['nodeName'])
    assert {len(each) for each in nodes.values()} == {1}
    assert nodes['0'] != nodes['1']


def test_what_is_deleted_is_gone(cluster, operator):
    kubectl(cluster, 'delete', 'jobset', 'apart', '--timeout=110s')
    # The garbage collector looks for new kinds every 30 s only.
    blackbox.eventually(lambda: not get(cluster, 'jobs', '-l', 'jobset.sigs.k8s.io/jobset-name=apart')['items'], seconds=120)


def test_another_takes_over_at_once(cluster, operator):
    operator.stop()
    assert not get(cluster, *LEASE)['spec'].get('holderIdentity')
    # While nobody answers, JobSets are refused and everybody else's pods are not.
    assert 'failed calling webhook' in refusal(cluster, 'create', '-f', file_with(cluster, job_set('early')))
    kubectl(cluster, 'run', 'bystander', '--image=fake', '--restart=Never')
    second = Operator(cluster).wait_until_ready()
    try:
        create(cluster, job_set('later'))
        blackbox.eventually(lambda: get(cluster, 'jobs', '-l', 'jobset.sigs.k8s.io/jobset-name=later')['items'])
    finally:
        second.stop()
