# SPDX-License-Identifier: BSD-3-Clause
"""Cells in the recording: from the front end's request to `tachograph show`."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from proxied import LONG, everywhere, recorder_at, recorder_of, wait_gone


@pytest.fixture
def recording(start, tmp_path, exe):
    """Start a recorded kernel with a folder of its own; its spans are read when it has ended."""
    class Recording:
        def start(self, name="fake", **env):
            self.kernel = start(name, env={**os.environ, "TACHOGRAPH_DIR": str(tmp_path), **env})
            return self.kernel

        def files(self):
            return sorted(tmp_path.glob("*.tacho"))

        def content(self):
            """All of the one file."""
            (path,) = self.files()
            text = path.with_suffix(".json")
            subprocess.run([exe, "export", path, "-o", text], check=True, timeout=LONG)
            return json.loads(text.read_text())

        def spans(self, kind="cell"):
            return [s for s in self.content()["spans"] if s["kind"] == kind]
    return Recording()


def finish(kernel):
    """An orderly end: the recorder finishes the file."""
    recorder = recorder_of(kernel)
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel()
    wait_gone(recorder)


@everywhere
def test_cells(recording):
    kernel = recording.start()
    kernel.run("# a comment\n\nvalue = sum(range(10 ** 6))\nvalue")
    kernel.run("1/0")
    kernel.run("'silent'", silent=True)
    kernel.run("%tacho x\n'below'")
    kernel.run("'not stored'", store_history=False)
    finish(kernel)
    cells = recording.spans()
    assert [(c["name"], c["status"]) for c in cells] == [
        ("value = sum(range(10 ** 6))", "ok"), ("1/0", "error"), ("'below'", "ok"),
        ("'not stored'", "ok")]
    (run,) = recording.spans("run")
    assert run["name"] == "plain" and run["status"] == "ok"


@everywhere
def test_queued_cells_have_their_own_times(recording):
    kernel = recording.start()
    ids = [kernel.send("import time; time.sleep(.3)") for _ in range(3)]
    kernel.all_of(ids)
    finish(kernel)
    for cell in recording.spans():
        assert 0.2 < cell["wall_s"] < 10  # a message may be read late, on a busy machine
    starts = [c["start"] for c in recording.spans()]
    assert all(b - a > 0.2 for a, b in zip(starts, starts[1:]))


def test_aborted_cells_are_not_ok(recording):
    kernel = recording.start()
    ids = [kernel.send("import time; time.sleep(.3); 1/0"), kernel.send("'never'")]
    kernel.all_of(ids)
    finish(kernel)
    assert [c["status"] for c in recording.spans()] == ["error", "aborted"]


def test_hundred_cells(recording):
    kernel = recording.start()
    for i in range(100):
        kernel.run(f"'{i}'")
    finish(kernel)
    cells = recording.spans()
    assert [c["name"] for c in cells] == [f"'{i}'" for i in range(100)]
    assert all(c["status"] == "ok" for c in cells)


@everywhere
def test_one_file_over_restarts_and_deaths(recording):
    kernel = recording.start()
    kernel.run("'one'")
    kernel.restart()
    kernel.run("'two'")
    kernel.run("import os; os._exit(3)")
    kernel.wait_end()
    kernel.restart()
    kernel.run("'three'")
    finish(kernel)
    assert [(c["name"], c["status"]) for c in recording.spans()] == [
        ("'one'", "ok"), ("'two'", "ok"), ("import os; os._exit(3)", "died"), ("'three'", "ok")]
    assert [r["status"] for r in recording.spans("run")] == ["ok", "died", "ok"]


def test_show_tells_how_kernels_ended(recording, exe):
    """An end that was wanted is nothing to tell; what killed it is, and whether memory was the cause."""
    kernel = recording.start()
    kernel.run("'one'")
    kernel.restart()
    pid = kernel.inner_pid()
    kernel.run("import os; os.kill(os.getpid(), 9)")
    kernel.wait_end()
    kernel.restart()
    kernel.run("'three'")
    finish(kernel)
    (path,) = recording.files()
    shown = subprocess.run([exe, "show", path], capture_output=True, text=True, check=True).stdout
    ends = [line for line in shown.splitlines() if line.startswith("Process")]
    assert len(ends) == 1 and re.match(
        rf"Process {pid} was killed by signal 9 \(SIGKILL\)\. Out of memory: (no|unknown): .*\.$", ends[0]), shown
    alone = subprocess.run([exe, "show", path, "--span", "0"], capture_output=True, text=True, check=True).stdout
    assert "Process" not in alone


@pytest.mark.parametrize("stubborn", [False, True], ids=["SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("asked", [True, False], ids=["asked", "not asked"])
def test_a_signal_that_a_shutdown_needs_is_no_accident(recording, exe, asked, stubborn):
    """Jupyter asks, then sends SIGTERM to a kernel that is slow, then SIGKILL, which kills the proxy, too."""
    kernel = recording.start()
    kernel.run("import atexit, signal, time; atexit.register(time.sleep, 600)"
               + ("; signal.signal(signal.SIGTERM, signal.SIG_IGN)" if stubborn else ""))
    pid, recorder = kernel.inner_pid(), recorder_of(kernel)
    kernel.client.stop_channels()
    kernel.manager.shutdown_wait_time = 1
    if asked:
        kernel.manager.shutdown_kernel()
    else:
        os.kill(pid, signal.SIGKILL if stubborn else signal.SIGTERM)
        kernel.wait_end()
        kernel.manager.shutdown_kernel(now=True)
    wait_gone(recorder)
    (path,) = recording.files()
    shown = subprocess.run([exe, "show", path], capture_output=True, text=True, check=True).stdout
    assert (f"Process {pid} was killed by signal {9 if stubborn else 15} " in shown) is not asked, shown


def test_name_of_the_file(recording):
    kernel = recording.start(JPY_SESSION_NAME="/home/someone/my notebook.ipynb")
    kernel.run("1")
    finish(kernel)
    (path,) = recording.files()
    host = os.uname().nodename.split(".")[0]
    assert path.name.startswith(f"my notebook-{host}-20") and path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("notebook, name", [
    ("/", "kernel"), ("/a/.ipynb", "kernel"), ("/a/x\udcff\n\x7f.ipynb", "x___")])
def test_names_that_are_no_names(recording, notebook, name):
    kernel = recording.start(JPY_SESSION_NAME=notebook)
    kernel.run("1")
    finish(kernel)
    assert recording.files()[0].name.startswith(f"{name}-{os.uname().nodename.split('.')[0]}-20")


def test_long_name_is_cut_between_characters(recording):
    """Names of files are UTF-8, also where a notebook's name is cut."""
    kernel = recording.start(JPY_SESSION_NAME="/home/someone/" + "測" * 80 + ".ipynb")
    told = json.loads(kernel.run("%tacho x").data[0])["recorder"]["file"]
    finish(kernel)
    (path,) = recording.files()
    assert path.name.startswith("測" * 33 + "-" + os.uname().nodename.split(".")[0]) and str(path) == told


