# SPDX-License-Identifier: BSD-3-Clause
"""A kernel under load: large messages, floods, many clients, one that does not read.

Limits of memory are generous: what they must tell apart is a few MB from what was sent.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import threading
import time

import pytest
import zmq

from proxied import LONG, wait_gone

MB = 1 << 20


def rss(pid):
    """Resident memory in MiB."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


def wait_rss(pid, limit):
    """Memory is given back when it is quiet for a moment; how much is left in the end."""
    end = time.monotonic() + LONG
    while rss(pid) > limit and time.monotonic() < end:
        time.sleep(0.2)
    return rss(pid)


@pytest.fixture
def stalled():
    """Connect clients to iopub that never read: their buffers are full after little."""
    context = zmq.Context()

    def connect(kernel):
        info = kernel.client.get_connection_info(session=False)
        socket = context.socket(zmq.SUB)
        socket.rcvhwm = 1
        socket.rcvbuf = 1 << 16
        socket.subscribe(b"")
        socket.connect(f"tcp://{info['ip']}:{info['iopub_port']}")
        assert socket.poll(LONG * 1000)  # the welcome: it is subscribed
        return socket

    yield connect
    context.destroy(linger=0)


def texts(kernel, msg_id):
    """The text of every display and stream message of a cell, until it is idle."""
    got = []
    while True:
        m = kernel.client.get_iopub_msg(timeout=LONG)
        if m["parent_header"].get("msg_id") != msg_id:
            continue
        if m["msg_type"] == "display_data":
            got.append(m["content"]["data"]["text/plain"])
        elif m["msg_type"] == "stream":
            got.append(m["content"]["text"])
        elif m["content"].get("execution_state") == "idle":
            kernel.collect_reply(msg_id)
            return got


# ---- large ----

@pytest.mark.parametrize("name", ["ours", "ours-tcp"])
def test_buffers_of_100_mb(start, name):
    """There and back, bit by bit; and the memory is given back, with heartbeats going on."""
    kernel = start(name)
    kernel.run("""
import hashlib
from comm import create_comm
def got(m):
    comm.send({"md5": [hashlib.md5(b).hexdigest() for b in m["buffers"]]}, buffers=m["buffers"])
""")
    before = rss(kernel.pid)
    result = kernel.run("comm = create_comm(target_name='t'); comm.on_msg(got)")
    comm = result.of("comm_open")[0]["comm_id"]
    buffers = [os.urandom(MB) * 100, b"<IDS|MSG>", b""]
    message = kernel.client.session.msg("comm_msg", {"comm_id": comm, "data": {}})
    kernel.client.session.send(kernel.client.shell_channel.socket, message, buffers=buffers)
    while True:
        m = kernel.client.get_iopub_msg(timeout=LONG)
        if m["msg_type"] == "comm_msg":
            break
    assert m["content"]["data"]["md5"] == [hashlib.md5(b).hexdigest() for b in buffers]
    assert [bytes(b) for b in m["buffers"]] == buffers
    del m
    assert wait_rss(kernel.pid, before + 16) < before + 16


def test_message_of_1000_frames(start):
    kernel = start("ours")
    result = kernel.run("""
from comm import create_comm
comm = create_comm(target_name='t')
comm.on_msg(lambda m: comm.send({"n": len(m["buffers"])}, buffers=m["buffers"]))
""")
    message = kernel.client.session.msg(
        "comm_msg", {"comm_id": result.of("comm_open")[0]["comm_id"], "data": {}})
    buffers = [b"%d" % i * (i % 50) for i in range(1000)]
    kernel.client.session.send(kernel.client.shell_channel.socket, message, buffers=buffers)
    while True:
        m = kernel.client.get_iopub_msg(timeout=LONG)
        if m["msg_type"] == "comm_msg":
            break
    assert m["content"]["data"]["n"] == 1000 and [bytes(b) for b in m["buffers"]] == buffers


def test_line_of_10_mb(start):
    kernel = start("ours")
    text = kernel.run("print('é' * 5_000_000, end='.')").text
    assert text == "é" * 5_000_000 + "."


