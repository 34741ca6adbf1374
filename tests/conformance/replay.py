#!/usr/bin/env python3
"""Replay recorded wire-corpus cases against a Kubernetes-compatible API server and report every difference.

  replay.py --server https://127.0.0.1:PORT [--ca F] [--cert F --key F | --token T] [--kubeconfig F] [--subset] [-v]
            [--alice-cert F --alice-key F | --alice-token T] [--skip-users] [--action CMD] [--ignore GLOB]... [case.json...]
Without case files all recorded cases run, in the order of recording. One line is printed per step that differs, then
'cases N, steps M: K passed, L failed, S skipped'. The exit status is 1 if any step failed.
Server needed: a fresh store for each run, RBAC with anonymous requests allowed, admin a certificate user in system:masters,
no controllers, gates GenericWorkload, GangScheduling, WorkloadAwarePreemption, TopologyAwareWorkloadScheduling, runtime
config api/all=true, service account issuer https://kubernetes.default.svc. Skipped are: steps of alice without her
credentials, the webhook case without an openssl program, steps after an action by hand (compact the store, restart the
server) unless --action gives a shell command that does it ($ACTION says what).
--ignore: a glob on the path of a difference (body.metadata.managedFields.*; with token users '*.userInfo.*' is needed), or on
case#step:path. --subset: the server may add fields; what was recorded must be there with equal values.

Compared are status, the recorded headers (others are ignored, but a Warning that was not recorded is a difference), the
body field by field with lists in order, the events of streams, the reviews sent to webhooks.
<uid-n> and <generated-n> must be equal for equal n and differ for different n, <rv-n> be equal for equal n and ordered by
n; the other placeholders must have their form. Tolerated, as recordings vary there or show the machine:
 1. resourceVersion of lists, Tables, bookmarks and in messages may be later, in order (the server itself writes, too).
 2. Periodic bookmarks may be missing, or come where they were asked for. The one after the initial events must be there.
 3. Cells of Tables that hold an age: any age.
 4. Messages that quote Go types or whole objects: any text; reason, details and the causes' fields must be equal.
 5. The order of causes of refused custom resources (and in their message) and of access rules; which binding a reason names.
 6. Protobuf is compared field by field; uids, decimal strings (versions) and times need only the form.
 7. Answers cut according to their note (or the case's text) may have further elements and fields; literal Etags: any.
 8. Build facts in /version; credential ids after the '='.
 9. The order of managedFields as far as time decides it: they must be sorted by operation, time, manager (seen in case 22).
-v shows each difference on its own line, what was skipped, what rules 4 and 5 let pass.
Checked on kube-apiserver v1.36.3 with certificates for admin and alice and an --action: no step differs.
"""
import argparse, base64, collections, concurrent.futures, fnmatch, glob, http.client, http.server, json, os, re, socket
import ssl, subprocess, sys, tempfile, threading, time, urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, 'wire-corpus')                              # bodyFile paths start here
HOST, TIME, FIVE = r'[\w.:\[\]-]+', r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d', r'[a-z0-9]{5}'
FORM = {
    'uid': r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'rv': r'\d+', 'continue': r'[\w\-+/=.]+', 'generated': FIVE,
    'random': FIVE, 'time': TIME + 'Z', 'microtime': TIME + r'\.\d{6}Z', 'age': r'(?:\d+[smhdy])+|<unknown>|<invalid>',
    'clusterIP': r'[0-9a-f.:]+', 'token': r'[\w\-]+\.[\w\-]+\.[\w\-]+', 'hash': r'[0-9A-Fa-f]+', 'etag': r'(?:W/)?"[^"]+"',
    'text': r'.*', 'diff': r'.*', 'webhook-host': HOST, 'closed-host': HOST, 'server-host': HOST, 'caBundle': r'[\w+/=]+'}
