# SPDX-License-Identifier: BSD-3-Clause
"""Magics through the whole chain: front end, kernel, recorder, worker, and back."""

import base64
import csv
import json
import os
import re
import subprocess
import time

import pytest

from proxied import LONG, Kernel

VEGA = "application/vnd.vegalite.v5+json"
BUSY = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end:\n    pass"


@pytest.fixture(scope="module")
def notebook(place, tmp_path_factory):
    """A recorded kernel that ran three cells: a sleep, half a second of CPU, 100 MB kept."""
    folder = tmp_path_factory.mktemp("work")
    kernel = Kernel("recorded", cwd=str(folder))
    kernel.folder = folder
    kernel.run("import time\ntime.sleep(0.4)")
    kernel.run(BUSY.format(0.5))
    kernel.run("kept = bytearray(100_000_000)\ntime.sleep(0.2)")
    yield kernel
    kernel.stop()


def run(kernel, code):
    result = kernel.run(code)
    assert result.status == "ok"
    return result


def recording(kernel, exe):
    return json.loads(run(kernel, "%tacho show --json").text)


def cells(data):
    return [s for s in data["spans"] if s["kind"] == "cell"]


def test_show(notebook):
    text = run(notebook, "%tacho show --span :2").text
    lines = text.splitlines()
    assert lines[0].split() == ["#", "cores", "over", "time", "wall", "cores", "of", "allowed", "peak",
                                "read", "written"]
    assert [line.split()[0] for line in lines[1:]] == ["0", "1", "2"]


def test_numbers(notebook, exe):
    sleep, busy, kept = cells(recording(notebook, exe))[:3]
    assert 0.4 <= sleep["wall_s"] and sleep["cpu_s"] < 0.2
    assert 0.5 <= busy["cpu_s"] < 0.7
    assert 95e6 < kept["mem_retained_bytes"] < 130e6
    assert all(c["status"] == "ok" and c["samples"] >= 2 for c in (sleep, busy, kept))


@pytest.mark.parametrize("code", ["%%display_graph_for_last", "%%display_graph_for_index 1",
                                  "\n# shown\n%display_graph_for_all", "%tacho chart --span 0:1"])
def test_graphs(notebook, code):
    (display,) = run(notebook, code).of("display_data")
    data = display["data"]
    assert set(data) == {VEGA, "image/png", "text/plain"}
    assert data[VEGA]["$schema"].endswith("/v5.json")
    png = base64.b64decode(data["image/png"])
    assert png.startswith(b"\x89PNG")
    assert len(json.dumps(data)) < 150_000
    assert " of " in data["text/plain"].splitlines()[0]


def test_code(notebook):
    text = run(notebook, "%%display_code_for_index 0").text
    stamp, code = text.split("\n--\n")
    assert re.fullmatch(r"Cell timestamp: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", stamp)
    assert code == "import time\ntime.sleep(0.4)\n"
    (display,) = run(notebook, "%%display_code_history").of("display_data")
    assert set(display["data"]) == {"text/html", "text/plain"}
    assert "bytearray(100_000_000)" in display["data"]["text/html"]


def check_history(history):
    for cell in history:
        assert len(cell) == 9
        node = cell[0]
        assert len(node) == 8
        n = len(node[1])
        assert n >= 1
        assert all(len(values) == n for values in node[0] + node[1:6] + cell[1:7])
        assert node[6:] == [[[], [], []]] * 2 and cell[7:] == [[], []]


def test_to_variable(notebook):
    result = run(notebook, "%%perfdata_to_variable perf")
    assert result.text == "Exported performance data to perf variable\n"
    check_history(json.loads(run(notebook, "import json; print(json.dumps(perf))").text))


def test_to_json(notebook):
    result = run(notebook, "%%perfdata_to_json mine")
    assert result.text == "Exported performance data to mine_perfdata.json and mine_code.json\n"
    history = json.loads((notebook.folder / "mine_perfdata.json").read_text())
    code = json.loads((notebook.folder / "mine_code.json").read_text())
    check_history(history)
    assert len(history) == len(code) >= 3
    assert code[0][1] == "import time\ntime.sleep(0.4)"


def test_export(notebook):
    assert run(notebook, "%tacho export -o out.csv").text == "Exported to out.csv\n"
    with open(notebook.folder / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"time[UTC]", "t[s]", "cell", "tree.cpu_ns[ns]"} <= set(rows[0])
    busy = [int(r["tree.cpu_ns[ns]"]) for r in rows if r["cell"] == "1" and r["tree.cpu_ns[ns]"]]
    assert 0.4e9 < busy[-1] - busy[0] < 0.7e9


def test_mark(notebook, exe):
    run(notebook, "%tacho mark loaded rows=4000")
    marks = [e["event"] for e in recording(notebook, exe)["events"] if e["what"] == "mark"]
    assert marks[-1]["name"] == "loaded" and marks[-1]["attrs"] == {"rows": "4000"}


def test_mark_is_told(notebook):
    """One above the code of a cell is a moment of it."""
    run(notebook, "%tacho mark fitting\ntime.sleep(1)")
    (display,) = run(notebook, "%tacho chart --span last").of("display_data")
    chart = display["data"]
    (flag,) = chart[VEGA]["datasets"]["flags"]
    assert flag["n"] == "fitting" and 0 <= flag["t"] < 1
    assert re.search(r"^at .*: fitting$", chart["text/plain"], re.M)
    assert re.search(r"^Mark at .*: fitting$", run(notebook, "%tacho show").text, re.M)


