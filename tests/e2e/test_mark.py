# SPDX-License-Identifier: BSD-3-Clause
"""`tachograph mark`: stages of a script that is recorded, and nothing at all elsewhere."""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from proxied import LONG


@pytest.fixture
def script(exe, tmp_path):
    """Run lines of sh with $T as our executable, recorded or not; the stages by name."""
    class Script:
        file = tmp_path / "run.tacho"

        def plain(self, lines, **env):
            return subprocess.run(["sh", "-c", lines], cwd=tmp_path, capture_output=True, text=True, timeout=LONG,
                                  env={**os.environ, "T": exe, **env})

        def recorded(self, lines, **env):
            return subprocess.run([exe, "record", "-q", "-o", self.file, "sh", "-c", lines], cwd=tmp_path,
                                  capture_output=True, text=True, timeout=LONG, env={**os.environ, "T": exe, **env})

        def stages(self):
            out = tmp_path / "out.json"
            subprocess.run([exe, "export", self.file, "-o", out], check=True, timeout=LONG)
            content = json.loads(out.read_text())
            self.run = next(s for s in content["spans"] if s["kind"] == "run")
            return [s for s in content["spans"] if s["kind"] == "stage"]
    return Script()


def interval(span):
    return span["start"], span["start"] + span["wall_s"]


def is_within(inner, outer, slack=0.02):
    (a, b), (c, d) = interval(inner), interval(outer)
    return c - slack <= a and b <= d + slack


def test_stages(script):
    result = script.recorded("$T mark align sample=S1 threads=8; sleep 0.3; $T mark inner; sleep 0.2; $T mark --end; "
                             "sleep 0.1; $T mark --end align; $T mark sort; sleep 0.1; $T mark --end")
    assert (result.returncode, result.stderr) == (0, "")
    align, inner, sort = script.stages()
    assert [s["name"] for s in (align, inner, sort)] == ["align", "inner", "sort"]
    assert [s["status"] for s in (align, inner, sort)] == ["ok"] * 3
    assert align["attrs"] == {"sample": "S1", "threads": "8"}
    assert is_within(inner, align) and is_within(align, script.run)
    assert interval(sort)[0] >= interval(align)[1] - 0.02
    assert align["wall_s"] > 0.6 and 0.2 <= inner["wall_s"] < align["wall_s"]


def test_stages_of_the_same_name(script):
    """The youngest ends first."""
    script.recorded("$T mark a; sleep 0.2; $T mark a; sleep 0.2; $T mark --end a; sleep 0.2; $T mark --end a")
    one, two = sorted(script.stages(), key=lambda s: s["start"])
    assert is_within(two, one) and two["status"] == one["status"] == "ok"


def test_concurrent_stages(script):
    """Each shell has its own, however they are called."""
    script.recorded("for i in 1 2 3; do sh -c '$T mark part n='$i'; sleep 0.4; $T mark --end part' & done; wait")
    stages = script.stages()
    assert sorted(s["attrs"]["n"] for s in stages) == ["1", "2", "3"]
    assert all(s["status"] == "ok" and s["wall_s"] >= 0.4 for s in stages)


def test_stage_ends_with_its_shell(script):
    script.recorded("sh -c '$T mark left; sleep 0.2; true'; sleep 1.5; $T mark next; $T mark --end next")
    left, after = script.stages()
    assert left["status"] == "unknown" and 0.2 <= left["wall_s"] and interval(left)[1] < interval(after)[0]


@pytest.mark.parametrize("code", [0, 3])
def test_command(script, code):
    result = script.recorded(f"$T mark sort n=1 -- sh -c 'echo out; sleep 0.2; exit {code}'; echo rc $?")
    assert result.stdout == f"out\nrc {code}\n"
    (sort,) = script.stages()
    assert (sort["name"], sort["attrs"], sort["status"]) == ("sort", {"n": "1"}, "error" if code else "ok")
    assert 0.2 <= sort["wall_s"] and is_within(sort, script.run)


def test_elsewhere_it_does_nothing(script, tmp_path):
    lines = "set -e; $T mark a; $T mark --end; $T mark --end a; $T mark b -- sh -c 'echo run; exit 4' || echo rc $?"
    for env in ({}, {"TACHOGRAPH_SOCKET": "other:boot:/run/x.sock"}, {"TACHOGRAPH_SOCKET": "nonsense"},
                {"TACHOGRAPH_SOCKET": f"{os.uname().nodename}:x:{tmp_path}/none.sock"}):
        result = script.plain(lines, **env)
        assert (result.stdout, result.stderr, result.returncode) == ("run\nrc 4\n", "", 0)
    assert not list(tmp_path.glob("*.tacho"))


