"""Makes manifests usable by a controller that runs beside the cluster rather than in it.

    kubectl kustomize DIR | webhooks_by_url.py CA_FILE PORT [NAME,...]

Keeps definitions and webhook configurations; webhooks are asked at a port of loopback instead of a Service. With names (`job`: mjob.kb.io and
vjob.kb.io) only these webhooks: one for a kind that nobody serves would refuse its objects.
"""
import base64
import pathlib
import sys

import yaml

KEPT = ('Namespace', 'CustomResourceDefinition', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration')


def client_configs(item):
    """Every place where the manifest says how a webhook is reached."""
    for webhook in item.get('webhooks', []):
        yield webhook['clientConfig']
    conversion = item.get('spec', {}).get('conversion', {})
    if 'webhook' in conversion:
        yield conversion['webhook']['clientConfig']


def wanted(webhook, names):
    return not names or webhook['name'].split('.')[0][1:] in names


def drop_idle_conversion(item):
    """A definition of one version has nothing to convert, so nobody needs to answer for it."""
    spec = item.get('spec', {})
    if 'conversion' in spec and len(spec['versions']) == 1:
        del spec['conversion']


def main(ca_file, port, names=''):
    names = set(filter(None, names.split(',')))
    authority = base64.b64encode(pathlib.Path(ca_file).read_bytes()).decode()
    kept = [item for item in yaml.safe_load_all(sys.stdin) if item and item['kind'] in KEPT]
    for item in kept:
        drop_idle_conversion(item)
        if 'webhooks' in item:
            item['webhooks'] = [webhook for webhook in item['webhooks'] if wanted(webhook, names)]
        for config in client_configs(item):
            path = config.pop('service')['path']
            config.update(url='https://127.0.0.1:%s%s' % (port, path), caBundle=authority)
    yaml.safe_dump_all(kept, sys.stdout, sort_keys=False)


main(*sys.argv[1:])
