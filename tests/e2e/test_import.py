# SPDX-License-Identifier: BSD-3-Clause
"""`tachograph import`: logs that other tools took, from the command line to what other words make of them."""

import csv
import gzip
import json
import os
import pathlib
import subprocess

import pytest

from proxied import LONG

LOGS = pathlib.Path(__file__).parents[1] / "fixtures/pipeline-logs"


@pytest.fixture
def run(exe, tmp_path):
    def run(*arguments):
        return subprocess.run([exe, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, timeout=LONG)
    return run


def test_folder(run, tmp_path):
    result = run("import", LOGS / "recorded", "-o", "x.tacho", "--csv", "csv", "--report-json", "r.json", "--tz", "UTC")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "top-20261201.log: top (procps 3.3.17 or later), 47 samples, 0 lines skipped"
    assert lines[-1] == "workload.log: not recognised" and len(lines) == 10
    for name in ("top-total.csv", "top-proc.csv", "nfsiostat.csv"):
        assert (tmp_path / "csv" / name).read_bytes() == (LOGS / "recorded-right" / name).read_bytes()
    right = json.loads((LOGS / "recorded-right/summary.json").read_text())
    ours = json.loads((tmp_path / "r.json").read_text())
    assert ours["top"]["gaps_s"] == right["top"]["gaps_s"]
    assert ours["iostat"]["vda"]["wkB/s"] == pytest.approx(right["iostat"]["vda"]["wkB/s"], rel=1e-12)
    assert set(ours) == set(right)


def test_other_words(run, tmp_path):
    """A recording of logs is one as any other: it is whole, shown, drawn and exported."""
    assert run("import", LOGS / "recorded", "-o", "x.tacho", "--tz", "UTC").returncode == 0
    assert "whole" in run("verify", "x.tacho").stdout
    shown = json.loads(run("show", "x.tacho", "--json").stdout)
    assert shown["machine"]["host"] == "host1" and shown["machine"]["imported"] is True
    assert [s["name"] for s in shown["spans"] if s["kind"] == "stage"] == [
        "setup-cluster", "normalization", "registration", "base-calling"]
    registration = next(s for s in shown["spans"] if s["name"] == "registration")
    assert registration["start"] == pytest.approx(1796158431.685)
    assert registration["rss_peak_bytes"] == pytest.approx(1446.46484375 * 2**20)
    assert registration["pss_peak_bytes"] is None
    assert run("chart", "x.tacho", "-o", "x.svg", "--panel", "all").returncode == 0
    svg = (tmp_path / "x.svg").read_text()
    assert "registration" in svg and "GPU" in svg and "NFS" in svg
    assert run("export", "x.tacho", "-o", "x.csv").returncode == 0
    with open(tmp_path / "x.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    busy = [float(r["gpu.util_pct:0[pct]"]) for r in rows if r["gpu.util_pct:0[pct]"]]
    assert len(busy) == 47 and sum(busy) / 47 == pytest.approx(34.46808510638298)


def test_zone(run):
    """Clocks on the wall are of a zone; stages are of none."""
    result = run("import", LOGS / "recorded", "-o", "b.tacho", "--tz", "CET-1CEST,M3.5.0,M10.5.0/3")
    assert result.returncode == 0
    shown = json.loads(run("show", "b.tacho", "--json", "--span", "all").stdout)
    assert next(s for s in shown["spans"] if s["name"] == "registration")["start"] == pytest.approx(1796158431.685)
    result = run("import", LOGS / "awkward/top-midnight.log", "-o", "m.tacho", "--tz", "CET-1CEST,M3.5.0,M10.5.0/3")
    spans = json.loads(run("show", "m.tacho", "--json", "--span", "kind=run").stdout)["spans"]
    assert spans[0]["start"] == pytest.approx(1798757995)  # 2026-12-31 22:59:55 UTC
    assert spans[0]["wall_s"] == pytest.approx(11)


def test_match_and_roles(run, tmp_path):
    result = run("import", LOGS / "awkward/top-instant.log", "--csv", "c", "--match", "MATLAB.* (-r try|x)$",
                 "--role", "first=-nosplash -r", "--role=second= x$")
    assert result.returncode == 0
    with open(tmp_path / "c/top-proc.csv", newline="") as f:
        assert [(r["pid"], r["role"]) for r in csv.DictReader(f)] == [("500", "first"), ("77", "second")]


def test_report_on_stdout(run):
    result = run("import", LOGS / "awkward/vmstat-3.3.12.log", "--report-json", "-")
    assert json.loads(result.stdout)["vmstat"]["bi"]["count"] == 49
    assert "50 samples" in result.stderr


@pytest.mark.parametrize("arguments, status, sentence", [
    ([], 2, "which logs?"),
    ([LOGS], 2, "where to?"),
    (["none", "-o", "x.tacho"], 1, "cannot read none: No such file"),
    ([LOGS / "README.md", "-o", "x.tacho"], 1, "README.md: no log of a tool that is known here"),
    ([LOGS, "-o", "x.tacho"], 1, "there is no log in this folder"),
    ([LOGS / "awkward/gpu-driver-fail.log", "-o", "x.tacho"], 1, "there is no sample in these logs"),
    ([LOGS / "awkward/top-4.0.4.log", "-o", "x.tacho", "--tz", "Mars/Olympus"], 2, "no time zone \"Mars/Olympus\""),
    ([LOGS / "awkward/top-4.0.4.log", "-o", "x.tacho", "--match", "("], 2, "is no regular expression"),
    ([LOGS / "awkward/top-4.0.4.log", "-o", "x.tacho", "--role", "x"], 2, "--role is NAME=REGEX"),
    ([LOGS / "awkward/top-4.0.4.log", "-o", "x.tacho", "--role"], 2, "--role needs a value"),
    ([LOGS / "awkward/top-4.0.4.log", "-o", "x.tacho", "--interval", "0"], 2, "--interval is a number of seconds"),
    ([LOGS / "awkward/top-4.0.4.log", "-o", "x.tacho", "--matc", "a"], 2, "did you mean --match?"),
    ([LOGS / "awkward/top-4.0.4.log", "-o", "no/x.tacho"], 1, "no/x.tacho"),
    ([LOGS / "awkward/top-4.0.4.log", "--csv", "/dev/null/x"], 1, "/dev/null"),
    ([LOGS / "awkward/top-4.0.4.log", "--report-json", "/dev/full"], 1, "cannot write /dev/full"),
])
def test_refused(run, tmp_path, arguments, status, sentence):
    result = run("import", *arguments)
    assert result.returncode == status
    assert sentence in result.stderr and len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "x.tacho").exists()


def test_left_out(run, tmp_path):
    """What has no place in a recording is named, and in the statistics nevertheless."""
    for name in ("awkward/top-nodatetime.log", "awkward/vmstat-no-timestamp.log", "recorded/gpu-20261201.log"):
        (tmp_path / pathlib.Path(name).name).write_bytes((LOGS / name).read_bytes())
    result = run("import", tmp_path, "-o", "x.tacho", "--report-json", "r.json")
    assert result.returncode == 0
    assert result.stderr.splitlines() == [
        "tachograph: top-nodatetime.log is not in the recording: its date is not known, and that of other logs is",
        "tachograph: vmstat-no-timestamp.log is not in the recording: it has no times, which --interval could tell"]
    assert set(json.loads((tmp_path / "r.json").read_text())) == {"top", "vmstat", "gpu"}


def test_not_written_over(run, tmp_path):
    (tmp_path / "x.tacho").write_text("mine")
    result = run("import", LOGS / "awkward/top-4.0.4.log", "-o", "x.tacho")
    assert result.returncode == 1 and "exists already" in result.stderr
    assert (tmp_path / "x.tacho").read_text() == "mine"


def test_byte_order_mark_and_pipe(run, exe, tmp_path):
    log = LOGS / "awkward/top-4.0.4.log"
    (tmp_path / "bom.log").write_bytes(b"\xef\xbb\xbf" + log.read_bytes())
    assert run("import", "bom.log", "-o", "x.tacho").stdout.endswith(": top (procps 3.3.17 or later), 12 samples, 0 lines skipped\n")
    done = subprocess.run(["bash", "-c", f'{exe} import <(sleep 0.3; cat {log}) -o y.tacho'], cwd=tmp_path,
                          capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 0 and ": top (procps 3.3.17 or later), 12 samples, 0 lines skipped" in done.stdout
    os.mkfifo(tmp_path / "nobody")
    result = run("import", "nobody", "-o", "z.tacho")
    assert result.returncode == 1 and "nobody: it is empty" in result.stderr
    (tmp_path / "top.log.gz").write_bytes(gzip.compress(log.read_bytes()))
    result = run("import", "top.log.gz", "-o", "z.tacho")
    assert result.returncode == 1 and "top.log.gz: it is compressed: unpack it first" in result.stderr


def test_folders_of_benchmarks(run, tmp_path):
    """Of files that are called by samples the folders are the rules; one folder says nothing."""
    head = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
    for rule, seconds in (("align", 30), ("sort", 5)):
        (tmp_path / "b" / rule).mkdir(parents=True)
        for sample in ("S1", "S2"):
            (tmp_path / "b" / rule / f"{sample}.tsv").write_text(
                head + f"{seconds}\t0:00:30\t10\t10\t10\t10\t0\t0\t100\t{seconds}\n")
    files = sorted(str(p.relative_to(tmp_path)) for p in (tmp_path / "b").glob("*/*.tsv"))

    def tasks(name, *files):
        assert run("import", *files, "-o", name).returncode == 0
        return [s for s in json.loads(run("show", name, "--json").stdout)["spans"] if s["kind"] == "task"]
    assert sorted((s["attrs"]["process"], s["name"]) for s in tasks("x.tacho", *files)) == [
        ("align", "S1"), ("align", "S2"), ("sort", "S1"), ("sort", "S2")]
    assert all("process" not in (s["attrs"] or {}) for s in tasks("y.tacho", *files[:2]))


def test_help(run):
    assert run("import", "--help").stdout.startswith("usage: tachograph import PATH")
    assert "  import    read logs that other tools took" in run("--help").stdout


def test_tasks_again(run, tmp_path):
    """The tasks of a trace go out as they came, as lines of Nextflow and as those of others."""
    assert run("import", LOGS / "workflows/trace-raw.csv", "-o", "x.tacho").returncode == 0
    assert run("export", "x.tacho", "--format", "nextflow", "--raw-numbers", "-o", "again").returncode == 0
    with open(LOGS / "workflows/trace-raw.csv") as file:
        before = {row["name"]: row for row in csv.DictReader(file) if row["name"] in ("ALIGN (S1)", "SORT (S1)")}
    with open(tmp_path / "again") as file:
        after = list(csv.DictReader(file, delimiter="\t"))
    assert [row["name"] for row in after] == list(before)
    for row in after:
        known = set(row) & set(before[row["name"]])
        assert len(known) == 11
        assert {k: row[k] for k in known} == {k: before[row["name"]][k] for k in known}
    assert run("export", "x.tacho", "--format", "snakemake", "-o", "lines").returncode == 0
    with open(tmp_path / "lines") as file:
        assert [row["s"] for row in csv.DictReader(file, delimiter="\t")] == ["60.00", "10.00"]
