# SPDX-License-Identifier: BSD-3-Clause
"""Deaths of the user's kernel, and starts that cannot be: who waits is told, in one sentence."""

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import time

import pytest

from proxied import LONG, children

KEY = "b1946ac9-the-secret-key"
PORTS = ("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port")


# ---- death ----

@pytest.mark.parametrize("code, why, status", [
    ("import os; os._exit(7)", "exited with code 7", 7),
    ("import os; os.kill(os.getpid(), 9)", "was killed by signal 9 (SIGKILL)", 128 + 9),
    ("import ctypes; ctypes.string_at(0)", "was killed by signal 11 (SIGSEGV)", 128 + 11),
], ids=["exit", "SIGKILL", "SIGSEGV"])
def test_death(start, code, why, status):
    """P2, P7, P10: also one that comes before the kernel could say that the cell runs."""
    kernel = start("ours")
    kernel.run("'first'")
    ids = [kernel.send(code), kernel.send("%tacho x"), kernel.send("print(1)"),
           kernel.send_content("complete_request", {"code": "x", "cursor_pos": 1})]
    replies, messages = kernel.all_of(ids)
    sentence = f"The kernel {why} while cell [2] ran: {code}"
    assert [m["content"]["status"] for _, m in replies] == [
        "error", "aborted", "aborted", "error"]
    assert {m["content"]["evalue"] for _, m in replies} == {sentence}
    assert {m["content"]["ename"] for _, m in replies} == {"KernelDied"}
    mine = [m["content"].get("evalue") or m["content"].get("execution_state")
            for i, m in messages if i == 0 and m["msg_type"] in ("error", "status")]
    assert mine[-2:] == [sentence, "idle"]
    assert [m["content"].get("execution_state") for i, m in messages if i] == ["idle"] * 3
    assert kernel.wait_end() == status
    kernel.restart()
    assert kernel.run("print(1)").text == "1\n"


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


def test_death_while_a_magic_waits(start):
    kernel = start("fake")
    kernel.run("import os, threading, time")
    kernel.run("threading.Timer(1, os._exit, [3]).start()")
    result = kernel.run("%tacho hang")
    assert result.status == "ok" and result.types[-1] == "status:idle"
    assert kernel.wait_end() == 3


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


# ---- starts that cannot be ----

def free_ports():
    sockets = [socket.socket() for _ in PORTS]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


@pytest.fixture
def attempt(exe, place, tmp_path):
    """Run a kernel with a connection file that differs from a good one; its end."""
    def run(*args, text=None, **changes):
        content = {**dict(zip(PORTS, free_ports())), "ip": "127.0.0.1", "key": KEY,
                   "transport": "tcp", "signature_scheme": "hmac-sha256", **changes}
        path = tmp_path / "connection.json"
        path.write_text(json.dumps(content) if text is None else text)
        return subprocess.run(
            [exe, "kernel", "-f", str(path), "--no-record", "--python", sys.executable, *args],
            capture_output=True, text=True, timeout=LONG)
    return run


def check_sentence(result, status, *parts):
    lines = result.stderr.splitlines()
    assert result.returncode == status and len(lines) == 1, result.stderr
    assert lines[0].startswith("tachograph: ") and all(part in lines[0] for part in parts)
    assert KEY not in result.stderr + result.stdout


def test_damaged_file(attempt):
    check_sentence(attempt(text='{"shell_port": 1, "key": "' + KEY), 1, "connection.json", "not valid JSON")
    check_sentence(attempt(text=""), 1, "not valid JSON")
    check_sentence(attempt(text="[]"), 1, "not a JSON object")
    check_sentence(attempt(shell_port=99999), 1, '"shell_port" is not a port')
    check_sentence(attempt(ip=None), 1, 'no "ip"')


def test_foreign_file(attempt):
    check_sentence(attempt(signature_scheme="hmac-md5"), 1, '"hmac-md5" is not known')
    check_sentence(attempt(transport="carrier"), 1, '"carrier" is not known')