PLACEHOLDER = re.compile('<((?:%s)(?:-[0-9]+)?)>' % '|'.join(FORM))
OURS = ('webhook-host', 'closed-host', 'caBundle')                      # known before the first request
QUOTES_GO = re.compile(r'\b[a-z]\w*\.[A-Z]\w+|Go (?:struct field|value)|\bmap\[|\[\]string\{|Invalid value: "?\[?\{')
TAKES_TIME = re.compile(r'/(customresourcedef|\w+webhookconfig|(cluster)?role|priorityclass|limitrange|resourcequota)')
ABSENT = type('Absent', (), {'__repr__': lambda self: '(absent)'})()


class Values:
    """What the placeholders of one case stand for."""

    def __init__(self, fixed):
        self.bound, self.bodies = dict(fixed), {}       # name -> value; recorded base64 -> bytes read
        self.span, self.seen = {}, set()                # n of <rv-n> -> lowest and highest seen; all versions seen

    def bind(self, name, value, loose):
        """Takes note of a value; returns a sentence if it contradicts what is known."""
        kind, _, n = name.partition('-')
        if name in OURS or n.isdigit() and not (kind == 'rv' and loose):
            if self.bound.setdefault(name, value) != value:
                return '<%s> was %s' % (name, self.bound[name])
            twins = [k for k, v in self.bound.items() if v == value and k.partition('-')[0] == kind != 'continue' and k != name]
            return '<%s> equals <%s>' % (name, twins[0]) if twins else self.order(n, value) if kind == 'rv' else None
        if kind == 'rv' and n:
            return self.order(n, value)
        self.bound[name] = value

    def order(self, n, value):
        n, v = int(n), int(value)
        low, high = self.span.get(n, (v, v))
        self.span[n] = min(low, v), max(high, v)
        for m, (low, high) in self.span.items():
            if m < n and high >= v or m > n and low <= v or m == n and v < int(self.bound.get('rv-%d' % n, v)):
                return 'out of order with <rv-%d>, %d..%d' % (m, low, high)

    def lookup(self, name):
        if name.startswith('rv-') and name not in self.bound:
            n = int(name[3:])
            fit = [v for v in self.seen if all(v < s[0] if m > n else v > s[1] for m, s in self.span.items() if m != n)]
            if n in self.span or fit:       # a list's version, or one from an answer that was not recorded
                return str(self.span[n][1] if n in self.span else max(fit))
        return self.bound[name]

    def fill(self, text, quote=str):
        return PLACEHOLDER.sub(lambda m: quote(self.lookup(m[1])), text)


