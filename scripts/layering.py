#!/usr/bin/env python3
"""Compares the modules whose headers each module includes with those that its CMakeLists names.

Compilers cannot tell: include paths are passed on, so that whoever uses `client` finds the headers of `net` as well. USES is for the
product, TESTS_USE for what only tests, benchmarks, fuzzers and testing*.h need on top. Both must be complete, and name nothing idle; and
no module uses one that comes after it. The table of docs/architecture.md has the same folders in the same order; its last column, with what the
folders named there use in turn, is what a folder may use.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / 'src'
TEST_FILE = re.compile(r'(_test|_bench|_fuzz)\.cc$|testing')


class Module:
    def __init__(self, name, words):
        self.name, self.named, self.included = name, {'USES': set(), 'TESTS_USE': set()}, {'USES': {}, 'TESTS_USE': {}}
        key = None
        for word in words:
            key = word if word.isupper() else key
            if key in self.named and word != key:
                self.named[key].add(word)

    def faults(self):
        for key, included in self.included.items():
            allowed = self.named['USES'] | self.named[key]
            for other in sorted(included.keys() - allowed):
                yield '%s: includes a header of %s, which is not among what %s %s' % (included[other], other, self.name, key)
            for idle in sorted(self.named[key] - included.keys()):
                yield '%s: %s names %s, but includes nothing of it' % (self.name, key, idle)


def read_modules(folder=pathlib.PurePath()):
    """By folder, as it stands in includes; in the order of the build."""
    found = {}
    for verb, words in re.findall(r'^(add_subdirectory|muster_module)\(([^)]*)\)', (SRC / folder / 'CMakeLists.txt').read_text(), re.M):
        name, *rest = words.split()
        found.update(read_modules(folder / name) if verb == 'add_subdirectory' else {folder: Module(name, rest)})
    return found


def owner(modules, path):
    return next((modules[folder] for folder in path.parents if folder in modules), None)


def table_faults(modules):
    """Where the table of docs/architecture.md says something else than the CMakeLists."""
    rows = re.findall(r'^\| `src/([a-z/]+?)(?:/\*)?` \|.*\| ([^|]*) \|$', (ROOT / 'docs' / 'architecture.md').read_text(), re.M)
    listed = re.findall(r'^add_subdirectory\(([^)]*)\)', (SRC / 'CMakeLists.txt').read_text(), re.M)
    folder_of = {module.name: max((each for each in listed if folder.is_relative_to(each)), key=len) for folder, module in modules.items()}
    used = {folder: set() for folder in listed}
    for module in modules.values():
        folder = folder_of[module.name]
        used[folder] |= {folder_of[other] for other in module.named['USES']} - {folder}
    if [folder for folder, _ in rows] != list(used):
        yield 'docs/architecture.md: its table has the folders %s, src/CMakeLists.txt %s' % (' '.join(folder for folder, _ in rows), ' '.join(used))
        return
    closure = {}
    for folder, words in rows:
        named = set(closure) if words == 'all' else {word.strip() for word in words.split(',')} - {'–'}
        for idle in sorted(named - used[folder] - (named if words == 'all' else set())):
            yield 'docs/architecture.md: src/%s is said to use %s, but does not' % (folder, idle)
        closure[folder] = named.union(*(closure.get(other, set()) for other in named))
        for missing in sorted(used[folder] - closure[folder]):
            yield 'docs/architecture.md: src/%s uses %s, which its row does not allow' % (folder, missing)


def main():
    modules = read_modules()
    for file in sorted([*SRC.rglob('*.cc'), *SRC.rglob('*.h')]):
        path = file.relative_to(SRC)
        module, key = owner(modules, path), 'TESTS_USE' if TEST_FILE.search(str(path)) else 'USES'
        for include in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M):
            other = owner(modules, pathlib.PurePath(include))
            if other and other is not module:
                module.included[key].setdefault(other.name, path)
    faults, below = list(table_faults(modules)), set()
    for module in modules.values():
        faults += module.faults()
        faults += ['%s: %s comes after it in src/CMakeLists.txt' % (module.name, other) for other in module.included['USES'].keys() - below]
        below.add(module.name)
    for fault in sorted(faults):
        print('style: ' + fault, file=sys.stderr)
    return bool(faults)


sys.exit(main())