def test_two_kernels_in_one_folder(start, tmp_path):
    env = {**os.environ, "TACHOGRAPH_DIR": str(tmp_path)}
    kernels = [start("fake", env=env), start("fake", env=env)]
    for kernel in kernels:
        kernel.run("1")
    assert len({recorder_of(k) for k in kernels}) == 2
    assert len({json.loads(k.run("%tacho x").data[0])["recorder"]["file"] for k in kernels}) == 2


@everywhere
def test_recorder_is_started_again_then_given_up(recording):
    """Its death costs the user nothing; the second within a minute ends the recording, told once."""
    kernel = recording.start()
    kernel.run("1")
    first = recorder_of(kernel)
    os.kill(first, signal.SIGKILL)
    wait_gone(first)
    assert kernel.run("2").stderr == ""
    second = recorder_of(kernel)
    assert second and second != first
    os.kill(second, signal.SIGKILL)
    wait_gone(second)
    said = [kernel.run("3").stderr, kernel.run("4").stderr, kernel.run("5").stderr]
    assert sorted(said) == ["", "", "tachograph: nothing is recorded: "
                            "the recorder ended twice within a minute\n"]
    request = json.loads(kernel.run("%tacho x").data[0])
    assert request["recorder"] is None and "twice within a minute" in request["why"]
    assert kernel.run("%%tacho\n'goes on'").data == ["'goes on'"]


def test_recorder_that_cannot_begin_says_why(recording):
    kernel = recording.start()
    socket = pathlib.Path(json.loads(kernel.run("%tacho x").data[0])["recorder"]["socket"])
    recorder = recorder_of(kernel)
    os.kill(recorder, signal.SIGSTOP)
    socket.unlink()
    socket.mkdir()  # where the next one wants to listen
    try:
        os.kill(recorder, signal.SIGKILL)
        wait_gone(recorder)
        said = ""
        for _ in range(int(LONG / 0.1)):
            said += kernel.run("1").stderr
            if said:
                break
            time.sleep(0.1)
        assert said == f"tachograph: nothing is recorded: cannot listen at {socket}: Address already in use\n"
        assert json.loads(kernel.run("%tacho x").data[0])["why"] == (
            f"Nothing is recorded: cannot listen at {socket}: Address already in use.")
    finally:
        socket.rmdir()


