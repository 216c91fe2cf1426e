# SPDX-License-Identifier: BSD-3-Clause
"""Memory as a notebook's cells use it: shared by workers, of files, and left behind."""

import json
import re

import pytest

from proxied import Kernel

WORKERS = """
import os, signal, time
data = bytearray(b"x") * 200_000_000
workers = []
for _ in range(8):
    pid = os.fork()
    if not pid:
        sum(data[::4096])
        time.sleep(60)
        os._exit(0)
    workers.append(pid)
time.sleep(4)
for pid in workers:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
"""
MAPPED = """
import mmap
with open("data.bin", "wb") as f:
    f.write(bytes(300_000_000))
with open("data.bin", "rb") as f:
    mapped = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
touched = sum(mapped[i] for i in range(0, len(mapped), 4096))
"""

LEFT = """
import sys
lives = "data = bytearray(b'x') * 250_000_000; import time; time.sleep(10)"
os.system(f'{sys.executable} -c "{lives}" &')
time.sleep(5)
"""


@pytest.fixture(scope="module")
def notebook(place, tmp_path_factory):
    kernel = Kernel("recorded", cwd=str(tmp_path_factory.mktemp("work")))
    for code in (WORKERS, MAPPED, "kept = bytearray(b'x') * 100_000_000", LEFT):
        assert kernel.run(code).status == "ok"
    yield kernel
    kernel.stop()


@pytest.fixture(scope="module")
def cells(notebook):
    spans = json.loads(notebook.run("%tacho show --json").text)["spans"]
    return [s for s in spans if s["kind"] == "cell"]


def test_workers_share(cells):
    """pitfall 14, report 13: eight workers that share 200 MB have 200 MB, whatever RSS adds up to."""
    assert cells[0]["rss_peak_bytes"] > 9 * 200e6
    assert 190e6 < cells[0]["pss_peak_bytes"] < 400e6
    assert (cells[0]["mem_peak_is"], cells[0]["mem_peak_bytes"]) == ("PSS", cells[0]["pss_peak_bytes"])


def test_peak_is_named(notebook, cells):
    """pitfall 14: what a cell's peak is, is said, and table, chart and JSON have the same."""
    rows = notebook.run("%tacho show").text.splitlines()[1:]
    for row, cell in zip(rows, cells, strict=True):
        value = cell["mem_peak_bytes"]
        assert f"{value / 1e6:.0f} MB {cell['mem_peak_is']}" in row
    (display,) = notebook.run("%tacho chart --span 0 --panel memory").of("display_data")
    assert re.search(r"peak \d+ MB PSS", display["data"]["text/plain"])


def test_files_are_no_leak(cells):
    """pitfall 15: what a cell has left behind is told apart from pages of files."""
    assert cells[1]["mem_retained_bytes"] > 290e6
    assert cells[1]["file_retained_bytes"] > 290e6
    assert 95e6 < cells[2]["mem_retained_bytes"] < 130e6
    assert abs(cells[2]["file_retained_bytes"]) < 10e6


def test_left_in_the_background(cells):
    """Reports 9, 10: the shell that started it has ended before anybody saw the two."""
    assert cells[3]["rss_peak_bytes"] > cells[2]["rss_peak_bytes"] + 240e6


def test_charts(notebook):
    (display,) = notebook.run("%tacho chart --span 0 --panel memory").of("display_data")
    assert "PSS" in json.dumps(display["data"], ensure_ascii=False)
    (display,) = notebook.run("%tacho chart --span 1 --panel memory-kinds").of("display_data")
    assert "files" in json.dumps(display["data"], ensure_ascii=False)