class Comparer:
    """Collects the differences of one step as (path, expected, got)."""

    def __init__(self, values, path, note, cut, subset):
        self.values, self.path, self.note, self.cut, self.subset = values, path, note, cut, subset or cut
        self.custom = re.match(r'/apis/(?![^/]*\.k8s\.io/)[^/]*\.', path)
        self.diffs, self.tolerated = [], []
        self.add = lambda path, expected, got: self.diffs.append((path, expected, got))

    def text(self, e, g, path, loose=False):
        parts = PLACEHOLDER.split(e)
        names, parts[::2] = parts[1::2], map(re.escape, parts[::2])
        parts[1::2] = ['(%s)' % (FORM.get(x) or FORM[x.partition('-')[0]]) for x in names]
        match = re.fullmatch(''.join(parts), g, re.S)
        if not match:
            return self.excused(e, g, path) or self.add(path, e, g)
        for name, value in zip(names, match.groups()):
            trouble = self.values.bind(name, value, loose or path.endswith('message'))
            if trouble:
                self.add(path, e, '%s (%s)' % (g, trouble))

    def excused(self, e, g, path):
        """Rules 3, 4, 5 and 8."""
        last = path.rpartition('.')[2]
        if re.search(r'\.rows\.\d+\.cells\.\d+$', path):
            return re.fullmatch(FORM['age'], e) and re.fullmatch(FORM['age'], g)
        if 'credential-id' in path:
            return '=' in e and e.partition('=')[0] == g.partition('=')[0]
        same_words = self.custom and sorted(re.split(r'[\[\], ]+', e)) == sorted(re.split(r'[\[\], ]+', g))
        by_rbac = e[:17] == g[:17] == 'RBAC: allowed by '
        if last == 'message' and g and (QUOTES_GO.search(e) or same_words) or path == 'body.status.reason' and by_rbac:
            self.tolerated.append((path, e, g))
            return True
        return self.path == '/version' and last in ('gitCommit', 'gitTreeState', 'goVersion', 'compiler', 'platform')

    def diff(self, e, g, path, loose=False):
        if e in ('<trimmed>', '<cut>'):
            return
        if self.cut and type(e) is int and isinstance(g, list):         # rows cut to their number
            g = len(g)
        if isinstance(e, str) and isinstance(g, str):
            self.text(e, g, path, loose)
        elif isinstance(e, dict) and isinstance(g, dict):
            for k, v in e.items():
                is_list = k == 'metadata' and (loose or str(e.get('kind')).endswith(('List', 'Table')))
                self.diff(v, g.get(k, ABSENT), '%s.%s' % (path, k), is_list or loose and k == 'resourceVersion')
            for k in g if not self.subset else ():
                k in e or self.add('%s.%s' % (path, k), ABSENT, g[k])
        elif isinstance(e, list) and isinstance(g, list):
            self.elements(e, g, path)
        elif type(e) is not type(g) or e != g:
            self.add(path, e, g)

    def elements(self, e, g, path):
        if path.endswith('.managedFields'):
            order = lambda x, *time: [x.get(k, '') for k in ('operation', *time, 'manager', 'apiVersion', 'subresource')]
            if g != sorted(g, key=lambda x: order(x, 'time')):
                self.add(path, 'sorted by operation, time, manager', [order(x, 'time') for x in g])
            e, g = sorted(e, key=order), sorted(g, key=order)
        if path.endswith('.causes') and self.custom or path.endswith(('.resourceRules', '.nonResourceRules')):
            e, g = (sorted(x, key=lambda y: json.dumps(y, sort_keys=True)) for x in (e, g))
        if self.cut:
            rest = iter(g)
            g = [y for x in e for y in [next((y for y in rest if ident(y) == ident(x)), ABSENT)] if y is not ABSENT]
        if len(e) != len(g):
            self.add(path, '%d: %s' % (len(e), [ident(x) for x in e]), '%d: %s' % (len(g), [ident(x) for x in g]))
        for i, (x, y) in enumerate(zip(e, g)):
            self.diff(x, y, '%s.%d' % (path, i))

    def stream(self, e, g):
        periodic = lambda x: x.get('type') == 'BOOKMARK' and 'k8s.io/initial-events-end' not in json.dumps(x)
        e = [x for x in e if not periodic(x)]
        g = [x for x in g if not periodic(x) or 'allowWatchBookmarks=true' not in self.path]
        self.diff([x['type'] for x in e], [x.get('type', ABSENT) for x in g], 'stream.types')
        for i, (x, y) in enumerate(zip(e, g)):
            self.diff(x['object'], y.get('object', ABSENT), 'stream.%d.object' % i, x['type'] == 'BOOKMARK')


def tree(b):
    """A protobuf message as nested lists, read without knowing its type; what varies is replaced (rule 6)."""
    if b.isdigit() or re.fullmatch(FORM['uid'].encode(), b):
        return 'version' if b.isdigit() else 'uid'
    i, out = 4 * b.startswith(b'k8s\0'), []

    def varint():
        nonlocal i
        i, value = i + 1, b[i] & 127
        return value | varint() << 7 if b[i - 1] > 127 else value
    try:
        while i < len(b):
            tag, value = varint(), varint()
            if tag & 7 == 2 and i + value <= len(b):
                value, i = tree(b[i:i + value]), i + value
            elif tag & 7 or not tag:
                return repr(b)
            out.append([tag, 'time' if isinstance(value, int) and value > 1500000000 else value])
    except IndexError:
        return repr(b)
    return out


