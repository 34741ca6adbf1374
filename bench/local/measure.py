"""Prints one table: what it takes to run processes with muster and with what people use instead (run.sh starts it)."""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

QUICK = "--quick" in sys.argv[1:]
MUSTER = os.environ["MUSTER"]
BARE = os.environ["BARE"]
PARALLEL = 8  # processes at once where the tool has to be told

JOB_SET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: bench}}
spec:
{barrier}
  replicatedJobs:
  - name: w
    template:
      spec:
        parallelism: {parallelism}
        completions: {completions}
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
{init}
            containers:
            - name: main
              image: host
              command: {command}
"""
# Tells when it began, and stays, as the processes of a gang do: what ends at once would take the processors from those that begin.
STAMP = [BARE, "stamp", "1"]
MARK = f"            initContainers: [{{name: mark, image: host, command: {json.dumps([BARE, 'stamp', '0'])}}}]"
BARRIER = "  groupSchedulingConfig: {}"


def job_set(completions, parallelism, command, barrier=False):
    return JOB_SET.format(
        completions=completions,
        parallelism=parallelism,
        command=command,
        barrier=BARRIER if barrier else "",
        init=MARK if barrier else "",
    )


def muster_run(text):
    """Seconds until the first line of a log, seconds until the end, and all lines."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        began = time.monotonic()
        run = subprocess.Popen([MUSTER, "run", file.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first, lines = None, []
        for line in run.stdout:
            first = first or time.monotonic() - began
            lines.append(line)
        errors = run.stderr.read()
        if run.wait() != 0:
            sys.exit(f"muster run failed with {run.returncode}:\n{errors}")
        return first, time.monotonic() - began, lines


def seconds(call):
    began = time.monotonic()
    call()
    return time.monotonic() - began


def bare(count):
    return float(subprocess.run([BARE, "spawn", str(count), str(PARALLEL), "true"], check=True, capture_output=True, text=True).stdout)


def gnu_parallel(count):
    if not shutil.which("parallel"):
        return None
    command = ["parallel", f"-j{PARALLEL}", "-n0", "true", ":::", *map(str, range(count))]
    return seconds(lambda: subprocess.run(command, check=True, capture_output=True))


def hyperqueue(count):
    try:
        from hyperqueue import Job, LocalCluster
        from hyperqueue.cluster import WorkerConfig
    except ImportError:
        return None
    with LocalCluster() as cluster:
        cluster.start_worker(WorkerConfig(cores=PARALLEL))
        client = cluster.client()
        job = Job()
        for _ in range(count):
            job.program(["true"])
        return seconds(lambda: client.wait_for_jobs([client.submit(job)]))


def median_of(times, call):
    return statistics.median(call() for _ in range(times))


def barrier_ms(pods):
    """From the end of the last pod's own preparations to the start of its last main process."""
    _, _, lines = muster_run(job_set(pods, pods, json.dumps(STAMP), barrier=True))
    stamps = {"mark": [], "main": []}
    for line in lines:
        found = re.search(r"(mark|main)\S*\s*\|\s*(\d+\.\d{6})\s*$", line)
        if found:
            stamps[found.group(1)].append(float(found.group(2)))
    if not all(len(each) == pods for each in stamps.values()):
        sys.exit(f"barrier: {pods} pods, but marks {len(stamps['mark'])}, mains {len(stamps['main'])}")
    if min(stamps["main"]) < max(stamps["mark"]):
        sys.exit("barrier: a main process was started before the last pod had come")
    return 1000 * (max(stamps["main"]) - max(stamps["mark"]))


def bare_wake_ms(count):
    done = subprocess.run([BARE, "wake", str(count), *STAMP], check=True, capture_output=True, text=True)
    return 1000 * (max(map(float, done.stdout.split())) - float(done.stderr))


def row(name, value, unit, against=None, goal=""):
    ratio = f"{value / against:8.2f}" if against else " " * 8
    print(f"{name:<46}{value:>10.2f} {unit:<8}{ratio}  {goal}", flush=True)


# What people use instead: seconds for so many processes, nothing if it is not installed.
OTHERS = (("GNU parallel", gnu_parallel), ("HyperQueue", hyperqueue))


def main():
    sustained = 200 if QUICK else 3000
    rounds = 2 if QUICK else 20
    print(f"{'':<46}{'':>10} {'':<8}{'to bare':>8}  goal")
    row("first log line", 1000 * median_of(3 if QUICK else 10, lambda: muster_run(job_set(1, 1, '["echo", "x"]'))[0]), "ms", goal="<= 300 ms")
    for pods in (1, 64):
        base = 1000 * bare(pods)
        row(f"{pods} processes: bare", base, "ms")
        for name, call in OTHERS:
            took = call(pods)
            if took is None:
                print(f"{pods} processes: {name} is not installed: left out")
            else:
                row(f"{pods} processes: {name}", 1000 * took, "ms", base)
        row(f"{pods} processes: JobSet, muster run", 1000 * median_of(3, lambda: muster_run(job_set(pods, pods, '["true"]'))[1]), "ms", base)
    base = bare(sustained)
    row(f"{sustained} processes: bare", sustained / base, "/s")
    for name, call in OTHERS:
        took = call(sustained)
        if took is not None:
            row(f"{sustained} processes: {name}", sustained / took, "/s", sustained / base)
    took = muster_run(job_set(sustained, 64, '["true"]'))[1]
    row(f"{sustained} pods: muster run", sustained / took, "/s", sustained / base, ">= 300/s, >= 0.33")
    for pods in (32,) if QUICK else (32, 256):
        base = median_of(rounds, lambda: bare_wake_ms(pods))
        row(f"barrier of {pods}: bare wake-up", base, "ms")
        row(f"barrier of {pods}: muster", median_of(rounds, lambda: barrier_ms(pods)), "ms", base, "<= 20 ms" if pods == 32 else "<= 1.30")


main()