def test_no_file(exe):
    check_sentence(subprocess.run([exe, "kernel", "-f", "/nonexistent.json"], capture_output=True,
                                  text=True), 1, "/nonexistent.json", "No such file")
    check_sentence(subprocess.run([exe, "kernel"], capture_output=True, text=True), 2, "-f")


def test_ports_in_use(attempt):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        check_sentence(attempt("--kernel", "plain", iopub_port=port), 1, str(port), "in use")


def test_missing_kernel(attempt, tmp_path):
    check_sentence(attempt("--kernel", "nope"), 1, 'no kernel named "nope"')
    check_sentence(attempt("--spec", str(tmp_path)), 1, "kernel.json", "No such file")
    (tmp_path / "kernel.json").write_text('{"argv": ["/nonexistent/program"]}')
    check_sentence(attempt("--spec", str(tmp_path)), 1, "/nonexistent/program", "No such file")
    (tmp_path / "kernel.json").write_text('{"argv": ["no-such-program"]}')
    check_sentence(attempt("--spec", str(tmp_path)), 1, "no-such-program")
    (tmp_path / "kernel.json").write_text('{"argv": []}')
    check_sentence(attempt("--spec", str(tmp_path)), 1, "argv")


def test_kernel_that_never_gets_ready(attempt, tmp_path):
    """P3: it does not restart by itself."""
    (tmp_path / "kernel.json").write_text('{"argv": ["false"]}')
    check_sentence(attempt("--spec", str(tmp_path)), 1, "ended before it was ready", "exit code 1")


def test_shutdown_before_ready(start, place):
    folder = place / "data" / "kernels" / "slow"
    folder.mkdir(exist_ok=True)
    folder.joinpath("kernel.json").write_text('{"argv": ["sleep", "300"], "display_name": "s", "language": "s"}')
    spec = json.loads((place / "data/kernels/ours/kernel.json").read_text())
    spec["argv"][spec["argv"].index("plain")] = "slow"
    folder = place / "data" / "kernels" / "ours-slow"
    folder.mkdir(exist_ok=True)
    folder.joinpath("kernel.json").write_text(json.dumps(spec))
    kernel = start("ours-slow", ready=False)
    while not children(kernel.pid):
        time.sleep(0.02)
    reply = kernel.request("shutdown_request", {"restart": False})
    assert reply["content"] == {"status": "ok", "restart": False}
    assert kernel.wait_end() == 0


def test_shutdown_meant_for_another(start):
    """The client still holds a request for the dead kernel: the next one must not follow it."""
    kernel = start("ours")
    os.kill(kernel.inner_pid(), signal.SIGKILL)
    kernel.wait_end()
    for _ in range(3):
        kernel.restart()
        os.kill(kernel.inner_pid(), signal.SIGKILL)
        kernel.wait_end()


def test_bad_options(exe):
    for args in (["--report", "loud"], ["--kernel", "a", "--spec", "b"], ["extra"], ["--kernl", "a"],
                 ["--kernel"], ["--no-record=x"], ["-x"]):
        result = subprocess.run([exe, "kernel", "-f", "x", *args], capture_output=True, text=True)
        assert result.returncode == 2 and result.stderr.startswith("tachograph: ")


def test_errors_are_plain_text(exe, attempt):
    """What is named may hold anything; a terminal must not obey it."""
    for args in (["-f", "x", "a\x1b[31m\nb"], ["-f", "x", "--a\x1b[31m\nb"], ["-f", "x\x1b[31m\ny"],
                 ["-f", "x\x9b31m"]):
        result = subprocess.run([exe, "kernel", *args], capture_output=True, text=True)
        check_sentence(result, result.returncode, args[-1][0])
        assert result.returncode and all(c.isprintable() for c in result.stderr[:-1])
    result = attempt(transport="\x1b]0;title\x07")
    check_sentence(result, 1, "is not known")
    assert all(c.isprintable() for c in result.stderr[:-1])
