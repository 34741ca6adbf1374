#!/usr/bin/env python3
"""Writes what fuzzing starts from, made of the recorded traffic of a real API server: DIR/<target>/<number>, and DIR/words, a
dictionary of the field names. The same tree gives the same files.
    fuzz_seeds.py DIR
"""
import base64
import itertools
import json
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_SEED = 8 * 1024  # libFuzzer is slow with long inputs
PATCHES = {
    "application/json-patch+json": "patch_fuzz",
    "application/merge-patch+json": "merge_patch_fuzz",
    "application/strategic-merge-patch+json": "strategic_fuzz",
}


def compact(value):
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def exchanges():
    """Every recorded request with its answer's body."""
    for path in sorted((ROOT / "tests/conformance/wire-corpus").glob("*.json")):
        text = re.sub("<rv-([0-9]+)>", r"\1", path.read_text().replace("<time>", "2026-03-04T05:06:07Z"))
        case = json.loads(text)
        for request in case.get("setup") or []:
            yield request, None
        for step in case["steps"]:
            if "request" in step:
                yield step["request"], (step.get("response") or {}).get("body")


def walk(value):
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(inner)


def objects_of(bodies):
    return [o for body in bodies for o in walk(body) if isinstance(o, dict) and "metadata" in o and "kind" in o]


def http_text(request):
    headers = {"Host": "localhost", **request.get("headers", {})}
    body = compact(request.get("body") or "").encode()
    if body:
        headers["Content-Length"] = str(len(body))
    head = f"{request['method']} {urllib.parse.quote(request['path'], safe='/?&=%,!()')} HTTP/1.1\r\n"
    return head.encode() + "".join(f"{k}: {v}\r\n" for k, v in headers.items()).encode() + b"\r\n" + body


def seeds_of_request(request, answers):
    """(target, input) pairs; `answers` has the newest object of every path."""
    parts = urllib.parse.urlsplit(request["path"])
    headers = request.get("headers", {})
    body = request.get("body")
    yield "request_info_fuzz", request["path"]
    yield "http_fuzz", b"\x07\x00" + http_text(request)
    if "Accept" in headers:
        yield "request_info_fuzz", headers["Accept"]
    for name, values in urllib.parse.parse_qs(parts.query).items():
        if name.endswith("Selector"):
            yield "selector_fuzz", values[0]
    if body is None:
        return
    yield "parse_fuzz", compact(body)
    yield "yaml_fuzz", compact(body)
    target = PATCHES.get(headers.get("Content-Type"))
    if target:
        yield target, compact(answers.get(parts.path, {})) + "\n" + compact(body)


def seeds_of_object(thing):
    text = compact(thing)
    yield "decode_fuzz", "\0" + text
    yield "admission_fuzz", "\0" + text
    yield "yaml_fuzz", json.dumps(thing, indent=1)
    sets = [compact(entry.get("fieldsV1")) for entry in thing["metadata"].get("managedFields", [])]
    for pair in itertools.pairwise(sets + sets[:1]):
        yield "field_set_fuzz", "\n".join(pair)
    for map_of in walk(thing):
        if isinstance(map_of, dict):
            yield from (("quantity_fuzz", str(v)) for k, v in map_of.items() if k in ("cpu", "memory", "storage"))


def all_seeds():
    answers = {}
    bodies = []
    for request, answer in exchanges():
        yield from seeds_of_request(request, answers)
        if isinstance(answer, dict) and answer.get("kind") != "Status":
            answers[urllib.parse.urlsplit(request["path"]).path] = answer
        bodies += [request.get("body"), answer]
    for thing in objects_of(bodies):
        yield from seeds_of_object(thing)
    for sample in json.loads((ROOT / "src/api/testdata/protobuf_samples.json").read_text()):
        yield "protobuf_fuzz", base64.b64decode(sample["protobufBase64"])[4:]  # the target adds the magic


def words():
    names = {k for _, answer in exchanges() for o in walk(answer) if isinstance(o, dict) for k in o}
    return sorted(n for n in names if re.fullmatch("[a-zA-Z]+", n))


def main(out):
    written = {}
    for target, text in all_seeds():
        data = text if isinstance(text, bytes) else text.encode()
        files = written.setdefault(target, {})
        if len(data) <= MAX_SEED:
            files.setdefault(data, len(files))
    for target, files in written.items():
        (out / target).mkdir(parents=True, exist_ok=True)
        for data, number in files.items():
            (out / target / f"{number:04}").write_bytes(data)
    (out / "words").write_text("".join(f'"\\"{word}\\":"\n' for word in words()))
    print(", ".join(f"{target} {len(files)}" for target, files in sorted(written.items())))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
