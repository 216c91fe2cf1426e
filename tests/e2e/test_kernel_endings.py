# SPDX-License-Identifier: BSD-3-Clause
"""How kernels end: who waits is answered and told why, and nothing is left behind."""

import concurrent.futures
import itertools
import json
import os
import pathlib
import queue
import random
import re
import signal
import subprocess
import sys
import time
import urllib.error

import pytest

from proxied import LONG, add_spec, children, everywhere, recorder_of, wait_gone
from served import ServedKernel, Server, printed


def until(true, what="it never came to that"):
    end = time.monotonic() + LONG
    while not (result := true()):
        assert time.monotonic() < end, what
        time.sleep(0.05)
    return result


# ---- the user's kernel dies ----

DEATHS = {"exit": ("import os; os._exit(7)", "exited with code 7", 7),
          "SIGKILL": ("import os; os.kill(os.getpid(), 9)", "was killed by signal 9 (SIGKILL)", 128 + 9),
          "SIGSEGV": ("import ctypes; ctypes.string_at(0)", "was killed by signal 11 (SIGSEGV)", 128 + 11)}
UNKNOWN = "\nOut of memory: unknown: no recorder is there to ask."


@everywhere
@pytest.mark.parametrize("code, why, status", DEATHS.values(), ids=DEATHS)
def test_death(start, code, why, status):
    """P2, P7, P10: also one that comes before the kernel could say that the cell runs."""
    kernel = start("ours")
    kernel.run("'first'")
    requests = [("complete_request", {"code": "x", "cursor_pos": 1}), ("inspect_request", {
        "code": "x", "cursor_pos": 1, "detail_level": 0}), ("comm_info_request", {}), ("kernel_info_request", {})]
    ids = [kernel.send(code), kernel.send("%tacho x"), kernel.send("print(1)"),
           *(kernel.send_content(*request) for request in requests)]
    replies, messages = kernel.all_of(ids)
    sentence = f"The kernel {why} while cell [2] ran: {code}" + (UNKNOWN if "SIGKILL" in why else "")
    assert [m["content"]["status"] for _, m in replies] == ["error", "aborted", "aborted"] + 4 * ["error"]
    assert [m["msg_type"] for _, m in replies[3:]] == [name.replace("request", "reply") for name, _ in requests]
    assert {m["content"]["evalue"] for _, m in replies} == {sentence}
    assert {m["content"]["ename"] for _, m in replies} == {"KernelDied"}
    assert replies[0][1]["content"]["traceback"] == sentence.split("\n")
    mine = [m["content"].get("evalue") or m["content"].get("execution_state")
            for i, m in messages if i == 0 and m["msg_type"] in ("error", "status")]
    assert mine[-2:] == [sentence, "idle"]
    assert [m["content"].get("execution_state") for i, m in messages if i] == ["idle"] * 6
    assert kernel.wait_end() == status
    kernel.restart()
    assert kernel.run("print(1)").text == "1\n"


def test_death_while_a_subshell_works(start):
    """Either may have been the cause: both are named, and what is queued in each is aborted."""
    kernel = start("ours")
    subshell = kernel.request("create_subshell_request")["content"]["subshell_id"]
    sleep = "import time; time.sleep(600)"
    asleep = kernel.send_content("execute_request", {"code": sleep}, subshell_id=subshell)
    kernel.wait_input(asleep)
    queued = kernel.send_content("execute_request", {"code": "2"}, subshell_id=subshell)
    ids = [asleep, queued, kernel.send("import os; os._exit(7)"), kernel.send("3")]
    replies, _ = kernel.all_of(ids)
    assert {i: m["content"]["status"] for i, m in replies} == {0: "error", 1: "aborted", 2: "error", 3: "aborted"}
    (sentence,) = {m["content"]["evalue"] for _, m in replies}
    # subshells share a counter, and the last one died before it had a number
    assert re.sub(r"\[\d\] ", "", sentence) == (
        f"The kernel exited with code 7 while cell ran: {sleep}, and cell ran: import os; os._exit(7)")


def test_death_while_a_line_is_asked_for(start):
    kernel = start("ours")
    kernel.run("import os, threading")
    kernel.run("threading.Timer(1, os._exit, [3]).start()")
    waits = kernel.send("input('? ')", allow_stdin=True)
    assert kernel.client.get_stdin_msg(timeout=LONG)["msg_type"] == "input_request"
    result = kernel.collect(waits)
    assert result.status == "error" and "exited with code 3 while cell [3] ran: input" in result.of("error")[0]["evalue"]
    assert kernel.wait_end() == 3