def test_cell_of_10_mb(start, tmp_path, exe):
    """It runs, comes back in execute_input, and is recorded with as much as a mark may have."""
    kernel = start("recorded", env={**os.environ, "TACHOGRAPH_DIR": str(tmp_path)})
    before = rss(kernel.pid)
    code = "x = 1\n# " + "0123456789" * 1_000_000 + "\nprint(x)"
    result = kernel.run(code)
    assert result.text.startswith("1\n") and result.of("execute_input")[0]["code"] == code
    assert kernel.run("print(2)").text == "2\n"  # unharmed
    magic = "%%tacho\n" + code  # and one that we rewrite
    result = kernel.run(magic)
    assert result.text.startswith("1\n") and result.of("execute_input")[0]["code"] == magic
    assert wait_rss(kernel.pid, before + 16) < before + 16
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel()
    (path,) = tmp_path.glob("*.tacho")
    out = tmp_path / "out.json"
    subprocess.run([exe, "export", path, "-o", out], check=True, timeout=LONG)
    cells = [s for s in json.loads(out.read_text())["spans"] if s["kind"] == "cell"]
    assert [s["status"] for s in cells] == ["ok"] * 3
    assert cells[0]["name"] == "x = 1" and cells[1]["code"] == "print(2)"
    assert code.startswith(cells[0]["code"]) and len(cells[0]["code"]) > 30_000
    assert path.stat().st_size < MB


# ---- many ----

@pytest.mark.parametrize("name", ["ours", "ours-tcp"])
def test_floods_of_20000(start, name):
    """Nothing is lost, all in order, and memory goes back."""
    kernel = start(name)
    kernel.run("pass")
    before = rss(kernel.pid)
    lines = texts(kernel, kernel.send("for i in range(20000): print(i)"))
    assert "".join(lines) == "".join(f"{i}\n" for i in range(20000))
    shown = texts(kernel, kernel.send(
        "for i in range(20000): display({'text/plain': f'{i} ' + 'x' * 500}, raw=True)"))
    assert [int(s.split()[0]) for s in shown] == list(range(20000))
    assert wait_rss(kernel.pid, before + 16) < before + 16


def test_late_reader_loses_nothing(start):
    """A client that reads when all was said: up to TG_BACKLOG_MUCH nobody asks whether it does."""
    kernel = start("ours")
    msg_id = kernel.send("for i in range(20000): display({'text/plain': f'{i} ' + 'x' * 500}, raw=True)")
    reply = kernel.client.get_shell_msg(timeout=LONG)
    while reply["parent_header"].get("msg_id") != msg_id:
        reply = kernel.client.get_shell_msg(timeout=LONG)
    got = []
    while True:
        m = kernel.client.get_iopub_msg(timeout=LONG)
        if m["msg_type"] == "display_data":
            got.append(int(m["content"]["data"]["text/plain"].split()[0]))
        if m["parent_header"].get("msg_id") == msg_id and m["content"].get("execution_state") == "idle":
            break
    assert got == list(range(20000))


def test_twenty_clients(start):
    """Each gets the replies to its own cells, and all see everything, in one order."""
    kernel = start("ours")
    clients = [kernel.another() for _ in range(20)]
    replies, seen, faults = [None] * 20, [None] * 20, []

    def work(i, client):
        try:
            msg_id = client.execute(f"print('cell of {i}')\n{i}")
            m = client.get_shell_msg(timeout=LONG)
            while m["msg_type"] != "execute_reply":
                m = client.get_shell_msg(timeout=LONG)
            replies[i] = m["parent_header"]["msg_id"] == msg_id and m["content"]["status"] == "ok"
            results = []
            while len(results) < 20:
                m = client.get_iopub_msg(timeout=LONG)
                if m["msg_type"] == "execute_result":
                    results.append((m["parent_header"]["msg_id"], m["content"]["data"]["text/plain"]))
            seen[i] = results
            if dict(results)[msg_id] != str(i):
                faults.append((i, results))
        except Exception as error:  # told below, in the test's own thread
            faults.append((i, repr(error)))

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        client.stop_channels()
    assert not faults and replies == [True] * 20
    assert all(s == seen[0] for s in seen) and sorted(int(t) for _, t in seen[0]) == list(range(20))


# ---- who does not read ----

