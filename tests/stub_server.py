"""An API server of a test's own making: HTTPS on loopback, answers by a function."""
import contextlib
import http.server
import json
import ssl
import subprocess
import threading


def certificate(folder):
    """A key and a self-signed certificate in one file."""
    file = folder / 'stub.pem'
    made = subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', '-',
                           '-days', '1', '-subj', '/CN=stub'], check=True, capture_output=True)
    file.write_bytes(made.stdout)
    return file


@contextlib.contextmanager
def stub_server(folder, answer):
    """answer(method, path, accept) returns status, body (an object or text) and further headers; yields a kubeconfig."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def reply(self):
            self.rfile.read(int(self.headers.get('Content-Length') or 0))
            status, body, headers = answer(self.command, self.path, self.headers.get('Accept', ''))
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            for name, value in {'Content-Type': 'application/json', 'Content-Length': str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = reply

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(folder))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    kubeconfig = folder / 'stub.kubeconfig'
    kubeconfig.write_text(json.dumps({
        'current-context': 'c', 'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'u'}}],
        'users': [{'name': 'u', 'user': {'token': 't'}}],
        'clusters': [{'name': 'c', 'cluster': {'server': 'https://127.0.0.1:%d' % server.server_address[1], 'insecure-skip-tls-verify': True}}]}))
    try:
        yield kubeconfig
    finally:
        server.shutdown()
        server.server_close()
