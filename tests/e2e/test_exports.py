# SPDX-License-Identifier: BSD-3-Clause
"""Exports as other programs read them, and tachograph.open: the same values in all of them."""

import csv
import io
import json
import math
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

import pytest

from proxied import LONG

DOCS = pathlib.Path(__file__).parents[2] / "docs"
SECRET = "Zu7planted"
WORK = """
import time
keep = bytearray(150 << 20)

while time.process_time() < 1: pass
"""
SCRIPT = f"""
T={{exe}}
$T mark align sample=A threads=2 -- {{python}} -c '{WORK}' {SECRET}
$T mark write sample=B -- sh -c 'head -c 40000000 /dev/zero > data; sleep 0.5'
$T mark rest sample=B -- sleep 0.5
"""

tachograph = pytest.importorskip("tachograph")


@pytest.fixture(scope="module")
def run(place, exe, tmp_path_factory):
    """A recorded pipeline of three stages, and an export of it by name and options."""
    folder = tmp_path_factory.mktemp("exports")
    script = folder / "job.sh"
    script.write_text(SCRIPT.format(exe=exe, python=sys.executable))
    for name in ("run", "other"):
        subprocess.run([exe, "record", "-o", f"{name}.tacho", "--request", "cpus=2,mem=1G",
                        "--", "sh", str(script)], cwd=folder,
                       check=True, timeout=LONG, capture_output=True)

    def export(name, *options, check=True):
        result = subprocess.run([exe, "export", "run.tacho", "-o", name, *options], cwd=folder,
                                capture_output=True, timeout=LONG)
        if check:
            assert (result.returncode, result.stderr) == (0, b"")
            return result.stdout if name == "-" else folder / name
        return result
    export.folder = folder
    return export


@pytest.fixture(scope="module")
def content(run):
    return json.loads(run("run.json").read_text())


@pytest.fixture
def recording(run, exe, monkeypatch):
    monkeypatch.setattr("tachograph._exe.find", lambda: exe)
    return tachograph.open(run.folder / "run.tacho")


def column(content, name):
    """(seconds, value) of each row that has one."""
    (at,) = [i for i, c in enumerate(content["columns"], 2) if c["name"] == name]
    return [row[at] for row in content["rows"] if row[at] is not None]


def test_sqlite(run, content):
    db = sqlite3.connect(run("run.sqlite"))
    db.row_factory = sqlite3.Row
    for table in ("spans", "processes", "events"):
        rows = db.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
        assert len(rows) == len(content[table]) > 0
        for row, want in zip(rows, content[table]):
            assert set(row.keys()) == {"id", *want}
            for key, value in want.items():
                if isinstance(value, (dict, list)):
                    assert json.loads(row[key]) == value
                else:
                    assert row[key] == value
    for name in ("tree.cpu_ns", "tree.rss_bytes"):
        values = [v for (v,) in db.execute("SELECT value FROM samples WHERE metric = ? ORDER BY time", [name])]
        assert values == column(content, name)
    peak = {row["pid"]: row["peak"] for row in db.execute(
        "SELECT pid, max(value) AS peak FROM process_samples WHERE field = 'hwm_bytes' GROUP BY pid")}
    assert peak and all(p["rss_peak_bytes"] >= peak[p["pid"]] for p in content["processes"] if p["pid"] in peak)
    assert "samples" in dict(db.execute("SELECT what, text FROM about").fetchall())


def test_sqlite_without_samples(run, content):
    db = sqlite3.connect(run("small.sqlite", "--metric", "none"))
    for name, n in (("samples", 0), ("process_samples", 0), ("metrics", 0), ("spans", len(content["spans"]))):
        assert db.execute(f"SELECT count(*) FROM {name}").fetchone() == (n,)


def test_folder(run, content):
    folder = run("tables/")
    assert {p.name for p in folder.iterdir()} == {f"{n}.csv" for n in
                                                  ("samples", "spans", "processes", "events", "metrics")}
    assert (folder / "samples.csv").read_bytes() == run("-")
    for table in ("spans", "processes"):
        rows = list(csv.DictReader(io.StringIO((folder / f"{table}.csv").read_text())))
        assert len(rows) == len(content[table])
        for row, want in zip(rows, content[table]):
            for key, value in want.items():
                if value is None:
                    assert row[key] == ""
                elif isinstance(value, str):
                    assert row[key] == value
                else:
                    assert json.loads(row[key]) == value


def test_openmetrics(run, content):
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    families = list(parser.text_string_to_metric_families(run("run.prom").read_text()))
    found = {f.name: f for f in families}
    assert len(found) == len({c["name"] for c in content["columns"]})
    cpu, rss = found["tachograph_tree_cpu_seconds"], found["tachograph_tree_rss_bytes"]
    assert (cpu.type, cpu.unit, rss.type, rss.unit) == ("counter", "seconds", "gauge", "bytes")
    assert {s.name for s in cpu.samples} == {"tachograph_tree_cpu_seconds_total"}
    assert [round(s.value * 1e9) for s in cpu.samples] == column(content, "tree.cpu_ns")
    assert [s.value for s in rss.samples] == column(content, "tree.rss_bytes")
    assert rss.samples[0].labels == {"host": content["machine"]["host"]}