def test_stalled_client_and_large_messages(start, stalled):
    """It costs a bounded amount of memory, is told of, and the other client loses nothing."""
    kernel = start("ours")
    kernel.run("pass")
    before = rss(kernel.pid)
    socket = stalled(kernel)
    msg_id = kernel.send("import time\nfor i in range(120):\n"
                         "  display({'text/plain': f'{i} ' + 'x' * 10_000_000}, raw=True)\n"
                         "  time.sleep(.1)")
    got, most, slow = [], 0, []
    while True:
        m = kernel.client.get_iopub_msg(timeout=LONG)
        if m["msg_type"] == "display_data":
            got.append(int(m["content"]["data"]["text/plain"].split()[0]))
            most = max(most, rss(kernel.pid))
        if m["parent_header"].get("msg_id") == msg_id and m["content"].get("execution_state") == "idle":
            break
        if len(got) % 10 == 5:  # control is answered while the cell runs and the client stalls
            at = time.monotonic()
            kernel.request("usage_request")
            slow.append(time.monotonic() - at)
    assert got == list(range(120))
    assert slow and max(slow) < LONG / 2
    assert kernel.client.hb_channel.is_beating()
    assert most < before + 1000  # of 1,200 MB
    kernel.collect_reply(msg_id)
    assert wait_rss(kernel.pid, before + 16) < before + 16
    told = kernel.run("print(1)")
    assert "1 client of this kernel did not keep up" in told.stderr and "were dropped" in told.stderr
    assert not kernel.run("print(1)").stderr  # once
    # and when it wakes up, it is a client as any other
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        kernel.run("print('awake')")
        frames = []
        while socket.poll(300):
            frames += socket.recv_multipart()
        if any(b"awake" in f for f in frames):
            break
    assert time.monotonic() < end


def test_stalled_client_that_leaves(start, stalled):
    """What waited for it is given back; below the bound nobody is disconnected."""
    kernel = start("ours")
    kernel.run("pass")
    before = rss(kernel.pid)
    socket = stalled(kernel)
    shown = texts(kernel, kernel.send(
        "for i in range(20000): display({'text/plain': f'{i} ' + 'x' * 1000}, raw=True)"))
    assert [int(s.split()[0]) for s in shown] == list(range(20000))
    assert before + 10 < rss(kernel.pid) < before + 200  # it waits, and costs what it has
    assert not kernel.run("print(1)").stderr
    socket.close(linger=0)
    assert wait_rss(kernel.pid, before + 16) < before + 16


def test_end_with_a_stalled_client(start, stalled):
    """It does not hold up the end."""
    kernel = start("ours")
    stalled(kernel)
    kernel.run("display({'text/plain': 'x' * 50_000_000}, raw=True)")
    pid = kernel.pid
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel()
    wait_gone(pid)


# ---- for long ----

def test_hours_without_a_cell(exe, place, tmp_path):
    """A recorder whose clock between cells is a hundred times as fast; it grows by its file alone."""
    path = tmp_path / "idle.tacho"
    root = subprocess.Popen(["sleep", "600"])
    recorder = subprocess.Popen([exe, "recorder", "--id", "idle-test", "--output", str(path), "--what", "kernel",
                                 "--root", str(root.pid), "--idle-interval-ns", "10000000"])
    try:
        end = time.monotonic() + LONG
        while not (path.exists() and path.stat().st_size > 16_000) and time.monotonic() < end:
            time.sleep(0.1)  # the first summaries are written, queues and tables have their size
        before = rss(recorder.pid), len(os.listdir(f"/proc/{recorder.pid}/fd")), path.stat().st_size
        time.sleep(20)
        after = rss(recorder.pid), len(os.listdir(f"/proc/{recorder.pid}/fd")), path.stat().st_size
    finally:
        recorder.terminate()
        assert recorder.wait(LONG) == 0
        root.kill()
        root.wait()
    assert after[0] < before[0] + 4 and after[1] <= before[1] + 2
    assert before[2] < after[2] < before[2] + 4 * MB  # 2,000 rows: 33 minutes of a kernel that idles
    verified = subprocess.run([exe, "verify", path], capture_output=True, text=True, timeout=LONG)
    assert verified.returncode == 0, verified.stdout + verified.stderr