def test_recorder_that_is_stopped_for_a_while(recording):
    """Cells are missing, which the user and the recording are told once; those it knows of end."""
    kernel = recording.start()
    kernel.run("'first'")
    recorder = recorder_of(kernel)
    os.kill(recorder, signal.SIGSTOP)
    said, n = "", 0
    try:
        while said.count("\n") < 1 and n < 100:
            n += 1
            said += kernel.run(f"{n} # " + "x" * 30000).stderr
        assert said == ("tachograph: the recorder takes no more marks, "
                        "some cells are missing from the recording\n")
        assert kernel.run("'missing'").stderr == ""
    finally:
        os.kill(recorder, signal.SIGCONT)
    while "'back'" not in [c["name"] for c in recording.spans()]:  # it is, as soon as there is room
        assert kernel.run("'back'").stderr == ""
        kernel.run("%tacho x")
        time.sleep(1.2)
    finish(kernel)
    content = recording.content()
    cells = recording.spans()
    assert all(c["status"] == "ok" for c in cells)
    names = [c["name"] for c in cells]
    assert names[0] == "'first'" and names[1].startswith("1 # x")
    assert "'missing'" not in names and names[-1] == "'back'"
    (note,) = [e for e in content["events"] if "lost" in json.dumps(e)]
    assert "marks are lost: the recorder did not take them" in json.dumps(note)


@everywhere
def test_cell_outlives_its_recorder(recording):
    """The next recorder is started while the cell runs, and is told that it began, and when."""
    kernel = recording.start()
    kernel.run("'before'")
    first = recorder_of(kernel)
    msg_id = kernel.send("""import time; long = time.time() + 4
def burn(s):
    end = time.process_time() + s
    while time.process_time() < end: pass
burn(1); time.sleep(max(0, long - time.time())); burn(1)""")
    kernel.wait_input(msg_id)
    time.sleep(1.5)  # for the file to have the first cell
    os.kill(first, signal.SIGKILL)
    assert kernel.collect(msg_id).stderr == ""
    kernel.run("'after'")
    finish(kernel)
    cells = recording.spans()
    assert [(c["name"], c["status"]) for c in cells] == [
        ("'before'", "ok"), ("import time; long = time.time() + 4", "ok"), ("'after'", "ok")]
    assert 4.9 < cells[1]["wall_s"] < 60
    # both recorders' parts, though what came between them was not sampled
    assert 1.9 < cells[1]["cpu_s"] < 6 and not cells[1]["exact"]
    assert 0.1 < cells[1]["cores_max"] < 3
    (run,) = recording.spans("run")
    assert run["status"] == "ok"


@pytest.mark.parametrize("what", ["file", "folder"])
def test_recording_that_is_deleted(recording, tmp_path, what):
    """Its end is said once; another one begins, which knows of the cell that runs."""
    folder = tmp_path / "recordings"
    kernel = recording.start(TACHOGRAPH_DIR=str(folder))
    kernel.run("'before'")
    while not (files := list(folder.glob("*.tacho"))):
        time.sleep(0.05)
    msg_id = kernel.send(f"import pathlib, time; file = pathlib.Path({str(files[0])!r})\n"
                         "while file.exists(): time.sleep(.01)\nwhile not file.exists(): time.sleep(.01)")
    kernel.wait_input(msg_id)
    files[0].unlink()
    if what == "folder":
        folder.rmdir()
    assert kernel.collect(msg_id).stderr == ""
    assert kernel.run("'after'").stderr == "tachograph: the recording was deleted, a new one begins\n"
    assert kernel.run("'later'").stderr == ""
    finish(kernel)
    (path,) = folder.glob("*.tacho")
    path.rename(tmp_path / path.name)
    running = recording.spans()[0]["name"]
    assert running.startswith("import pathlib")
    assert [(c["name"], c["status"]) for c in recording.spans()] == [
        (running, "ok"), ("'after'", "ok"), ("'later'", "ok")]
    assert [r["status"] for r in recording.spans("run")] == ["ok"]