def test_parquet(run, content):
    parquet = pytest.importorskip("pyarrow.parquet")
    result = run("run.parquet", check=False)
    if shutil.which("python3", path=pathlib.Path(sys.executable).parent) is None or b"pyarrow" in result.stderr:
        pytest.fail(f"no Parquet: {result.stderr.decode()}")
    assert (result.returncode, result.stderr) == (0, b"")
    table = parquet.read_table(run.folder / "run.parquet")
    for name in ("tree.cpu_ns[ns]", "tree.rss_bytes[bytes]"):
        values = [v for v in table[name].to_pylist() if v is not None]
        assert values == column(content, name.split("[")[0])
    assert str(table.schema.field("time").type) == "timestamp[ns, tz=UTC]"
    more = json.loads(table.schema.metadata[b"tachograph"])
    assert (more["spans"], more["processes"]) == (content["spans"], content["processes"])


def test_parquet_without_pyarrow(run, exe, tmp_path):
    """One sentence, and no file."""
    fake = tmp_path / "python3"
    fake.write_text("#!/bin/sh\nexit $NUMBER\n")
    fake.chmod(0o700)
    copy = tmp_path / "tachograph"
    shutil.copy(exe, copy)
    for number, sentence in ((3, "Parquet is written by pyarrow, which this Python lacks: pip install pyarrow"),
                             (4, "There is no room for what pyarrow writes"),
                             (6, "pyarrow could not write the file"),
                             (5, "Parquet is written by a Python that has tachograph and pyarrow: install both "
                                 "into one environment")):
        result = subprocess.run([copy, "export", run.folder / "run.tacho", "-o", tmp_path / "x.parquet"],
                                env={"NUMBER": str(number)}, capture_output=True, text=True, timeout=LONG)
        assert (result.returncode, result.stderr) == (1, f"tachograph: {sentence}\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["python3", "tachograph"]


def test_snakemake_and_nextflow(run, content):
    stages = [s for s in content["spans"] if s["kind"] == "stage"]
    rows = list(csv.DictReader(io.StringIO(run("-", "--format", "snakemake", "--extended").decode()),
                               delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [r["rule_name"] for r in rows] == [s["name"] for s in stages] == ["align", "write", "rest"]
    for row, stage in zip(rows, stages):
        assert float(row["s"]) == pytest.approx(stage["wall_s"], abs=0.006)
        assert float(row["max_rss"]) == pytest.approx(stage["rss_peak_bytes"] / 2**20, abs=0.006)
        assert float(row["mean_load"]) == pytest.approx(100 * stage["cpu_s"] / stage["wall_s"], abs=0.02)
        assert row["max_uss"] == "NA"
    assert (rows[0]["threads"], json.loads(rows[0]["wildcards"])) == ("2", {"sample": "A"})
    rows = list(csv.DictReader(io.StringIO(run("-", "--format", "nextflow", "--raw-numbers").decode()),
                               delimiter="\t"))
    for i, (row, stage) in enumerate(zip(rows, stages), 1):
        assert (row["task_id"], row["name"], row["status"]) == (str(i), stage["name"], "COMPLETED")
        assert int(row["peak_rss"]) == stage["rss_peak_bytes"]
        assert int(row["realtime"]) == pytest.approx(stage["wall_s"] * 1000, abs=1)


@pytest.mark.parametrize("form", ["csv", "json", "raw", "openmetrics", "snakemake", "nextflow", "sqlite",
                                  "parquet", "folder"])
def test_no_args(run, form):
    shown = run(f"secret-{form}", "--format", form)
    kept = run(f"hidden-{form}", "--format", form, "--no-args", "--no-code")
    def data(path):
        return b"".join(p.read_bytes() for p in (sorted(path.iterdir()) if path.is_dir() else [path]))
    assert SECRET.encode() not in data(kept)
    assert (SECRET.encode() in data(shown)) == (form in ("json", "raw", "sqlite", "parquet", "folder"))


def test_no_args_leaves_other_attributes(run, content):
    kept = json.loads(run("quiet.json", "--no-args").read_text())
    assert "command" in content["spans"][0]["attrs"] and content["spans"][0]["attrs"]["requested"]["cpus"] == 2
    for span, quiet in zip(content["spans"], kept["spans"], strict=True):
        assert quiet["attrs"] == {k: v for k, v in span["attrs"].items() if k != "command"}


# ---- tachograph.open ----

def test_tables(recording, content):
    pandas = pytest.importorskip("pandas")
    assert recording.machine == content["machine"]
    assert recording.spans.wall_s.tolist() == [s["wall_s"] for s in content["spans"]]
    assert recording.spans.start.dtype.kind == "M"
    assert recording.spans.gpu_util_mean_pct.dtype.kind == "f"
    assert recording.processes.pid.tolist() == [p["pid"] for p in content["processes"]]
    assert recording.events.what.tolist() == [e["what"] for e in content["events"]]
    cpu = recording.series("tree.cpu_ns")
    assert cpu.value.tolist() == column(content, "tree.cpu_ns")
    assert pandas.isna(cpu.rate.iloc[0]) and 0.1 < cpu.rate.max() < 1000
    assert "rate" not in recording.series("tree.rss_bytes")
    inner = recording.series("tree.cpu_ns", span="name=align")
    assert 0 < len(inner) < len(cpu)


def test_lists_without_pandas(recording, content, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert recording.spans == content["spans"] and recording.processes == content["processes"]
    rows = recording.series("tree.rss_bytes")
    assert [row["value"] for row in rows] == column(content, "tree.rss_bytes")
    assert rows[0].keys() == {"time", "instance", "value"}


def test_series_are_the_same_without_pandas(recording, content, monkeypatch):
    pandas = pytest.importorskip("pandas")
    names = sorted({c["name"] for c in content["columns"]})
    frames = {name: recording.series(name) for name in names}
    monkeypatch.setitem(sys.modules, "pandas", None)
    for name, frame in frames.items():
        rows = recording.series(name)
        assert frame.instance.tolist() == [row["instance"] for row in rows]
        assert frame.value.tolist() == [row["value"] for row in rows]
        if "rate" in frame:
            rates = [None if pandas.isna(rate) else pytest.approx(rate) for rate in frame.rate]
            assert rates == [row["rate"] for row in rows]


def test_arrow(recording, content):
    pytest.importorskip("pyarrow")
    table = recording.arrow(["tree.rss_bytes"])
    assert table.column_names == ["time", "session", "cell", "tree.rss_bytes[bytes]"]
    assert table[3].to_pylist() == column(content, "tree.rss_bytes")
    assert len(recording.arrow().column_names) == 3 + len(content["columns"])


def test_what_is_no_recording(recording, run):
    for name in ("nothing.tacho", "job.sh", "."):
        with pytest.raises(tachograph.RecordingError) as error:
            tachograph.open(run.folder / name)
        assert "\n" not in str(error.value)
    with pytest.raises(KeyError):
        recording.series("tree.nothing")
    with pytest.raises(KeyError):
        recording.series("tree.cpu_ns", "sda")
    with pytest.raises(tachograph.RecordingError):
        recording.series("tree.cpu_ns", span="name=nothing")


def test_interrupt_while_reading(recording):
    """Ctrl-C in the reader is that, whatever the export says when it is ended."""
    with pytest.raises(KeyboardInterrupt):
        with recording._export("*", "samples"):
            raise KeyboardInterrupt


QUESTIONS = re.findall(r"^([A-Z][^\n]*\?)\n\n```python\n(.*?)\n```", (DOCS / "python.md").read_text(), re.M | re.S)


def answer(question, recording, run, monkeypatch):
    monkeypatch.chdir(run.folder)
    (code,) = [code for text, code in QUESTIONS if text.startswith(question)]
    assert "\n" not in code
    return eval(code, {"r": recording, "tachograph": tachograph})


def test_ten_questions(recording, run, content, monkeypatch):
    pytest.importorskip("pandas")
    assert len(QUESTIONS) == 10
    def ask(question):
        return answer(question, recording, run, monkeypatch)
    stage = {s["name"]: s for s in content["spans"] if s["kind"] == "stage"}
    found = ask("Which stage took the most memory")
    assert found.name.tolist() == ["align"] and found.rss_peak_bytes.iloc[0] >= 150 << 20
    assert SECRET in ask("Which process").args.iloc[0]
    hours = ask("How many core-hours")
    assert hours["align"] == pytest.approx(stage["align"]["cpu_s"] / 3600) and hours["align"] > 0.7 / 3600
    assert "rest" in set(ask("Which stages used less than half"))
    busy, written = ask("When did the job write"), stage["write"]
    assert len(busy) and busy.min().timestamp() > written["start"] - 0.2
    assert 0.1 < ask("How many cores did stage align") < 64
    assert math.isnan(recording.spans.gpu_util_mean_pct.iloc[0]) == (len(ask("In which stages was the GPU")) == 0)
    cost = ask("What did each sample cost")
    assert cost["A"] == pytest.approx(stage["align"]["cpu_s"])
    assert cost["B"] == pytest.approx(stage["write"]["cpu_s"] + stage["rest"]["cpu_s"])
    allowed = {what: value for what, value, _ in ask("What was the job allowed")}
    assert allowed["cores"] == stage["align"]["cores_allowed"]
    longer = ask("How much longer")
    other = tachograph.open(run.folder / "other.tacho").spans.set_index("name").wall_s
    assert longer["align"] == pytest.approx(stage["align"]["wall_s"] / other["align"])