def test_in_a_notebook(start, exe, tmp_path):
    """A script that a cell runs has stages, too, inside the cell."""
    kernel = start("recorded", env={**os.environ, "TACHOGRAPH_DIR": str(tmp_path)})
    kernel.run(f"import subprocess; subprocess.run(['sh', '-c', '{exe} mark a; sleep 0.2; {exe} mark --end'])")
    content = json.loads(kernel.run("%tacho show --json --span all").text)
    (stage,), cells = ([s for s in content["spans"] if s["kind"] == kind] for kind in ("stage", "cell"))
    assert stage["name"] == "a" and is_within(stage, cells[0])


def test_what_is_wrong_is_said(script):
    """A mistake in the line is an error; that nothing of the name is open is none."""
    for wrong in ("", "''", "-x", "a b", "a =b", "a --", "--end a b"):
        result = script.recorded(f"$T mark {wrong}; echo rc $?")
        assert result.stdout == "rc 2\n" and result.stderr.count("\n") == 1, wrong
    result = script.recorded("set -e; $T mark --end never; echo on")
    assert result.stdout == "on\n" and "never" in result.stderr


def test_names(script):
    name = "a b/c\n" + "ü" * 200
    script.recorded('$T mark "$NAME" "k=v=w" ; sleep 0.1; $T mark --end "$NAME"', NAME=name)
    (stage,) = script.stages()
    assert stage["name"] == name and stage["attrs"] == {"k": "v=w"} and stage["status"] == "ok"


EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def path_with(exe, tmp_path):
    """An environment in which `tachograph` is ours."""
    bin = tmp_path / "bin"
    bin.mkdir()
    bin.joinpath("tachograph").symlink_to(exe)
    return {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}"}


def test_makefile(script, path_with, exe, tmp_path):
    """Each recipe is a stage, named after its target; not recorded, it does the same."""
    make = ["make", "-j2", "-f", EXAMPLES / "Makefile"]
    subprocess.run([exe, "record", "-o", script.file, *make], cwd=tmp_path, env=path_with, check=True, timeout=LONG)
    assert (tmp_path / "count").read_text().split() == ["200000"]
    assert {s["name"]: s["status"] for s in script.stages()} == dict.fromkeys(("numbers", "even", "odd", "count"), "ok")
    for env in (path_with, {**os.environ, "PATH": os.defpath}):
        for name in ("numbers", "even", "odd", "count"):
            (tmp_path / name).unlink()
        subprocess.run(make, cwd=tmp_path, env=env, check=True, timeout=LONG)
        assert (tmp_path / "count").read_text().split() == ["200000"]


def test_array(path_with, exe, tmp_path):
    """Tasks of an array, as Slurm starts them: a file each, compared with what was requested."""
    for task in ("1", "2"):
        env = {**path_with, "SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_JOB_ID": "9" + task, "SLURM_ARRAY_JOB_ID": "9",
               "SLURM_ARRAY_TASK_ID": task, "SLURM_CPUS_PER_TASK": "2", "SLURM_MEM_PER_NODE": "1024"}
        subprocess.run([EXAMPLES / "sbatch-array.sh"], cwd=tmp_path, env=env, check=True, timeout=LONG)
    files = sorted(p.name for p in (tmp_path / "recordings").iterdir())
    assert len(files) == 2 and "-9_1-" in files[0] and "-9_2-" in files[1]
    shown = subprocess.run([exe, "show", tmp_path / "recordings"], capture_output=True, text=True, timeout=LONG).stdout
    assert "of requested" in shown and shown.splitlines()[-1].startswith("sh ")


def snakemake():
    """That of scripts/setup.sh, or of this machine."""
    ours = EXAMPLES.parent / "build" / "snakemake" / "bin" / "snakemake"
    found = str(ours) if ours.exists() else shutil.which("snakemake")
    if not found:
        pytest.skip("there is no snakemake: neither in build/snakemake (scripts/test e2e) nor on PATH")
    return [found, "-q", "-c2", "-s", EXAMPLES / "Snakefile"]