def test_recording_that_is_emptied(recording):
    """As `> recording` does: what came before is lost, what comes later is recorded."""
    kernel = recording.start()
    kernel.run("'before'")
    while not (files := [f for f in recording.files() if f.stat().st_size]):
        time.sleep(0.05)
    os.truncate(files[0], 0)
    until = time.monotonic() + 60
    while not (said := kernel.run("'meanwhile'").stderr) and time.monotonic() < until:
        time.sleep(0.1)
    assert said == "tachograph: the recording was deleted, a new one begins\n"
    assert kernel.run("'after'").stderr == ""
    finish(kernel)
    assert recording.spans()[-1]["name"] == "'after'"


def test_folder_that_cannot_be_written(start):
    kernel = start("fake", env={**os.environ, "TACHOGRAPH_DIR": "/proc/nope"})
    result = kernel.run("print(1)")
    assert "1\n" in result.text and result.stderr.startswith("tachograph: nothing is recorded: ")
    assert kernel.run("print(1)").stderr == ""


def test_socket_is_told_to_what_runs_in_the_kernel(recording):
    """With host and boot: where both are others, the variable was only passed on."""
    kernel = recording.start()
    value = kernel.run("import os; print(os.environ['TACHOGRAPH_SOCKET'])").text.strip()
    host, boot, path = value.split(":", 2)
    assert host == os.uname().nodename
    assert boot == pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert path == json.loads(kernel.run("%tacho x").data[0])["recorder"]["socket"]


def test_nothing_of_the_recorder_is_in_the_kernel(start):
    """pitfall 36: neither a thread nor a descriptor, in the user's process and in what it forks."""
    code = """
import json, os
def held():
    links = [f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd")]
    return {"threads": len(os.listdir("/proc/self/task")),
            "links": [os.readlink(link) for link in links if os.path.lexists(link)]}
r, w = os.pipe()
if not (child := os.fork()):
    os.write(w, json.dumps(held()).encode())
    os._exit(0)
os.waitpid(child, 0)
print(json.dumps([held(), json.loads(os.read(r, 65536))]))
"""
    plain, kernel = start("plain"), start("recorded")
    expected, found = (json.loads(k.run(code).text) for k in (plain, kernel))
    assert [p["threads"] for p in found] == [p["threads"] for p in expected]
    recorder = recorder_at(kernel.run("print(os.environ['TACHOGRAPH_SOCKET'])").text.strip())
    its = {os.readlink(link) for link in pathlib.Path(f"/proc/{recorder}/fd").iterdir()}
    assert any(link.endswith(".tacho") for link in its)
    for process, as_plain in zip(found, expected):
        assert its & set(process["links"]) <= set(as_plain["links"])


def test_code_can_be_kept_out(recording):
    kernel = recording.start(TACHOGRAPH_CODE="0")
    kernel.run("password = 'hunter2'")
    finish(kernel)
    (path,) = recording.files()
    (cell,) = recording.spans()
    assert b"hunter2" not in path.read_bytes() and "hunter2" not in json.dumps(cell)


@everywhere
def test_usage_is_answered_while_the_kernel_is_busy(start):
    kernel = start("fake")
    inner = kernel.inner_pid()
    msg_id = kernel.send("x = pow(7, 2_000_000)")  # holds the GIL: ipykernel itself cannot answer
    kernel.wait_input(msg_id)
    asked = {"hostname", "cpu_count", "host_virtual_memory", "kernel_memory", "kernel_cpu",
             "host_cpu_percent"}
    for _ in range(int(LONG / 0.05)):  # a rate is there once the recorder has read twice
        content = kernel.request("usage_request")["content"]
        assert content["pid"] == inner and "re" not in content
        if asked <= set(content):
            break
        time.sleep(0.05)
    assert asked <= set(content) and content["kernel_memory"] > 0
    assert content["kernel_cpu"] >= 0 and 0 <= content["host_cpu_percent"] <= 100
    kernel.collect_reply(msg_id)


@pytest.mark.parametrize("passed_on", [False, True])
def test_usage_is_answered_when_the_kernel_dies(start, passed_on):
    """Whoever has the request at that moment, a recorder that hangs or the kernel."""
    kernel = start("fake")
    inner, recorder = kernel.inner_pid(), recorder_of(kernel)
    os.kill(recorder, signal.SIGSTOP)
    try:
        os.kill(inner, signal.SIGSTOP)
        msg_id = kernel.send_content("usage_request", {}, "control")
        if passed_on:
            time.sleep(1)  # the recorder is waited for for 0.2 s
        os.kill(inner, signal.SIGKILL)
        reply = kernel.client.get_control_msg(timeout=LONG)
        assert reply["parent_header"]["msg_id"] == msg_id
        assert reply["content"]["ename"] == "KernelDied"
    finally:
        os.kill(recorder, signal.SIGCONT)


