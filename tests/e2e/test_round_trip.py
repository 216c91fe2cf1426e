# SPDX-License-Identifier: BSD-3-Clause
"""Four tools log a job while we record it: what their logs say when imported is what we recorded.

The job has steps that are known: a core busy for 3 s, a child that holds 200 MB for 2.5 s, 64 MB
written to a disk, a core busy for 1 s. Bounds are what a sample a second resolves: the last part of
a second of a process that ends, a page, rounded per cents.
"""

import datetime
import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

import tachograph
from proxied import LONG

JOB = """
import os, subprocess, sys, time
def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
burn(3)
child = subprocess.Popen([sys.executable, "-c",
    "import time; held = bytearray(b'x') * 200_000_000; time.sleep(2.5)", "tg-round-trip"])
child.wait()
with open(sys.argv[2], "wb") as file:
    for _ in range(64):
        file.write(os.urandom(1_000_000))
    os.fsync(file.fileno())
os.remove(sys.argv[2])
time.sleep(1)
burn(1)
time.sleep(1.6)  # so that each tool sees what was used before it ends
"""

LOGGERS = {
    "top": ["top", "-b", "-d", "1", "-c", "-w", "512"],
    "vmstat": ["vmstat", "-w", "-t", "-n", "1"],
    "iostat": ["iostat", "-xdt", "1"],
    "pidstat": ["pidstat", "-h", "-u", "-r", "-d", "-l", "1"],
}


@pytest.fixture(scope="module")
def logged(exe, place, tmp_path_factory):
    """Folder with the recording, the logs, and recordings that were made of them."""
    folder = tmp_path_factory.mktemp("round-trip")
    env = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    logs = folder / "logs"
    logs.mkdir()
    job = folder / "job.py"
    job.write_text(JOB)
    running = []
    for tool, argv in LOGGERS.items():
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
        file = (logs / f"{tool}.log").open("w")
        if tool == "top":
            print(f"datetime: {datetime.datetime.now(datetime.timezone.utc):%Y/%m/%d %H:%M:%S}", file=file, flush=True)
        running.append(subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT))
    try:
        time.sleep(2.2)
        done = subprocess.run([exe, "record", "-o", str(folder / "own.tacho"), "-i", "0.2", "--", sys.executable, str(job),
                               "tg-round-trip", str(folder / "written")], capture_output=True, text=True, timeout=LONG)
        time.sleep(2.2)
    finally:
        for process in running:
            process.terminate()
            process.wait()
    assert done.returncode == 0, done.stderr
    match = ["--match", "tg-round-tri", "--tz", "UTC"]
    (logs / "pidstat.log").rename(folder / "pidstat.log")
    for source, out in ((logs, "logs.tacho"), (folder / "pidstat.log", "pidstat.tacho")):
        done = subprocess.run([exe, "import", str(source), "-o", str(folder / out), *match],
                              capture_output=True, text=True, timeout=LONG)
        assert (done.returncode, done.stderr) == (0, ""), done
        # of other processes' command lines pidstat writes line feeds as they are
        assert all(" 0 lines skipped" in line for line in done.stdout.splitlines() if ": pidstat" not in line), done
    return folder


@pytest.fixture(autouse=True)
def ours(exe, monkeypatch):
    monkeypatch.setattr("tachograph._exe.find", lambda: exe)


def run_of(folder: pathlib.Path, name: str) -> dict:
    spans = tachograph.open(folder / name).spans
    spans = spans.to_dict("records") if hasattr(spans, "to_dict") else spans
    return next(span for span in spans if span["kind"] == "run")


def rise(folder: pathlib.Path, name: str, metric: str, begin: float, end: float) -> float:
    """How much a counter grew, over all instances, by lines between its samples."""
    series = tachograph.open(folder / name).series(metric)
    rows = series.to_dict("records") if hasattr(series, "to_dict") else series
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        at = row["time"].timestamp() if hasattr(row["time"], "timestamp") else row["time"]
        if row["value"] == row["value"]:
            found.setdefault(row["instance"], []).append((at, row["value"]))

    def value(points: list[tuple[float, float]], at: float) -> float:
        before = max((p for p in points if p[0] <= at), default=points[0])
        after = min((p for p in points if p[0] >= at), default=points[-1])
        if after[0] == before[0]:
            return before[1]
        return before[1] + (after[1] - before[1]) * (at - before[0]) / (after[0] - before[0])

    assert found, metric
    return sum(value(points, end) - value(points, begin) for points in found.values())


@pytest.mark.parametrize("name", ["logs.tacho", "pidstat.tacho"])
def test_processes(logged, name):
    """top's and pidstat's: CPU time, memory and what was written by the job and its child."""
    own, theirs = run_of(logged, "own.tacho"), run_of(logged, name)
    assert own["cpu_s"] > 4  # of two bursts
    # rounded per cents, and the parts of a second in which a process ended
    assert theirs["cpu_s"] == pytest.approx(own["cpu_s"], rel=0.12, abs=0.3)
    # both have the child's 200 MB beside the job; ours may have seen a peak between their samples
    assert own["rss_peak_bytes"] > 210e6
    assert theirs["rss_peak_bytes"] == pytest.approx(own["rss_peak_bytes"], rel=0.08)
    if name == "pidstat.tacho" and own["write_bytes"]:
        assert theirs["write_bytes"] == pytest.approx(own["write_bytes"], rel=0.06)
    assert own["write_bytes"] == 0 or own["write_bytes"] >= 64e6  # 0: where the folder is memory


def near(folder: pathlib.Path, metric: str, begin: float, end: float, want: float) -> float:
    """What the logs say of that time that is nearest to `want`: their stamps are whole seconds, so
    that what they stand for may have been up to a second later."""
    values = [rise(folder, "logs.tacho", metric, begin - shift / 10, end - shift / 10) for shift in range(11)]
    return min(values, key=lambda value: abs(value - want))


def test_machine(logged):
    """vmstat's CPU and iostat's disks, over the time of the job."""
    own = run_of(logged, "own.tacho")
    begin = own["start"].timestamp() if hasattr(own["start"], "timestamp") else own["start"]
    end = begin + own["wall_s"]
    ours = rise(logged, "own.tacho", "node.cpu_busy_ns", begin, end)
    # whole per cents of all cores, each rounded
    assert near(logged, "node.cpu_busy_ns", begin, end, ours) == pytest.approx(ours, rel=0.1, abs=0.4e9)
    if not own["write_bytes"]:
        pytest.skip("this folder is on no disk")
    ours = rise(logged, "own.tacho", "disk.write_bytes", begin, end)
    assert ours >= 60e6
    assert near(logged, "disk.write_bytes", begin, end, ours) == pytest.approx(ours, rel=0.1, abs=4e6)