def test_set_interval(notebook, exe):
    run(notebook, "%tacho set interval=0.02")
    run(notebook, "time.sleep(0.6)")
    fast = cells(recording(notebook, exe))[-1]
    run(notebook, "%tacho set interval=0.1")
    assert fast["samples"] + fast["missed"] > 12


@pytest.mark.parametrize("code, sentence", [
    ("%%display_code_for_index", "No index specified. Use: %%display_code_for_index index"),
    ("%%display_graph_for_index x", '"x" is no index. Use: %%display_graph_for_index index'),
    ("%%perfdata_to_json", "No filename to export specified. Use: %%perfdata_to_json myfile"),
    ("%tacho shwo", 'There is no "shwo" here; did you mean "show"?'),
    ("%tacho set interval=fast",
     "interval is a number of seconds from 0.001 to 3600; 0.1 stays"),
])
def test_wrong_use(notebook, code, sentence):
    before = run(notebook, "1").reply["content"]["execution_count"]
    result = run(notebook, code)
    assert result.stderr == sentence + "\n"
    assert run(notebook, "1").reply["content"]["execution_count"] == before + 2


def test_index_out_of_range(notebook):
    sentence = run(notebook, "%%display_graph_for_index 999").stderr
    assert re.fullmatch(r"Tracked only \d+ cells. This index is not available.\n", sentence)


def test_cost(notebook):
    text = run(notebook, "%%tacho\n" + BUSY.format(0.2)).text
    assert re.match(r"[\d.]+ m?s · [\d.]+ (of [\d.]+ )?cores · peak [\d.]+ MB", text)


def test_report(start):
    kernel = start("recorded")
    kernel.run("%env JUMPER_REPORT_FREQUENCY=0.1")
    text = kernel.run(BUSY.format(0.4)).text
    assert re.fullmatch(
        r"\n----Performance Data----\nDuration: [\d.]+\n"
        r"\nCPU Util \(Across CPUs\)       \tAVG: [\d.]+\t MIN: [\d.]+\t MAX: [\d.]+\n"
        r"Mem Util in GB \(Across nodes\)\tAVG: [\d.]+\t MIN: [\d.]+\t MAX: [\d.]+\n"
        r"IO Ops \(excl.\) Read          \tTotal: \d+\n"
        r"               Write         \tTotal: \d+\n"
        r"IO Bytes \(excl.\) Read        \tTotal: [\d.]+\n"
        r"                 Write       \tTotal: [\d.]+\n", text)


def test_file_is_good(start, place, exe):
    kernel = start("recorded")
    kernel.run("1 + 1")
    file = json.loads(kernel.run("%tacho show --json").text)["file"]
    kernel.stop()
    verify = subprocess.run([exe, "verify", file], capture_output=True, text=True, check=False)
    assert verify.returncode == 0, verify.stdout + verify.stderr


def test_newest_and_running_from_outside(start, tmp_path, exe):
    env = {**os.environ, "TACHOGRAPH_DIR": str(tmp_path)}
    kernel = start("recorded", env=env)
    kernel.run("pass")
    msg_id = kernel.send("__import__('time').sleep(60)")
    kernel.wait_input(msg_id)
    end = time.monotonic() + LONG
    lines = []
    while not (lines and "sleep(60) · running" in lines[-1]):  # " · waits", perhaps
        # the recorder takes a moment to start, and writes once a second
        assert time.monotonic() < end, shown
        time.sleep(0.1)
        shown = subprocess.run([exe, "show"], env=env, capture_output=True, text=True)
        lines = shown.stdout.splitlines()
    (path,) = tmp_path.glob("*.tacho")
    assert shown.stderr == f"tachograph: The newest recording: {path}\n"
    assert lines[-2].endswith("pass")


def test_reason_why_nothing_is_recorded(start, tmp_path):
    # a folder in which root, too, can make no file
    kernel = start("recorded", env={**os.environ, "TACHOGRAPH_DIR": "/sys/kernel"})
    for code in ("%tacho show", "%tacho verify", "%%display_graph_for_all", "%tacho mark x"):
        result = kernel.run(code)
        assert result.status == "ok" and re.fullmatch(
            r"Nothing is recorded: /sys/kernel/\S+[.]tacho: [A-Z][A-Za-z -]+", result.stderr.splitlines()[-1])
    kernel = start("recorded", env={**os.environ, "TACHOGRAPH_DIR": str(tmp_path)})
    kernel.run("pass")
    kernel.run("%tacho show")
    for path in tmp_path.glob("*.tacho"):
        path.unlink()
    result = kernel.run("%tacho show")
    # unless a second has gone by, after which another recording begins
    assert "The recording is gone: its file was removed or renamed" in result.stderr.splitlines() \
        or list(tmp_path.glob("*.tacho"))
    assert "No such file" not in result.stderr


def test_examples_of_help(notebook):
    words = re.findall(r"^  (\w+) ", run(notebook, "%tacho help").text, re.M)
    assert {"show", "chart", "export", "verify", "mark", "set", "list", "help"} <= set(words)
    for word in words:
        (example,) = re.findall("^Example: (.*)$", run(notebook, f"%tacho help {word}").text, re.M)
        result = run(notebook, example)
        if word == "compare":  # its example names files that are not here
            assert "before.tacho: No such file" in result.stderr
            continue
        assert result.stderr == "" and example.startswith(f"%tacho {word}")
    run(notebook, "%tacho set interval=0.1")
