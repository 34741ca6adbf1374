#!/usr/bin/env python3
"""Prints, for each source file that is named on standard input, a hash of all that its meaning hangs on, and its name: its own text,
the headers of the project that it includes, near or far, and the files named as arguments.
    git ls-files 'src/*.cc' | content_keys.py COMMON_FILE...
"""
import functools
import hashlib
import pathlib
import re
import sys


@functools.cache
def included_by(path):
    names = re.findall(rb'^#include "([^"]+)"', path.read_bytes(), re.MULTILINE)
    return [header for header in (pathlib.Path("src", name.decode()) for name in names) if header.exists()]


def closure(path):
    seen, waiting = {path}, [path]
    while waiting:
        for header in included_by(waiting.pop()):
            if header not in seen:
                seen.add(header)
                waiting.append(header)
    return sorted(seen)


common = [pathlib.Path(name) for name in sys.argv[1:]]
for line in sys.stdin:
    source = pathlib.Path(line.strip())
    key = hashlib.sha256()
    for path in [*common, *closure(source)]:
        key.update(f"{path} {path.stat().st_size}\n".encode() + path.read_bytes())
    print(key.hexdigest(), source)
