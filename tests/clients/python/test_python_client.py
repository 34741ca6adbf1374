"""The official Python client against muster: what scripts and notebooks do."""
import json
import threading
import time

import pytest
from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

import blackbox

JOBSET = {'group': 'jobset.x-k8s.io', 'version': 'v1alpha2', 'plural': 'jobsets'}
TEMPLATE = {'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'main', 'image': 'process', 'command': ['true']}]}}


@pytest.fixture(scope='module')
def api(tmp_path_factory):
    with blackbox.Muster(tmp_path_factory.mktemp('python'), '*,-agent') as server:
        yield config.new_client_from_config(str(server.kubeconfig))


@pytest.fixture
def core(api):
    return client.CoreV1Api(api)


@pytest.fixture
def namespace(core):
    made = core.create_namespace({'metadata': {'generateName': 'python-'}})
    yield made.metadata.name
    core.delete_namespace(made.metadata.name)


def config_map(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data)


def test_config_map_lives(core, namespace):
    made = core.create_namespaced_config_map(namespace, config_map('a', k='v'))
    assert made.metadata.uid and made.data == {'k': 'v'}
    assert core.read_namespaced_config_map('a', namespace) == made

    patched = core.patch_namespaced_config_map('a', namespace, {'data': {'l': 'w', 'k': None}})
    assert patched.data == {'l': 'w'}

    patched.data['m'] = 'x'
    replaced = core.replace_namespaced_config_map('a', namespace, patched)
    assert replaced.data == {'l': 'w', 'm': 'x'}

    core.delete_namespaced_config_map('a', namespace)
    with pytest.raises(ApiException) as gone:
        core.read_namespaced_config_map('a', namespace)
    assert gone.value.status == 404


def test_json_patch(core, namespace):
    core.create_namespaced_config_map(namespace, config_map('a', k='v'))
    patched = core.patch_namespaced_config_map('a', namespace, [{'op': 'replace', 'path': '/data/k', 'value': 'new'}])
    assert patched.data == {'k': 'new'}


def test_errors_have_a_status(core, namespace):
    core.create_namespaced_config_map(namespace, config_map('a'))
    for call, code, reason in [
            (lambda: core.create_namespaced_config_map(namespace, config_map('a')), 409, 'AlreadyExists'),
            (lambda: core.read_namespaced_config_map('absent', namespace), 404, 'NotFound'),
            (lambda: core.create_namespaced_config_map(namespace, config_map('Not_A_Name')), 422, 'Invalid'),
            (lambda: core.list_namespaced_config_map(namespace, label_selector='a in (b'), 400, 'BadRequest')]:
        with pytest.raises(ApiException) as raised:
            call()
        status = json.loads(raised.value.body)
        assert (raised.value.status, status['kind'], status['code'], status['reason']) == (code, 'Status', code, reason)


def test_an_old_version_is_a_conflict(core, namespace):
    old = core.create_namespaced_config_map(namespace, config_map('a', k='v'))
    core.patch_namespaced_config_map('a', namespace, {'data': {'k': 'new'}})
    with pytest.raises(ApiException) as raised:
        core.replace_namespaced_config_map('a', namespace, old)
    assert raised.value.status == 409


def test_pages_hold_everything_once(core, namespace):
    wanted = ['page-%02d' % i for i in range(25)]
    for name in wanted:
        core.create_namespaced_config_map(namespace, config_map(name))
    names, token = [], None
    while token != '':
        page = core.list_namespaced_config_map(namespace, limit=10, _continue=token)
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ''
    assert [name for name in names if name.startswith('page-')] == wanted


def test_watch_sees_changes_in_order(core, namespace):
    version = core.list_namespaced_config_map(namespace).metadata.resource_version

    def change():
        core.create_namespaced_config_map(namespace, config_map('a', k='v'))
        core.patch_namespaced_config_map('a', namespace, {'data': {'k': 'new'}})
        core.delete_namespaced_config_map('a', namespace)
    changing = threading.Thread(target=change)
    changing.start()
    seen = []
    for event in watch.Watch().stream(core.list_namespaced_config_map, namespace, resource_version=version,
                                      field_selector='metadata.name=a', timeout_seconds=60):
        seen.append((event['type'], event['object'].data))
        if event['type'] == 'DELETED':
            break
    changing.join()
    assert seen == [('ADDED', {'k': 'v'}), ('MODIFIED', {'k': 'new'}), ('DELETED', {'k': 'new'})]


def test_server_side_apply(api, namespace):
    maps = dynamic.DynamicClient(api).resources.get(api_version='v1', kind='ConfigMap')

    def apply(manager, value, **options):
        body = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'a'}, 'data': {'k': value}}
        return maps.server_side_apply(namespace=namespace, name='a', body=body, field_manager=manager, **options)
    assert apply('one', 'v').data.k == 'v'
    with pytest.raises(ApiException) as conflict:
        apply('two', 'w')
    assert conflict.value.status == 409
    assert apply('two', 'w', force_conflicts=True).data.k == 'w'