def test_death_while_a_magic_waits(start):
    kernel = start("fake")
    kernel.run("import os, threading, time")
    kernel.run("threading.Timer(1, os._exit, [3]).start()")
    result = kernel.run("%tacho hang")
    assert result.status == "ok" and result.types[-1] == "status:idle"
    assert kernel.wait_end() == 3


def test_death_while_control_waits(start):
    """A kernel that is stopped answers nothing on control, and then it is gone."""
    kernel = start("ours")
    inner = kernel.inner_pid()
    msg_id = kernel.send("import time; time.sleep(60)")
    kernel.wait_input(msg_id)
    os.kill(inner, signal.SIGSTOP)
    asked = [kernel.send_content(what, content, "control") for what, content in (
        ("interrupt_request", {}), ("usage_request", {}), ("list_subshell_request", {}))]
    time.sleep(0.3)
    os.kill(inner, signal.SIGKILL)
    assert kernel.collect(msg_id).status == "error"
    replies = [kernel.client.get_control_msg(timeout=LONG) for _ in asked]
    assert {m["parent_header"]["msg_id"] for m in replies} == set(asked)
    assert {m["content"]["ename"] for m in replies} == {"KernelDied"}


def test_last_words(start):
    """P8: what the kernel wrote before it died arrives."""
    kernel = start("ours")
    result = kernel.run("import os, time; print('bye', flush=True); time.sleep(.3); os._exit(1)")
    assert result.text == "bye\n" and result.status == "error"


def test_death_is_told_at_once(start):
    kernel = start("ours")
    inner = kernel.inner_pid()
    msg_id = kernel.send("import time; time.sleep(60)")
    kernel.wait_input(msg_id)
    os.kill(inner, signal.SIGKILL)
    assert kernel.collect(msg_id, timeout=10).status == "error"


def test_death_while_idle(start):
    kernel = start("ours")
    os.kill(kernel.inner_pid(), signal.SIGTERM)
    assert kernel.wait_end() == 128 + signal.SIGTERM
    with pytest.raises(queue.Empty):
        while kernel.client.get_iopub_msg(timeout=0.3)["msg_type"] != "error":
            pass


def test_signals_to_the_group(start):
    """They reach the proxy as well; it lives, and passes none on a second time."""
    kernel = start("ours")
    names = "SIGUSR1 SIGUSR2 SIGALRM SIGVTALRM SIGPROF SIGIO SIGQUIT SIGRTMIN SIGRTMAX SIGHUP SIGTERM".split()
    kernel.run(f"import os, signal, time; n = []; names = {names}\n"
               "found = [signal.getsignal(getattr(signal, x)) for x in names]\n"
               "for x in names: signal.signal(getattr(signal, x), lambda s, _: n.append(s))")
    kernel.run("for x in names: os.killpg(0, getattr(signal, x)); time.sleep(0.2)")
    assert kernel.run("time.sleep(0.5); print(len(n), len(set(n)))").text == "11 11\n"


def test_only_a_shell_around_the_kernel_ended(start, tmp_path):
    """What is left of it prints for ever; that is passed on for a while, and then it is over."""
    argv = json.loads(pathlib.Path(
        os.environ["JUPYTER_PATH"], "kernels/plain/kernel.json").read_text())["argv"]
    around = ["/bin/bash", "-c", f'"$@" & echo $! > {tmp_path}/pid; until test -e {tmp_path}/go; do sleep .1; done; exit 5', "x"]
    add_spec("around", around + argv)
    kernel = start(add_spec("ours-around", kernel="around"))
    msg_id = kernel.send("import os; parent = os.getppid(); os.getppid = lambda: parent  # it would end without one\n"
                         f"open({str(tmp_path / 'go')!r}, 'w').close()\nwhile True: print('on and on', flush=True)")
    kernel.wait_input(msg_id)
    try:
        assert kernel.wait_end() == 5
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_signals_are_handed_on_as_they_were_found(start):
    """What is ignored and what is blocked, for the user's kernel as if nobody had come between."""
    change = ("import os, signal as s, sys\n"
              "for n in (s.SIGHUP, s.SIGUSR1, s.SIGALRM, s.SIGIO, s.SIGQUIT, s.SIGRTMIN + 3): s.signal(n, s.SIG_IGN)\n"
              "s.signal(s.SIGPIPE, s.SIG_DFL)\n"
              "s.pthread_sigmask(s.SIG_BLOCK, (s.SIGUSR2, s.SIGTERM, s.SIGWINCH, s.SIGRTMAX))\n"
              "os.execvp(sys.argv[1], sys.argv[1:])")
    seen = []
    for name in ("plain", "ours"):
        argv = json.loads(pathlib.Path(
            os.environ["JUPYTER_PATH"], "kernels", name, "kernel.json").read_text())["argv"]
        argv = [sys.executable if a == "python" else a for a in argv]
        kernel = start(add_spec(f"{name}-signals", [sys.executable, "-c", change, *argv]))
        seen.append(kernel.run("print(*(l for l in open('/proc/self/status')"
                               " if l.startswith(('SigBlk', 'SigIgn'))))").text)
    assert seen[0] == seen[1] and "SigIgn" in seen[0]
    ignored = int(seen[0].split("SigIgn:")[1].split()[0], 16)
    assert ignored >> (signal.SIGUSR1 - 1) & 1 and not ignored >> (signal.SIGUSR2 - 1) & 1


