import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
os.environ.setdefault('MUSTER', str(HERE.parent / 'build' / 'release' / 'muster'))


def pytest_terminal_summary(terminalreporter):
    import blackbox
    for note in blackbox.NOTES:
        terminalreporter.write_line(note)