def test_pod_and_its_status(core, namespace):
    pod = core.create_namespaced_pod(namespace, {'metadata': {'name': 'p', 'labels': {'app': 'x'}}, **TEMPLATE})
    assert pod.spec.containers[0].image_pull_policy == 'Always' and pod.status.phase == 'Pending'
    core.patch_namespaced_pod_status('p', namespace, {'status': {'phase': 'Succeeded'}})
    found = core.list_namespaced_pod(namespace, label_selector='app=x', field_selector='status.phase=Succeeded').items
    assert [p.metadata.name for p in found] == ['p']
    core.delete_namespaced_pod('p', namespace, grace_period_seconds=0)


def succeed(core, namespace, count):
    """Reports all pods as done, as a kubelet would, once there are that many."""
    def pods():
        return core.list_namespaced_pod(namespace).items
    blackbox.eventually(lambda: len(pods()) == count)
    for pod in pods():
        core.patch_namespaced_pod_status(pod.metadata.name, namespace, {'status': {'phase': 'Succeeded'}})


def test_job_completes(api, core, namespace):
    jobs = client.BatchV1Api(api)
    jobs.create_namespaced_job(namespace, {'metadata': {'name': 'j'}, 'spec': {'completions': 2, 'parallelism': 2, 'template': TEMPLATE}})
    succeed(core, namespace, 2)
    blackbox.eventually(lambda: jobs.read_namespaced_job('j', namespace).status.completion_time)
    job = jobs.read_namespaced_job('j', namespace)
    assert job.status.succeeded == 2
    assert [c.type for c in job.status.conditions if c.status == 'True'] == ['SuccessCriteriaMet', 'Complete']
    jobs.delete_namespaced_job('j', namespace, propagation_policy='Background')


def test_jobset_completes(api, core, namespace):
    sets = client.CustomObjectsApi(api)
    replicated = {'name': 'workers', 'replicas': 2, 'template': {'spec': {'completions': 1, 'parallelism': 1, 'template': TEMPLATE}}}
    body = {'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind': 'JobSet', 'metadata': {'name': 'js'}, 'spec': {'replicatedJobs': [replicated]}}
    sets.create_namespaced_custom_object(namespace=namespace, body=body, **JOBSET)
    sets.patch_namespaced_custom_object(namespace=namespace, name='js', body={'metadata': {'labels': {'x': 'y'}}}, **JOBSET)
    succeed(core, namespace, 2)

    def state():
        js = sets.get_namespaced_custom_object(namespace=namespace, name='js', **JOBSET)
        return js.get('status', {}).get('terminalState')
    blackbox.eventually(state)
    assert state() == 'Completed'
    listed = sets.list_namespaced_custom_object(namespace=namespace, label_selector='x=y', **JOBSET)
    assert [item['metadata']['name'] for item in listed['items']] == ['js']
    sets.delete_namespaced_custom_object(namespace=namespace, name='js', **JOBSET)


def test_watch_ends_when_asked(core, namespace):
    began = time.monotonic()
    events = list(watch.Watch().stream(core.list_namespaced_secret, namespace, timeout_seconds=1))
    assert events == [] and time.monotonic() - began < 30