def ident(x):
    """What names a list element."""
    keys = ('name', 'resource', 'subresource', 'version', 'groupVersion', 'type', 'manager')
    return next((x[k] for k in keys if k in x), x.get('metadata', {}).get('name')) if isinstance(x, dict) else x


def as_json(data):
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors='replace')


def cut_as_noted(note, expected, body):
    if 'items reduced' in note or isinstance(expected.get('items'), list) and str in map(type, expected['items']):
        return {**body, 'items': [x['metadata']['name'] for x in body.get('items') or []]}
    if 'objects cut' in note:
        rows = [{**x, 'cells': x['cells']['first cell' in note:]} for x in body.get('rows') or []]
        return {**body, 'rows': [{k: v for k, v in x.items() if k != 'object'} for x in rows]}
    return body


class Webhook(http.server.BaseHTTPRequestHandler):
    """Answers reviews as recorded and keeps what was asked."""
    expected, got, fixed, log_message = [], [], {}, lambda *args: None

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.got.append({'path': self.path, 'headers': {k: self.headers[k] for k in ('Accept', 'Content-Type')}, 'body': body})
        recorded = next((x['response']['response'] for x in Webhook.expected if x['path'] == self.path), {'allowed': True})
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.end_headers()
        self.wfile.write(json.dumps({'apiVersion': 'admission.k8s.io/v1', 'kind': 'AdmissionReview',
                                     'response': {**recorded, 'uid': body['request']['uid']}}).encode())

    @classmethod
    def start(cls, cert, key):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), cls)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(cert, key)
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with socket.socket() as s, open(cert, 'rb') as f:
            s.bind(('127.0.0.1', 0))        # a port where nobody will listen
            cls.fixed = dict(zip(OURS, ('127.0.0.1:%d' % server.server_port, '127.0.0.1:%d' % s.getsockname()[1],
                                        base64.b64encode(f.read()).decode())))


