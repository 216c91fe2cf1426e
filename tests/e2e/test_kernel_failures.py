# SPDX-License-Identifier: BSD-3-Clause
"""Starts that cannot be: who asks for one is told why, in one sentence."""

import json
import socket
import subprocess
import sys

import pytest

from proxied import LONG

KEY = "b1946ac9-the-secret-key"
PORTS = ("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port")


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


def test_bad_options(exe):
    for args in (["--report", "loud"], ["--kernel", "a", "--spec", "b"], ["extra"], ["--kernl", "a"],
                 ["--kernel"], ["--no-record=x"], ["-x"]):
        result = subprocess.run([exe, "kernel", *args, "-f", "x"], capture_output=True, text=True)
        assert result.returncode == 2 and result.stderr.startswith("tachograph: ")


def test_errors_are_plain_text(exe, attempt):
    """What is named may hold anything; a terminal must not obey it."""
    for args in (["a\x1b[31m\nb", "-f", "x"], ["--a\x1b[31m\nb", "-f", "x"], ["-f", "x\x1b[31m\ny"],
                 ["-f", "x\x9b31m"]):
        result = subprocess.run([exe, "kernel", *args], capture_output=True, text=True)
        check_sentence(result, result.returncode, args[0 if args[0] != "-f" else 1][0])
        assert result.returncode and all(c.isprintable() for c in result.stderr[:-1])
    result = attempt(transport="\x1b]0;title\x07")
    check_sentence(result, 1, "is not known")
    assert all(c.isprintable() for c in result.stderr[:-1])