def test_snakefile(script, path_with, exe, tmp_path):
    """Each job is a stage; in a job of Slurm a recording; and otherwise it does the same."""
    make = snakemake()
    (tmp_path / "jobs").mkdir()

    def run(*argv, **env):
        for name in tmp_path.glob("*.txt"):
            name.unlink()
        subprocess.run(argv, cwd=tmp_path, check=True, timeout=LONG, env={**path_with, "XDG_CACHE_HOME": str(tmp_path), **env})
        assert (tmp_path / "count.txt").read_text().split() == ["200000"]
    run(exe, "record", "-o", script.file, *make)
    assert sorted((s["name"], s["attrs"]["wildcards"], s["attrs"]["threads"]) for s in script.stages()) == [
        ("count", "", "1"), ("half", "half=even", "1"), ("half", "half=odd", "1"), ("numbers", "", "1")]
    run(*make, PATH=os.defpath)
    run(*make)
    assert not list((tmp_path / "jobs").iterdir())
    run(*make, SLURM_JOB_ID="7", TACHOGRAPH_DIR=str(tmp_path / "jobs"))
    stages = set()
    for file in (tmp_path / "jobs").iterdir():
        assert "-7-" in file.name
        spans = json.loads(subprocess.run([exe, "export", file, "-o", "-", "--format", "json"], check=True,
                                          capture_output=True, timeout=LONG).stdout)["spans"]
        stages |= {(s["name"], s["attrs"]["wildcards"]) for s in spans if s["kind"] == "stage"}
    assert stages == {("count", ""), ("half", "half=even"), ("half", "half=odd"), ("numbers", "")}


def test_nextflow_config(path_with, tmp_path):
    """Run as a task's wrapper does: the words of process.shell, then the script, which begins with them."""
    (words,) = re.findall(r"^process\.shell = \[(.*)\]$", (EXAMPLES / "nextflow.config").read_text(), re.M)
    shell = re.findall(r"'([^']*)'", words)
    task = tmp_path / ".command.sh"
    task.write_text(f"#!{' '.join(shell)}\necho done; exit 3\n")
    env = {k: v for k, v in path_with.items() if k != "TACHOGRAPH_DIR"}
    result = subprocess.run([*shell, task], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=LONG)
    assert (result.stdout, result.stderr, result.returncode) == ("done\n", "", 3)
    assert len(list(tmp_path.glob("bash-*.tacho"))) == 1


def test_example(exe, tmp_path, place):
    """The pipeline of examples/: recorded or not, with us on the machine or not, it does the same."""
    example = pathlib.Path(__file__).resolve().parents[2] / "examples" / "pipeline.sh"
    bin = tmp_path / "bin"
    bin.mkdir()
    bin.joinpath("tachograph").symlink_to(exe)
    base = {k: v for k, v in os.environ.items() if k != "TACHOGRAPH_DIR"}
    path = {"with": f"{bin}:{base['PATH']}", "without": os.defpath}
    outputs = {name: subprocess.run([example, "30000"], cwd=tmp_path, capture_output=True, text=True, timeout=LONG,
                                    env={**base, "PATH": path[name]}) for name in path}
    files = [p.name for p in tmp_path.iterdir()]
    recorded = subprocess.run([example, "-P", "30000"], cwd=tmp_path, capture_output=True, text=True, timeout=LONG,
                              env={**base, "PATH": path["with"]})
    for result in (*outputs.values(), recorded):
        assert result.returncode == 0 and result.stdout == outputs["with"].stdout
    assert outputs["with"].stderr == outputs["without"].stderr == ""
    assert not set(files) & {"pipeline.html", "pipeline-csv"}
    (file,) = tmp_path.glob("pipeline.sh-*.tacho")
    page = (tmp_path / "pipeline.html").read_text()
    assert "</html>" in page and all(re.search(rf">\s*{name}\s*<", page) for name in ("make", "sort", "count", "even", "odd"))
    with open(tmp_path / "pipeline-csv" / "spans.csv", newline="") as f:
        assert {row["name"] for row in csv.DictReader(f)} == {"pipeline.sh", "make", "sort", "count", "even", "odd"}
    with open(tmp_path / "pipeline-csv" / "samples.csv", newline="") as f:
        assert any(name.startswith("tree.cpu") for name in next(csv.reader(f))) and len(list(f)) > 2
    subprocess.run([exe, "export", file, "-o", tmp_path / "out.json"], check=True, timeout=LONG)
    spans = json.loads((tmp_path / "out.json").read_text())["spans"]
    stages = {s["name"]: s for s in spans if s["kind"] == "stage"}
    assert set(stages) == {"make", "sort", "count", "even", "odd"}
    assert stages["make"]["attrs"] == {"lines": "30000"}
    assert is_within(stages["even"], stages["count"], 0.3) and is_within(stages["odd"], stages["count"], 0.3)
