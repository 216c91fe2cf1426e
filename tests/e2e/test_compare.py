# SPDX-License-Identifier: BSD-3-Clause
"""`tachograph compare`: runs that were recorded, of which one needs twice the CPU time."""

import json
import subprocess

import pytest

from proxied import LONG

LOOP = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
HOSTILE = "\x1b[31m<b>\u202e&,"


@pytest.fixture(scope="module")
def runs(place, exe, tmp_path_factory):
    """Two of each, with a stage `burn`; the second kind does it twice as long."""
    folder = tmp_path_factory.mktemp("compare")
    for name, loops, lone in (("once", 400000, "left"), ("twice", 800000, HOSTILE)):
        (folder / name).mkdir()
        script = f'"$0" mark burn; {LOOP.format(loops)}; "$0" mark --end; "$0" mark "$1" -- true'
        for i in "12":
            subprocess.run([exe, "record", "-q", "-o", folder / name / f"{i}.tacho", "--",
                            "sh", "-c", script, exe, lone], check=True, timeout=LONG)
    return folder


@pytest.fixture
def compare(exe, runs):
    def run(*arguments):
        return subprocess.run([exe, "compare", *arguments], cwd=runs, capture_output=True, text=True, timeout=LONG)
    return run


def test_twice_the_cpu(compare):
    found = json.loads(compare("once/1.tacho", "twice/1.tacho", "--json").stdout)
    assert [side["files"] for side in found["sides"]] == [["once/1.tacho"], ["twice/1.tacho"]]
    whole, burn, *_ = found["stages"]
    assert (whole["kind"], burn["kind"], burn["name"]) == ("run", "stage", "burn")
    first, second = burn["costs"]["cpu_s"]
    assert 1.3 < second["median"] / first["median"] < 3
    assert second["difference_pct"] == pytest.approx(100 * (second["median"] / first["median"] - 1))
    assert second["verdict"] == "noise unknown" and second["noise"] is None and first["spread"] is None
    assert "above" not in second and found["fail_above_pct"] is None
    assert whole["costs"]["cpu_s"][1]["median"] >= second["median"]


def test_limit(compare):
    above = compare("once/1.tacho", "twice/1.tacho", "--metric", "cpu", "--fail-above", "10%")
    assert above.returncode == 3 and above.stdout.count("noise unknown") >= 2
    assert above.stderr.startswith("tachograph: Above the limit of 10 %: B: whole run, CPU time +")
    for arguments in (("once/1.tacho", "twice/1.tacho", "--fail-above", "400"),
                      ("twice/1.tacho", "once/1.tacho", "--fail-above", "10%"),
                      ("once/1.tacho", "once/1.tacho", "--fail-above", "0")):
        within = compare(*arguments, "--metric", "cpu")
        assert (within.returncode, within.stderr) == (0, "")


def test_repeats(compare):
    """Folders and names with commas are the same; the noise is known, and small against twice."""
    by_folder = json.loads(compare("once", "twice", "--json", "--span", "name=burn").stdout)
    by_name = json.loads(compare("once/1.tacho,once/2.tacho", "twice/1.tacho,twice/2.tacho", "--json",
                                 "--span", "name=burn").stdout)
    assert by_folder["stages"] == by_name["stages"]
    (burn,) = by_folder["stages"]
    first, second = burn["costs"]["cpu_s"]
    assert len(first["values"]) == len(second["values"]) == 2
    assert second["noise"] >= 0 and second["p"] == pytest.approx(1 / 3)
    assert second["verdict"] in ("beyond noise", "within noise")


def test_stages_of_one_alone(compare):
    result = compare("once/1.tacho", "twice/1.tacho")
    assert result.returncode == 0
    assert [line.split()[0] for line in result.stdout.splitlines() if line.endswith("only in A")] == ["left"]
    assert result.stdout.count("only in B") == 1
    assert not set("\x1b\u202e") & set(result.stdout)
    (lone,) = [s for s in json.loads(compare("once/1.tacho", "twice/1.tacho", "--json").stdout)["stages"]
               if s["name"] == "left"]
    assert lone["costs"]["wall_s"][1]["values"] == [] and lone["costs"]["wall_s"][1]["median"] is None
    assert lone["costs"]["wall_s"][1]["verdict"] == "unknown"


def test_what_cannot_be_compared(compare, runs, exe):
    def fails(status, sentence, *arguments):
        result = compare(*arguments)
        assert (result.returncode, result.stdout) == (status, "") and sentence in result.stderr, result.stderr
    (runs / "bad.tacho").write_bytes(b"junk")
    (runs / "empty").mkdir()
    fails(1, "nix.tacho: No such file", "once/1.tacho", "nix.tacho")
    fails(1, "nix.tacho: No such file", "once/1.tacho", "once/2.tacho,nix.tacho")
    fails(1, "bad.tacho is not a recording", "bad.tacho", "once")
    fails(1, "There are no recordings in empty", "once", "empty")
    fails(1, "selects nothing", "once", "twice", "--span", "name=zzz")
    fails(2, "An empty name", "once/1.tacho", "")
    fails(2, "compare wants two recordings", "once/1.tacho")
    fails(2, 'no cost "cpux"', "once", "twice", "--metric", "cpux")
    for limit in ("-1", "nan", "x", "10%%", ""):
        fails(2, "--fail-above is a number", "once", "twice", f"--fail-above={limit}")


def test_without_runs(compare, runs):
    """A recording that was cut before anything was in it says so."""
    data = (runs / "once/1.tacho").read_bytes()
    (runs / "cut.tacho").write_bytes(data[:data.index(b"\x89TGR", 4)])
    result = compare("cut.tacho", "once/1.tacho")
    assert result.returncode == 1 and "nothing was recorded" in result.stderr