class Replay:
    def __init__(self, options, users):
        self.o, self.users, self.count = options, users, collections.Counter()      # user -> certificate, key, token

    def send(self, values, request):
        """Sends a request with its placeholders filled in; the answer's body is in its data."""
        if '<hash>' in request['path']:     # found in the index of documents
            index = json.loads(self.send(values, {'method': 'GET', 'path': '/openapi/v3'}).data)['paths']
            link = index[request['path'].partition('?')[0][len('/openapi/v3/'):]]['serverRelativeURL']
            values.bound['hash'] = link.rpartition('hash=')[2]
        if 'bodyFile' in request:
            with open(os.path.join(SHARED, request['bodyFile'])) as f:
                request = {**request, 'body': f.read()}
        cert, key, token = self.users[request.get('user', 'admin')]
        body, headers = request.get('body'), {'Authorization': 'Bearer ' + token} if token else {}
        headers.update({'User-Agent': 'corpus/1.0', **({} if body is None else {'Content-Type': 'application/json'})})
        headers.update((k, values.fill(v)) for k, v in request.get('headers', {}).items())
        if 'protobuf' in headers.get('Content-Type', ''):
            body = values.bodies.get(body) or base64.b64decode(body)
        elif body is not None:
            body = values.fill(body if isinstance(body, str) else json.dumps(body)).encode()
        path = values.fill(request['path'], lambda v: urllib.parse.quote(v, safe=''))
        scheme, _, host = self.o.server.rstrip('/').partition('://')
        c = http.client.HTTPConnection(host, timeout=60)
        if scheme == 'https':
            tls = ssl.create_default_context(cafile=self.o.ca) if self.o.ca else ssl._create_unverified_context()
            if cert:
                tls.load_cert_chain(cert, key)
            c = http.client.HTTPSConnection(host, timeout=60, context=tls)
        c.request(request['method'], path, body, headers)
        response = c.getresponse()
        response.data = response.read()
        values.seen.update(map(int, re.findall(rb'"resourceVersion": ?"(\d+)"', response.data)))
        if request['method'] != 'GET' and response.status < 300 and TAKES_TIME.search(path):
            time.sleep(self.o.settle)
        return response

    def set_up(self, values, request):
        response = self.send(values, request)
        if response.status == 409 and 'body' in request:        # a controller was faster
            request = {**request, 'method': 'PATCH', 'path': request['path'] + '/' + request['body']['metadata']['name']}
            response = self.send(values, {**request, 'headers': {'Content-Type': 'application/merge-patch+json'}})
        if response.status >= 300:
            raise RuntimeError('set-up was answered %d %s' % (response.status, response.data))

    def answer(self, c, expected, response, prefix=''):
        c.diff(expected['status'], response.status, prefix + 'status')
        for name in sorted({'Warning'} & set(response.headers) | set(expected['headers'])):
            e, g = expected['headers'].get(name, ABSENT), '\n'.join(response.headers.get_all(name, [])) or ABSENT
            if name != 'Etag' or '<' in e or g is ABSENT:
                c.diff(e, g, '%sheaders.%s' % (prefix, name))
        if 'stream' in expected:
            c.stream(expected['stream'], [as_json(line) for line in response.data.splitlines()])
        elif 'body' in expected:
            c.diff(expected['body'], cut_as_noted(c.note, expected['body'], as_json(response.data)), prefix + 'body')
        elif 'bodyBase64' in expected:
            c.values.bodies[expected['bodyBase64']] = response.data
            c.diff(tree(base64.b64decode(expected['bodyBase64'])), tree(response.data), prefix + 'bodyBase64')
        else:
            c.text(expected.get('bodyText', ''), response.data.decode(errors='replace'), prefix + 'bodyText')

    def step(self, values, case, step):
        expected, note = step['response'], step.get('note', '')
        body = expected['body'] if isinstance(expected.get('body'), dict) else {}
        cut = note.startswith(('groups cut', 'resources cut', 'paths cut')) or '(cut to' in case['about'] \
            or isinstance(body.get('rows'), int)
        if body.get('spec') == '<as sent, with defaults>':
            body['spec'] = case['steps'][0]['response']['body']['spec']
        c = Comparer(values, step['request']['path'], note, cut, self.o.subset)
        Webhook.expected, Webhook.got[:] = step.get('webhookCalls', []), []
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(self.send, values, step['request'])
            for i, d in enumerate(step.get('duringStream', [])):
                time.sleep(0.1 if i else 1)         # the initial events come first
                self.answer(c, d['response'], self.send(values, d['request']), 'during.%d.' % i)
            self.answer(c, expected, waiting.result())
        c.diff([{k: x[k] for k in ('path', 'headers', 'body')} for x in Webhook.expected], Webhook.got, 'webhookCalls')
        return c

    def act(self, what):
        os.environ['ACTION'] = what
        return self.o.action and subprocess.call(self.o.action, shell=True) == 0

    def report(self, name, number, title, diffs):
        diffs = [d for d in diffs if not any(fnmatch.fnmatchcase(s, pattern) for pattern in self.o.ignore
                                             for s in (d[0], '%s#%s:%s' % (name, number, d[0])))]
        self.count['failed' if diffs else 'passed'] += 1
        diffs.sort(key=lambda d: not d[0].endswith(('status', '.reason')))      # what matters first
        width, most = (10 ** 6, None) if self.o.verbose else (160, 3)
        lines = ['%s expected %.*s got %.*s' % (path, width, json.dumps(e, default=repr), width, json.dumps(g, default=repr))
                 for path, e, g in diffs[:most]] + ['%d more' % (len(diffs) - 3)] * bool(most and len(diffs) > 3)
        if diffs:
            print('%s step %s (%.90s): %s' % (name, number, title, ('; ' if most else '\n    ').join(lines)), flush=True)

    def run(self, path):
        with open(path) as f:
            case = json.load(f)
        name, values = case['name'], Values(Webhook.fixed)
        skip = '' if Webhook.fixed or '<webhook-host>' not in json.dumps(case) else 'no openssl'
        todo = [('setup', {'setup': True, 'request': r}) for r in case.get('setup', [])] + list(enumerate(case['steps'], 1))
        for number, step in todo:
            request = step.get('request', {})
            user, title = request.get('user', 'admin'), '%s %s' % (request.get('method'), request.get('path'))
            try:
                if 'action' in step:
                    skip = skip if self.act(step['action']) else 'action by hand'
                elif step.get('setup'):
                    skip or self.set_up(values, request)
                elif skip or user not in self.users:
                    self.count['skipped'] += 1
                    if self.o.verbose:
                        print('%s step %s (%s) skipped: %s' % (name, number, title, skip or 'user ' + user))
                else:
                    c = self.step(values, case, step)
                    self.report(name, number, title, c.diffs)
                    for d in c.tolerated if self.o.verbose else ():
                        print('%s step %s tolerated: %s expected %s got %s' % (name, number, *d))
            except Exception as error:      # no answer, or one of an unforeseen shape
                self.report(name, number, title, [('answer', 'one', '%s: %s' % (type(error).__name__, error))])


