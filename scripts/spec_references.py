#!/usr/bin/env python3
"""Every section of docs/spec that a comment or a page cites is there: `(spec: jobset 3.12)`, `pod-lifecycle 2.4, 2.5`.

  spec_references.py      lists citations that lead nowhere; the exit code is 1 if there is one
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPEC = ROOT / 'docs' / 'spec'
NUMBER = r'\d+(?:\.\d+)*'
COMMENT = re.compile(r'^\s*(?://|#)\s?(.*)')
# The keyword `job` is a common word, so a citation of it must stand behind `spec:` or in brackets.
CITATION = rf'(?:(?P<marked>[Ss]pec:? |\()|\b)(?P<name>NAMES),?(?: section)? (?P<numbers>{NUMBER}(?:(?:,| to| and) {NUMBER})*)'
COMMON_WORDS = {'job', 'jobset', 'gang', 'queueing'}


def sections():
    heading = re.compile(rf'^#+ ({NUMBER})\.? ', re.MULTILINE)
    return {page.stem: set(heading.findall(page.read_text())) for page in SPEC.glob('*.md') if page.name != 'README.md'}


def prose(path):
    """The text in which citations stand: all of a page, the comments of a program."""
    text = path.read_text(errors='replace')
    if path.suffix == '.md':
        return text
    return ' '.join(found.group(1) for line in text.splitlines() if (found := COMMENT.match(line)))


def main():
    known = sections()
    citation = re.compile(CITATION.replace('NAMES', '|'.join(sorted(known, key=len, reverse=True))))
    files = subprocess.run(['git', 'ls-files', '-z', '*.cc', '*.h', '*.py', '*.sh', '*.go', '*.md'],
                           cwd=ROOT, check=True, capture_output=True, text=True).stdout.split('\0')
    count, dead = 0, []
    for name in filter(None, files):
        if name.startswith('docs/spec/') or not (ROOT / name).exists():
            continue
        for found in citation.finditer(prose(ROOT / name)):
            if found['name'] in COMMON_WORDS and not found['marked']:
                continue
            for number in re.findall(NUMBER, found['numbers']):
                count += 1
                if number not in known[found['name']]:
                    dead.append(f'{name}: docs/spec/{found["name"]}.md has no section {number}')
    print('\n'.join(dead) if dead else f'{count} citations of docs/spec lead somewhere')
    sys.exit(bool(dead))


main()