def test_death_where_sigchld_is_ignored(start):
    argv = json.loads(pathlib.Path(os.environ["JUPYTER_PATH"], "kernels/ours/kernel.json").read_text())["argv"]
    kernel = start(add_spec("no-chld", ["/bin/bash", "-c", 'trap "" CHLD; exec "$@"', "x", *argv]))
    assert kernel.run("import signal; print(signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN)").text == "True\n"
    result = kernel.run("import os; os._exit(7)")
    assert result.status == "error" and "exited with code 7" in result.of("error")[0]["evalue"]
    assert kernel.wait_end() == 7


def test_nbclient_names_the_cell(place):
    """P2: the text is in the notebook, and the notebook ends."""
    import nbclient
    from nbformat.v4 import new_code_cell, new_notebook

    book = new_notebook(cells=[new_code_cell("import os; os.kill(os.getpid(), 9)"),
                               new_code_cell("print(1)")])
    with pytest.raises((nbclient.exceptions.CellExecutionError, nbclient.exceptions.DeadKernelError)):
        nbclient.NotebookClient(book, kernel_name="ours", timeout=LONG).execute()
    (output,) = book.cells[0].outputs
    assert output.ename == "KernelDied" and "SIGKILL" in output.evalue


# ---- for want of memory? ----

KILL = "import os; os.kill(os.getpid(), 9)"


def memory_line(result):
    return result.of("error")[0]["evalue"].partition("\n")[2]


@everywhere
def test_killed_but_not_for_want_of_memory(start):
    """The counters stood still, which is evidence."""
    kernel = start("fake")
    recorder_of(kernel)
    kernel.run("2")
    line = memory_line(kernel.run(KILL))
    assert re.match(r"Out of memory: no: no process of (its control group|this machine) was killed for want of "
                    r"memory just then \(oom_kill in .*: \d+, as before\)\.", line), line
    assert re.search(r" Its processes held \d+ MB( of [\d.]+ [MG]B \(.*\))? \d+\.\d s before\.$", line), line


def test_recorder_that_does_not_answer(start):
    """Who waits is told all the same, and nothing is guessed."""
    kernel = start("fake")
    recorder = recorder_of(kernel)
    os.kill(recorder, signal.SIGSTOP)
    result = kernel.run(KILL)
    os.kill(recorder, signal.SIGCONT)
    assert memory_line(result) == "Out of memory: unknown: the recorder does not answer."