def from_kubeconfig(o, folder):
    """Fills in options from a kubeconfig with one cluster and one user."""
    with open(o.kubeconfig) as f:
        text = f.read()
    for option, name in (('server', 'server'), ('ca', 'certificate-authority'), ('cert', 'client-certificate'),
                         ('key', 'client-key'), ('token', 'token')):
        m = re.search(r'[\s{,"]%s(-data)?"?:\s*"?([^\s"\',}\]]+)' % name, text)
        if m and m[1]:
            with open(os.path.join(folder, name), 'wb') as f:
                f.write(base64.b64decode(m[2]))
        setattr(o, option, getattr(o, option) or m and (f.name if m[1] else m[2]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in 'server ca cert key token kubeconfig alice-cert alice-key alice-token action'.split():
        p.add_argument('--' + name)
    p.add_argument('--settle', type=float, default=1, help='seconds to wait after writes that take effect later')
    p.add_argument('--ignore', action='append', default=[], metavar='GLOB')
    for names in (['--skip-users'], ['--subset'], ['-v', '--verbose']):
        p.add_argument(*names, action='store_true')
    p.add_argument('cases', nargs='*')
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if o.kubeconfig:
            from_kubeconfig(o, folder)
        if not o.server:
            p.error('--server or --kubeconfig is needed')
        users = {'anon': (None, None, None), 'alice': (o.alice_cert, o.alice_key, o.alice_token)}
        users = {k: v for k, v in users.items() if not o.skip_users and (k == 'anon' or any(v))}
        if subprocess.call('openssl req -x509 -newkey rsa:2048 -nodes -keyout hook.key -out hook.crt -days 2 -subj /CN=127.0.0.1 '
                           '-addext subjectAltName=IP:127.0.0.1', shell=True, cwd=folder, stderr=subprocess.DEVNULL) == 0:
            Webhook.start(os.path.join(folder, 'hook.crt'), os.path.join(folder, 'hook.key'))
        replay = Replay(o, {'admin': (o.cert, o.key, o.token), **users})
        cases = o.cases or glob.glob(os.path.join(SHARED, '*.json'))
        for path in sorted(cases, key=os.path.basename):
            replay.run(path)
    counts = [replay.count[k] for k in ('passed', 'failed', 'skipped')]
    print('cases %d, steps %d: %d passed, %d failed, %d skipped' % (len(cases), sum(counts), *counts))
    return 1 if counts[1] else 0


if __name__ == '__main__':
    sys.exit(main())
