"""Makes manifests usable by a controller that runs beside the cluster rather than in it.

    kubectl kustomize DIR | webhooks_by_url.py CA_FILE PORT

Keeps definitions and webhook configurations; webhooks are asked at a port of loopback instead of a Service.
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


def main(ca_file, port):
    authority = base64.b64encode(pathlib.Path(ca_file).read_bytes()).decode()
    kept = [item for item in yaml.safe_load_all(sys.stdin) if item and item['kind'] in KEPT]
    for item in kept:
        for config in client_configs(item):
            path = config.pop('service')['path']
            config.update(url='https://127.0.0.1:%s%s' % (port, path), caBundle=authority)
    yaml.safe_dump_all(kept, sys.stdout, sort_keys=False)


main(*sys.argv[1:])