@pytest.fixture
def memory_group():
    """A control group of 300 MB below our own, for a kernel to be put into; None and a reason where that cannot be."""
    lines = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
    v1 = next((path for _, names, path in lines if "memory" in names.split(",")), None)
    mounts = [line.split(" - ") for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    kind = ("cgroup2", "") if v1 is None else ("cgroup", "memory")
    tops = [left.split()[4] for left, right in mounts
            if right.split()[0] == kind[0] and kind[1] in right.split()[2].split(",") + [""]]
    own = v1 if v1 is not None else next((path for _, names, path in lines if not names), None)
    if not tops or own is None:
        pytest.skip("no control group for memory is to be seen")
    above = pathlib.Path(tops[0] + own.rstrip("/"))
    # in version 2 a group with processes has no groups with controllers below it: beside us, then
    for folder in [above] if v1 is not None else [above, above.parent]:
        group = folder / f"tachograph-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            why = error
            continue
        try:
            (group / ("memory.max" if v1 is None else "memory.limit_in_bytes")).write_text("300000000")
            break
        except OSError as error:
            why = error
            group.rmdir()
    else:
        pytest.skip(f"no control group can be made: {why}")
    yield group
    until(lambda: not (group / "cgroup.procs").read_text().strip(), "processes in our control group")
    group.rmdir()


def test_killed_for_want_of_memory(start, place, memory_group):
    """A real one, by the limit of a group that the kernel went into by itself, as batch systems do."""
    argv = ["sh", "-c", f"echo $$ > {memory_group}/cgroup.procs && exec \"$@\"", "sh",
            sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    add_spec("memory-inner", argv)
    kernel = start(add_spec("memory", over="fake", kernel="memory-inner"))
    recorder_of(kernel)
    until(lambda: kernel.inner_pid() in map(int, (memory_group / "cgroup.procs").read_text().split()))
    kernel.run("import time; time.sleep(1.5)")
    result = kernel.run("x = b'x' * 10**9")
    assert result.of("error")[0]["evalue"].startswith(
        "The kernel was killed by signal 9 (SIGKILL) while cell [3] ran: x = b'x' * 10**9\n")
    assert re.match(r"Out of memory: yes: a process of its control group was killed for want of memory just then "
                    r"\(oom_kill in memory\.\w+: 0, then 1\)(; its limit was reached \(memory\.\w+: \d+, then \d+\))?\. "
                    r"Its processes held \d+ MB of 300 MB \(cgroup limit\)",
                    memory_line(result)), memory_line(result)
    kernel.stop()


# ---- at the start ----

MUTE = """
import json, sys, zmq
c = json.load(open(sys.argv[1]))
def bind(kind, name):
    s = zmq.Context.instance().socket(kind)
    s.bind(f"ipc://{c['ip']}-{c[name]}" if c["transport"] == "ipc" else f"tcp://{c['ip']}:{c[name]}")
    return s
sockets = {name: bind(zmq.PUB if name == "iopub_port" else zmq.REP if name == "hb_port" else zmq.ROUTER, name)
           for name in ("iopub_port", "shell_port", "control_port", "stdin_port", "hb_port")}
while True:
    m = sockets["shell_port"].recv_multipart()
    if json.loads(m[m.index(b"<IDS|MSG>") + 2])["msg_type"] != "kernel_info_request":
        print("asked something else", file=sys.stderr, flush=True)
        sys.exit(9)
"""


@pytest.fixture
def slow(place):
    """A kernel that never listens, and one that listens and says nothing."""
    (place / "mute.py").write_text(MUTE)
    add_spec("never", ["sleep", "300"])
    add_spec("mute", [sys.executable, str(place / "mute.py"), "{connection_file}"])
    return {name: add_spec(f"ours-{name}", kernel=name) for name in ("never", "mute")}


def shut_down(kernel):
    """An orderly end is asked for and comes, ready or not."""
    reply = kernel.request("shutdown_request", {"restart": False})
    assert reply["content"] == {"status": "ok", "restart": False}
    assert kernel.wait_end() == 0


@pytest.mark.parametrize("name", ["never", "mute"])
def test_shutdown_during_start(start, slow, name):
    kernel = start(slow[name], ready=False)
    until(lambda: children(kernel.pid))
    shut_down(kernel)


def test_interrupt_and_restart_during_start(start, slow):
    """What a kernel does to an interrupt before it can take one is its own; ours stays and restarts."""
    kernel = start(slow["never"], ready=False)
    pid = until(lambda: children(kernel.pid))[0]
    kernel.send_content("interrupt_request", {}, "control")
    kernel.manager.restart_kernel(now=True)
    wait_gone(pid)
    until(lambda: children(kernel.pid))
    kernel.manager.interrupt_kernel()  # ends sleep(1)
    assert kernel.wait_end() != 0


@pytest.mark.parametrize("after_s", [0, 0.05, 0.1, 0.2, 0.4])
def test_interrupt_during_start(start, after_s):
    """The kernel is there afterwards, or it ended with a status that Jupyter restarts on; no hang."""
    kernel = start("fake", ready=False)
    time.sleep(after_s)
    kernel.manager.interrupt_kernel()
    try:
        kernel.client.wait_for_ready(timeout=LONG)
    except RuntimeError:
        assert kernel.wait_end() != 0
        kernel.restart()
    assert kernel.run("print(1)").text == "1\n"


def test_control_keeps_its_order_over_the_start(start):
    """What is held back until the kernel is ready goes before what comes then."""
    kernel, sent = start("fake", ready=False), []
    for _ in range(300):
        sent.append(kernel.send_content("kernel_info_request", {}, "control"))
        time.sleep(0.005)
    assert [kernel.client.get_control_msg(timeout=LONG)["parent_header"]["msg_id"] for _ in sent] == sent


def test_kernel_that_never_answers(start, slow):
    """Who does not wait for kernel_info gets through: the first cell reaches the kernel after a while."""
    kernel = start(slow["mute"], ready=False)
    kernel.send("1")
    assert kernel.wait_end() == 9


def test_kernel_that_ends_before_it_is_ready(start, place):
    """What was sent to it is answered, on both channels; not kernel_info, whose reply means that it is ready."""
    add_spec("short", [sys.executable, "-c", "import time; time.sleep(1); raise SystemExit(3)", "{connection_file}"])
    kernel = start(add_spec("ours-short", kernel="short"), ready=False)
    info, cells = kernel.client.kernel_info(), [kernel.send(code) for code in ("first", "second")]
    held = kernel.send_content("interrupt_request", {}, "control")
    replies, messages = kernel.all_of(cells)
    assert [(n, m["content"]["status"]) for n, m in replies] == [(0, "error"), (1, "aborted")]
    assert [(n, m["content"]["evalue"]) for n, m in messages if m["msg_type"] == "error"] == [
        (0, "The kernel exited with code 3 before it was ready")]
    assert kernel.client.get_control_msg(timeout=LONG)["parent_header"]["msg_id"] == held
    assert kernel.wait_end() == 1
    with pytest.raises(queue.Empty):
        while kernel.client.get_shell_msg(timeout=1)["parent_header"]["msg_id"] != info:
            pass


def test_many_wait_for_a_kernel_that_ends(start, place):
    """All are answered, also those that were not read when it died."""
    add_spec("short", [sys.executable, "-c", "import time; time.sleep(1); raise SystemExit(3)", "{connection_file}"])
    kernel = start(add_spec("ours-short", kernel="short"), ready=False)
    replies, _ = kernel.all_of([kernel.send(str(i)) for i in range(300)])
    assert [n for n, _ in replies] == list(range(300))


def test_kernel_that_cannot_listen_on_ipc_aborts(start, place):
    """libzmq ends a process by SIGABRT; it gets tcp then, once."""
    (place / "aborts.py").write_text(
        f"import json, os, sys\nopen({str(place / 'starts')!r}, 'a').write(json.load(open(sys.argv[1]))['transport'] + '\\n')\nos.abort()\n")
    add_spec("aborts", [sys.executable, str(place / "aborts.py"), "{connection_file}"])
    kernel = start(add_spec("ours-aborts", kernel="aborts"), ready=False)
    assert kernel.wait_end() == 1
    assert (place / "starts").read_text().split() == ["ipc", "tcp"]


def test_kernel_that_ignores_sigterm(start):
    kernel = start("fake")
    inner = kernel.inner_pid()
    kernel.run("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    kernel.wait_input(kernel.send("while True: time.sleep(600)"))
    kernel.manager.shutdown_wait_time = 1
    kernel.restart()
    wait_gone(inner)
    assert kernel.run("print(1)").text == "1\n"


# ---- everything is killed, in pairs ----

class World:
    """Folders of their own for a server and all that it starts, and what is left in them."""
    def __init__(self, root):
        self.root = root
        self.env = {"XDG_RUNTIME_DIR": str(root / "run"), "TMPDIR": str(root / "tmp"),
                    "TACHOGRAPH_DIR": str(root / "rec"), "JUPYTER_RUNTIME_DIR": str(root / "jupyter")}
        for folder in self.env.values():
            os.mkdir(folder, 0o700)
        self.seen = set()

    def processes(self):
        """Pid -> arguments of what was started with our folders."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if f"XDG_RUNTIME_DIR={self.root}/run\0".encode() in (folder / "environ").read_bytes():
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                pass
        self.seen |= set(found)
        return found

    def role(self, word):
        """The pid of ours in a role."""
        return until(lambda: [pid for pid, line in self.processes().items()
                              if len(line) > 1 and word in (line[0], line[1])], f"no {word}")[-1]

    def left(self):
        """What is still there, zombies too, unless they wait for an init that is not ours."""
        zombies = []
        for pid in self.seen:
            try:
                words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if words[0] == "Z" and words[1] != "1":
                zombies.append(pid)
        files = [str(path) for folder in ("run", "tmp") for path in (self.root / folder).rglob("*")
                 if path != self.root / "run" / "tachograph"]
        return [*self.processes().values(), *zombies, *files]

    def settle(self, left):
        """Wait until nothing is left: 15 s on a quiet machine."""
        end = time.monotonic() + LONG
        while time.monotonic() < end and left():
            time.sleep(0.5)


def test_killed_in_pairs(place, tmp_path, exe):
    """Whichever two die at once, recordings read whole, and soon nothing is left."""
    seed = 20261202
    pairs = list(itertools.combinations(("kernel", "recorder", "worker", "server"), 2))
    random_ = random.Random(seed)
    rounds = random_.sample(pairs, len(pairs)) + [("kernel", "recorder", "worker", "server")]
    print("seed", seed, rounds)
    world, server = World(tmp_path), None
    for killed in rounds:
        server = server or Server(tmp_path, **world.env)
        kernel = server.kernel("recorded")
        kernel.run("%tacho help")
        kernel.send("import time\nfor i in range(100): time.sleep(.1)")
        kernel.until(lambda m: m["msg_type"] == "execute_input")
        pids = {"server": server.process.pid}
        for role in killed:
            if role not in pids:
                pids[role] = world.role(role.encode())
        time.sleep(random_.uniform(1, 2))  # names of recordings tell kernels of one notebook apart by the second
        for role in killed:
            os.kill(pids[role], signal.SIGKILL)
        if "server" in killed:
            server.process.wait()
            server.log.close()
            server = None
        else:
            server.end(kernel.path)
    world.settle(world.processes)
    if server is None and world.left():  # nobody was left to tidy: the next one that starts does it
        server = Server(tmp_path, **world.env)
        server.call("DELETE", server.kernel("recorded").path)
    if server:
        server.stop()
    world.settle(world.left)
    assert world.left() == []
    recordings = list((tmp_path / "rec").glob("*.tacho"))
    assert len(recordings) >= len(rounds)
    for path in recordings:
        result = subprocess.run([exe, "verify", path], capture_output=True, text=True, timeout=LONG)
        assert result.returncode == 0, result.stdout + result.stderr  # at most an incomplete tail


@pytest.mark.parametrize("name", ["plain", "recorded"])
def test_restart_limit_of_the_server(place, tmp_path, name):
    """A kernel that dies at once each time: the server gives up on it, as on the plain one."""
    add_spec("dies", ["false"])
    name = "dies" if name == "plain" else add_spec("ours-dies", over=name, kernel="dies")
    server = Server(tmp_path, "--KernelRestarter.time_to_dead=0.2", **World(tmp_path).env)
    try:
        server.call("POST", "api/kernels", {"name": name})
        until(lambda: "KernelRestarter: restart failed" in server.text(), "the server goes on for ever")
        assert "restarting kernel (4/5)" in server.text()
        until(lambda: not server.call("GET", "api/kernels"), "the dead kernel is still listed")
    finally:
        server.stop()


def test_restart_while_one_is_under_way(place, tmp_path):
    """The second comes while the kernel of the first starts. The server may fail at either, whatever
    the kernel, and have none then; it must take the next."""
    world = World(tmp_path)
    server = Server(tmp_path, **world.env)

    def restart():
        try:
            server.call("POST", kernel.path + "/restart")
            return 200
        except urllib.error.HTTPError as error:
            return error.code
    try:
        kernel = server.kernel("recorded")
        kernel.run("x = 1")
        old = world.role(b"kernel")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            first = pool.submit(restart)
            until(lambda: world.role(b"kernel") != old)
            restart()
            first.result()
        assert restart() == 200
        kernel = ServedKernel(server, kernel.path.rpartition("/")[2])
        assert printed(kernel.run("print('x' in globals())")) == "False\n"
        inner = [line for line in world.processes().values() if b"ipykernel_launcher" in line]
        assert len(inner) == 1
        server.call("DELETE", kernel.path)
    finally:
        server.stop()
