# SPDX-License-Identifier: BSD-3-Clause
"""Reports of really recorded jobs: the page in a browser without a network, and the notebook, run."""

import json
import os
import pathlib
import re
import subprocess
import sys

import nbclient
import nbformat
import pytest

BROWSER = pathlib.Path(__file__).parent / "browser"
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\x07"

# One process keeps a core busy for a second and a half, then 60 MB are there for as long.
JOB = r"""
"$TG" mark burn -- python3 -c "
import time
end = time.process_time() + 1.5
while time.process_time() < end: sum(range(2000))"
"$TG" mark hold -- python3 -c "
import time
kept = bytearray(60 << 20)
for i in range(0, len(kept), 4096): kept[i] = 1
time.sleep(1.5)"
"$TG" mark "$NAME" rows=3
for i in 1 2 3 4 5 6 7 8 9; do sh -c 'sleep 0.3; :' & done
wait
"""


@pytest.fixture(scope="module")
def recorded(exe, place, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    file = folder / "job.tacho"
    done = subprocess.run([exe, "record", "-o", str(file), "-i", "0.05", "--", "sh", "-c", JOB],
                          env={**os.environ, "TG": exe, "NAME": HOSTILE.replace("\x07", "")},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return file


def report(exe, *args):
    done = subprocess.run([exe, "report", *map(str, args)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done


@pytest.fixture(scope="module")
def seen(exe, recorded):
    page = recorded.with_suffix(".html")
    report(exe, recorded, "-o", page, "--smooth", "0.4")
    done = subprocess.run(["node", str(BROWSER / "report.mjs")], capture_output=True, text=True,
                          input=json.dumps({"file": str(page), "screenshot": os.environ.get("TG_SHOT")}),
                          timeout=240)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_is_fetched_and_nothing_fails(seen):
    assert seen["errors"] == [] and seen["requests"] == []


def test_all_of_it_is_there(seen):
    for section in ("What ran where", "Efficiency", "Stages", "CPU", "Memory", "Processes"):
        assert section in seen["sections"]
    by_label = {plot["label"]: plot for plot in seen["plots"]}
    cpu = next(p for label, p in by_label.items() if label.startswith("CPU · cores busy"))
    assert cpu["series"][:2] == ["job, mean of 400 ms", "job"]
    for plot in seen["plots"]:
        if plot["series"]:
            assert plot["lines"], plot["label"]


def test_it_is_whole_without_scripts(seen):
    plain = seen["withoutScripts"]
    assert plain["sections"] == seen["sections"]
    assert plain["lines"] >= len(seen["plots"]) and plain["rows"] > 20 and plain["images"] == 0


def test_the_cross_hair_reads_what_was_sampled(seen):
    value = float(re.search(r"job, mean of 400 ms ([\d.]+) cores", seen["read"]).group(1))
    assert any(value == pytest.approx(near, rel=0.01, abs=0.002) for near in seen["middle"]), seen["middle"]
    assert seen["shared"] == sum(1 for p in seen["plots"] if p["series"])


def test_a_closer_look(seen):
    drawn = sum(1 for p in seen["plots"] if p["series"])
    assert seen["zoomed"] == drawn and seen["unzoomed"] == 0
    shift, scale = map(float, re.search(r"translate\((\S+) 0\) scale\((\S+) 1\)",
                                        seen["transform"]).groups())
    assert scale == pytest.approx(4, rel=0.05) and shift < 0
    assert len(seen["ticks"]) >= 3
    first, second = (float(re.match(r"at ([\d.]+) s", seen[k]).group(1)) for k in ("read", "closer"))
    assert second > first  # the middle of the plot is a later moment now


def test_tables_are_sorted_and_filtered(seen):
    assert seen["rows"] >= 10 and seen["byCpu"] == sorted(seen["byCpu"], reverse=True)
    assert max(seen["byCpu"]) > 1.4  # the process that burnt CPU time
    assert seen["filtered"] == 0


def test_figures_are_those_of_show(exe, recorded, seen):
    page = recorded.with_suffix(".html").read_text()
    spans = json.loads(subprocess.run([exe, "show", str(recorded), "--json"], capture_output=True,
                                      text=True, check=True).stdout)["spans"]
    burn = next(s for s in spans if s["name"] == "burn")
    hold = next(s for s in spans if s["name"] == "hold")
    assert burn["cpu_s"] > 1.4 and hold["rss_peak_bytes"] > 60e6
    table = page[page.index('id="stages"'):page.index('id="stage-times"')]
    assert f'data-v="{burn["cpu_s"]:.6g}'[:12] in table
    assert f'data-v="{hold["mem_peak_bytes"]:.0f}"' in table


def test_the_environment_and_arguments_stay_out(exe, recorded, tmp_path):
    page = tmp_path / "quiet.html"
    report(exe, recorded, "-o", page, "--no-args")
    text = page.read_text()
    assert "bytearray" not in text and "process_time" not in text
    assert "bytearray" in recorded.with_suffix(".html").read_text()
    assert "TACHOGRAPH_SOCKET" not in text and os.environ["HOME"] not in text


def test_the_notebook_runs_again(exe, recorded):
    file = recorded.with_suffix(".ipynb")
    report(exe, recorded, "-o", file)
    book = nbformat.read(file, as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert code[0].source == 'import tachograph\n\nrun = tachograph.open("job.tacho")'
    assert all(cell.outputs for cell in code[1:])  # filled in before it is run
    before = [kinds(cell) for cell in code]
    assert any("image/png" in k for k in before)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": str(file.parent)}}).execute()
    for cell, was in zip(code, before):
        assert not any(o.output_type == "error" for o in cell.outputs)
        assert ("image/png" in was) == ("image/png" in kinds(cell)), cell.source
    assert "<img" not in "".join(c.source for c in book.cells if c.cell_type == "markdown").replace("\\<", "")


def kinds(cell):
    return {kind for output in cell.outputs for kind in output.get("data", {})}


def test_several_recordings(exe, recorded, tmp_path):
    page = tmp_path / "two.html"
    report(exe, recorded, recorded, "-o", page)
    text = page.read_text()
    ids = re.findall(r'<h\d id="([^"]*)"', text)
    assert len(ids) == len(set(ids)) and "recordings" in ids
    assert text.count(">What ran where</h3>") == 2


def test_what_ran_under_one_name_is_told_together(exe, place, tmp_path):
    """Box plots over several files, and of them those of what was requested."""
    for i, mb in enumerate((30, 60, 120)):
        burn = f"import time; b = bytearray({mb} * 10**6); time.sleep(0.3)"
        job = f"{exe} mark 'fill <it>' -- {sys.executable} -c '{burn}'; {exe} mark rest -- sleep 0.1"
        done = subprocess.run([exe, "record", "-o", str(tmp_path / f"{i}.tacho"), "-i", "0.05", "--request",
                               "mem=500M,cpus=2", "--", "sh", "-c", job], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    page = tmp_path / "all.html"
    report(exe, tmp_path, "-o", page)
    text = html_text(page.read_text())
    boxes = dict(re.findall(r"(fill <it>|rest|sh) · least [^(]* MB \((\d)\)", text))
    assert boxes == {"fill <it>": "3", "rest": "3", "sh": "3"}
    least, middle, most = (float(v) for v in re.search(
        r"fill <it> · least ([\d.]+), 25 % [\d.]+, median ([\d.]+), 75 % [\d.]+, most ([\d.]+) MB \(3\)", text).groups())
    # Python itself is some 10 MB
    assert 30 < least < 60 < middle < 90 and 120 < most < 150
    assert re.search(r"sh · least [\d.]+, .*, most (2[4-9]|3\d)[\d.]* % \(3\)", text)
    assert "rest · least" in text.split("Of what was requested")[0]
    assert "rest · least" not in text.split("Of what was requested")[1].split("What ran where")[0]


@pytest.mark.parametrize("args, sentence", [
    (["-o", "x.pdf"], "A report is a page or a notebook: say -o with a name that ends in .html or .ipynb"),
    (["--smooth", "soon"], '--smooth is a number of seconds from 0 (none) to 86400, not "soon"'),
    (["no-such.tacho"], "no-such.tacho: No such file or directory"),
])
def test_bad_input(exe, place, tmp_path, args, sentence):
    done = subprocess.run([exe, "report", *args], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode in (1, 2) and done.stderr == f"tachograph: {sentence}\n"
    assert done.stdout == "" and not list(tmp_path.iterdir())


def test_over_ssh_no_browser_is_opened(exe, recorded, tmp_path):
    stub = tmp_path / "xdg-open"
    stub.write_text('#!/bin/sh\necho "$1" > "$OPENED"\n')
    stub.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "OPENED": str(tmp_path / "opened")}
    page = tmp_path / "x.html"

    def run(**more):
        return subprocess.run([exe, "report", str(recorded), "-o", str(page), "--open"], text=True,
                              env={**{k: v for k, v in env.items() if not k.startswith("SSH_")}, **more},
                              capture_output=True, timeout=60)
    done = run(DISPLAY=":9", SSH_CONNECTION="1 2 3 4")
    assert done.returncode == 0 and "over ssh" in done.stderr
    assert not (tmp_path / "opened").exists()
    done = run(DISPLAY=":9")
    assert (done.returncode, done.stderr) == (0, "")
    for _ in range(100):
        if (tmp_path / "opened").exists() and (tmp_path / "opened").read_text():
            break
        subprocess.run(["sleep", "0.1"], check=True)
    assert (tmp_path / "opened").read_text() == f"{page}\n"


# ---- from logs that other tools took: docs/pipeline.md says where each plot of theirs is ----

HERE = pathlib.Path(__file__).parents[1]
LOGS = HERE / "fixtures" / "pipeline-logs" / "recorded"
ROWS = [line.strip("| \n").split(" | ") for line in (HERE.parent / "docs" / "pipeline.md").open()
        if re.match(r"\| [PT]\d+ \|", line)]


@pytest.fixture(scope="module")
def from_logs(exe, tmp_path_factory):
    page = tmp_path_factory.mktemp("logs") / "logs.html"
    done = subprocess.run([exe, "report", str(LOGS), "-o", str(page)], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0 and "top (procps" in done.stderr, done.stderr
    text = page.read_text()
    parts = re.split(r"<h[23] id=", text)[1:]
    return {html_text(re.search(r">(.*?)</h", part).group(1)): part for part in parts}


def html_text(text):
    for name, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&amp;", "&")):
        text = text.replace(name, char)
    return text


def test_all_18_plots_and_9_tables_are_mapped():
    assert {row[0] for row in ROWS} == {f"P{i}" for i in range(1, 19)} | {f"T{i}" for i in range(1, 10)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[2]}")
def test_each_of_them_is_there(from_logs, row):
    found = [part for title, part in from_logs.items() if title.startswith(row[2])]
    assert found, (row[2], list(from_logs))
    if row[0].startswith("T"):
        head = re.findall(r"<th[^>]*>(.*?)</th>", found[0])
        assert head[-8:] == ["count", "mean", "std", "min", "25 %", "50 %", "75 %", "max"]
        return
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', found[0]).group(1))
    series = {s["name"].split(", mean of")[0] for p in data["panels"] for s in p["series"]}
    assert set(row[3].split(", ")) <= series, series
    assert any(v is not None for p in data["panels"] for s in p["series"] for v in s["mean"])


def test_its_figures_are_the_right_ones(from_logs):
    """Of recorded-right/summary.json, where a plot's figures are of all samples, too."""
    right = json.loads((LOGS.parent / "recorded-right" / "summary.json").read_text())

    def row(title, name):
        part = next(p for t, p in from_logs.items() if t.startswith(title))
        line = re.search(rf"<tr><td>{re.escape(name)}</td>(.*?)</tr>", part).group(1)
        return [float(v) for v in re.findall(r'data-v="([^"]*)"', line)]
    bi = right["vmstat"]["bi"]  # KiB/s there, MB/s here
    assert row("Blocks of the machine", "in")[0] == bi["count"]
    assert row("Blocks of the machine", "in")[1] == pytest.approx(bi["mean"] * 1024e-6, rel=1e-3)
    assert row("Blocks of the machine", "in")[7] == pytest.approx(bi["max"] * 1024e-6, rel=1e-3)
    res = right["top"]["res_mib"]
    assert row("Memory · ", "RSS")[7] == pytest.approx(res["max"] * 1048576e-9, rel=1e-4)


def test_how_logs_are_read(exe, tmp_path):
    """As for import; of what is no log it is refused."""
    def said(*arguments):
        done = subprocess.run([exe, "report", *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=tmp_path)
        return done.returncode, done.stderr
    assert said(LOGS, "-o", "x.html", "--match", "MATLAB", "--role", "engine=-dmlworker", "--tz", "UTC")[0] == 0
    assert "engine" in (tmp_path / "x.html").read_text()
    status, text = said(LOGS, "-o", "y.html", "--match", "nothing like it")
    assert status == 0 and "top-20261201.log" in text
    assert "no command in it is one that counts" in text
    assert said(LOGS, "-o", "x.ipynb", "--tz", "Mars/Olympus")[0] == 2
    assert said(tmp_path / "x.html", "--tz", "UTC")[0] == 1
    assert said(LOGS, "-o", "x.ipynb")[0] == 0
    status, text = said("x.tacho", "--tz", "UTC", "-o", "z.html")
    assert status == 2 and "--tz" in text and not (tmp_path / "z.html").exists()


def test_cores_of_the_machine_are_told(from_logs):
    """Though the line of them is far above what was used."""
    cpu = next(part for title, part in from_logs.items() if title.startswith("CPU · cores busy"))
    assert "2 in the machine" in cpu


def test_gpus_of_logs_are_the_job_s(from_logs):
    """47 s of one GPU, of which the log says how busy it was in each stage."""
    rows = re.findall(r"<tr>(.*?)</tr>", from_logs["Stages"], re.S)
    head = re.findall(r"<th[^>]*>(.*?)</th>", rows[0])
    hours, use = head.index("GPU-hours"), head.index("GPU use")
    for row in rows[1:]:
        cells = re.findall(r'<td[^>]*?(?: data-v="([^"]*)")?>', row)
        wall = float(cells[head.index("wall")])
        assert float(cells[hours]) == pytest.approx(wall / 3600, rel=1e-6)
        assert 0 <= float(cells[use]) <= 100


def test_logs_as_a_notebook_bring_their_recording(exe, tmp_path):
    done = subprocess.run([exe, "report", str(LOGS), "-o", "x.ipynb"], capture_output=True, text=True,
                          cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.ipynb", "x.tacho"]
    assert 'tachograph.open("x.tacho")' in json.loads((tmp_path / "x.ipynb").read_text())["cells"][1]["source"]