def test_usage_without_a_recorder(start):
    kernel = start("ours")
    assert kernel.request("usage_request")["content"]["pid"] == kernel.inner_pid()


def test_old_data_is_not_shown_without_a_word(start):
    kernel = start("recorded")
    kernel.run("import time; time.sleep(1.1)")
    assert not kernel.run("%tacho show").stderr
    recorder = recorder_at(kernel.run("import os; print(os.environ['TACHOGRAPH_SOCKET'])").text.strip())
    os.kill(recorder, signal.SIGSTOP)
    try:
        result = kernel.run("%tacho show")
        assert "recorder does not answer" in result.stderr and result.stderr.count("\n") == 1
        assert "time.sleep(1.1)" in json.dumps(result.messages, default=str)
    finally:
        os.kill(recorder, signal.SIGCONT)


def test_real_worker(start):
    """The whole thread: a cell, its one line, a table of cells, a picture, JUmPER's data."""
    kernel = start("recorded")
    result = kernel.run_until_printed("import time; time.sleep(2.1)")
    assert "2.1" in result.text and "core" in result.text and result.text.count("\n") == 1
    result = kernel.run("%tacho show")
    assert "time.sleep(2.1)" in json.dumps(result.messages, default=str)
    result = kernel.run("%%display_graph_for_last")
    (display,) = result.of("display_data")
    assert {"application/vnd.vegalite.v5+json", "image/png", "text/plain"} <= set(display["data"])
    result = kernel.run("%%perfdata_to_variable v")
    assert result.status == "ok" and not result.stderr
    assert kernel.run("len(v) >= 1, len(v[0]) >= 9").data == ["(True, True)"]
    assert kernel.run("%%tacho\n1").text.count("\n") == 1
    result = kernel.run("%tacho nonsense")
    assert result.status == "ok" and result.stderr.count("\n") == 1


def test_kernel_that_cannot_listen_on_ipc(recording, place):
    """P18: it is started once more, over tcp, in the same run."""
    folder = place / "data" / "kernels" / "tcp-only"
    folder.mkdir(exist_ok=True)
    folder.joinpath("kernel.json").write_text(json.dumps({
        "argv": ["python", "-c", "import json, runpy, sys; sys.exit(3) if json.load(open(sys.argv[2]))["
                 "'transport'] == 'ipc' else runpy.run_module('ipykernel_launcher', run_name='__main__')",
                 "-f", "{connection_file}"], "display_name": "tcp-only", "language": "python"}))
    spec = json.loads((place / "data/kernels/fake/kernel.json").read_text())
    spec["argv"][spec["argv"].index("plain")] = "tcp-only"
    other = place / "data" / "kernels" / "recorded-tcp-only"
    other.mkdir(exist_ok=True)
    other.joinpath("kernel.json").write_text(json.dumps(spec))
    kernel = recording.start("recorded-tcp-only")
    assert kernel.run("print(1)").text == "1\n"
    finish(kernel)
    (run,) = recording.spans("run")
    assert run["status"] == "ok" and [c["name"] for c in recording.spans()] == ["print(1)"]


def test_suspended_machine(recording, exe, tmp_path):
    """An hour asleep in the middle of a cell: a gap in the recording, and the cell took no longer for it."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler for clocks that jump")
    library, asleep = tmp_path / "asleep.so", tmp_path / "asleep"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).parent / "asleep.c"],
                   check=True, timeout=LONG)
    kernel = recording.start(LD_PRELOAD=str(library), TG_ASLEEP=str(asleep))
    kernel.run("import pathlib, time")
    result = kernel.run(f"time.sleep(1); pathlib.Path({str(asleep)!r}).touch(); time.sleep(1.5)")
    assert result.status == "ok" and not result.stderr
    kernel.run("'after'")
    finish(kernel)
    content = recording.content()
    cells = [s for s in content["spans"] if s["kind"] == "cell"]
    assert [c["status"] for c in cells] == 3 * ["ok"]
    assert 2.4 < cells[1]["wall_s"] < 60 and cells[2]["wall_s"] < 60
    (gap,) = [e["event"] for e in content["events"] if e["what"] == "gap"]
    assert gap["why"] == "the machine was suspended" and 3599e9 < gap["slept_ns"] < 3601e9
