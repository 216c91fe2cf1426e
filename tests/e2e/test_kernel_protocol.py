# SPDX-License-Identifier: BSD-3-Clause
"""Everything that ipykernel does, through ours. P-numbers are pitfalls that were once met."""

import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
import time

import pytest
import zmq

from proxied import LONG, Kernel, children, exists, wait_gone


@pytest.fixture(scope="module", params=["ours", "ours-tcp"])
def kernel(request, place):
    kernel = Kernel(request.param)
    yield kernel
    kernel.stop()


# ---- cells ----

def test_cell(kernel):
    result = kernel.run("1+1")
    assert result.types == ["status:busy", "execute_input", "execute_result", "status:idle"]
    assert (result.status, result.data) == ("ok", ["2"])


def test_queued_cells_keep_their_order(kernel):
    ids = [kernel.send(f"import time; time.sleep(.1); print({i})") for i in range(4)]
    replies, messages = kernel.all_of(ids)
    assert [i for i, _ in replies] == [0, 1, 2, 3]
    assert [(i, m["content"]["text"]) for i, m in messages if m["msg_type"] == "stream"] == [
        (i, f"{i}\n") for i in range(4)]


def test_error_aborts_the_queue(kernel):
    ids = [kernel.send("import time; time.sleep(.3); 1/0"), kernel.send("%tacho x"),
           kernel.send("print(1)")]
    replies, messages = kernel.all_of(ids)
    assert [m["content"]["status"] for _, m in replies] == ["error", "aborted", "aborted"]
    assert {m["msg_type"] for i, m in messages if i} == {"status"}


def test_no_abort_when_told_so(kernel):
    ids = [kernel.send("1/0", stop_on_error=False), kernel.send("print(1)")]
    replies, _ = kernel.all_of(ids)
    assert [m["content"]["status"] for _, m in replies] == ["error", "ok"]


def test_input(kernel):
    result = kernel.run("x = input('q? '); print('got', x)", stdin="hällo", allow_stdin=True)
    assert "input_request" in result.types and result.text == "got hällo\n"


def test_input_reaches_the_client_that_asked(kernel):
    other = kernel.another()
    msg_id = other.execute("print('got', input())", allow_stdin=True)
    assert other.get_stdin_msg(timeout=LONG)["msg_type"] == "input_request"
    assert not kernel.client.stdin_channel.msg_ready()
    other.input("y")
    while other.get_shell_msg(timeout=LONG)["parent_header"].get("msg_id") != msg_id:
        pass
    other.stop_channels()


def test_user_expressions_and_history_flag(kernel):
    before = kernel.run("0").reply["content"]["execution_count"]
    result = kernel.run("1", user_expressions={"a": "1+2"})
    assert result.reply["content"]["user_expressions"]["a"]["data"]["text/plain"] == "3"
    result = kernel.run("2", store_history=False)
    assert kernel.run("3").reply["content"]["execution_count"] == before + 2


@pytest.mark.parametrize("ask", [
    lambda c: c.complete("impo"), lambda c: c.inspect("print"), lambda c: c.is_complete("for x in y:"),
    lambda c: c.comm_info(), lambda c: c.kernel_info()])
def test_same_answer_as_plain(kernel, plain, ask):
    def content(k):
        msg_id = ask(k.client)
        while True:
            m = k.client.get_shell_msg(timeout=LONG)
            if m["parent_header"].get("msg_id") == msg_id:
                return {**m["content"], "banner": None}  # the banner has a random tip
    assert content(kernel) == content(plain)


# ---- interrupts, process group ----

@pytest.mark.parametrize("code", ["import time; time.sleep(60)",
                                  "import subprocess; subprocess.run(['sleep', '60'])"])
@pytest.mark.parametrize("how", ["signal", "message"])
def test_interrupt(kernel, code, how):
    """P16: the mask of the proxy's signals is not inherited."""
    msg_id = kernel.send(code)
    kernel.wait_input(msg_id)
    time.sleep(0.3)
    if how == "signal":
        kernel.manager.interrupt_kernel()
    else:
        assert kernel.request("interrupt_request")["content"] == {"status": "ok"}
    reply = kernel.collect_reply(msg_id)
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert kernel.run("print(1)").text == "1\n"


def test_descriptors_and_signals_of_the_kernel(kernel, plain):
    """All our descriptors are close-on-exec; blocked and ignored signals are as without us."""
    code = ("import os; print([l for l in open('/proc/self/status') if l.startswith(('SigBlk', "
            "'SigIgn'))], [t for n in os.listdir('/proc/self/fd') if os.path.lexists(p := "
            "f'/proc/self/fd/{n}') and 'signalfd' in (t := os.readlink(p))])")
    assert kernel.run(code).text == plain.run(code).text


def test_kernel_is_in_our_group(kernel):
    assert kernel.run("import os; print(os.getpgrp())").text.strip() == str(os.getpgid(kernel.pid))


# ---- comms, buffers ----

COMM = """
import hashlib
def target(comm, message):
    comm.on_msg(lambda m: comm.send({"echo": m["content"]["data"],
        "md5": [hashlib.md5(b).hexdigest() for b in m["buffers"]]}, buffers=m["buffers"]))
get_ipython().kernel.comm_manager.register_target("e2e", target)
"""


@pytest.mark.parametrize("buffers", [[b"x" * 1000, b"<IDS|MSG>"], [b""] * 70, [b"\0\xff" * (10 << 20)]],
                         ids=["delimiter", "many", "20 MB"])
def test_comm_with_buffers(kernel, buffers):
    """P21: only the first <IDS|MSG> counts; any number of frames passes."""
    kernel.run(COMM)
    session, socket = kernel.client.session, kernel.client.shell_channel.socket
    session.send(socket, session.msg("comm_open", {
        "comm_id": "c1", "target_name": "e2e", "data": {}}))
    session.send(socket, session.msg("comm_msg", {"comm_id": "c1", "data": {"z": 1}}),
                 buffers=buffers)
    while True:
        m = kernel.client.get_iopub_msg(timeout=LONG)
        if m["msg_type"] == "comm_msg":
            break
    assert m["content"]["data"] == {
        "echo": {"z": 1}, "md5": [hashlib.md5(b).hexdigest() for b in buffers]}
    assert [bytes(b) for b in m["buffers"]] == buffers


def test_widgets(kernel):
    result = kernel.run("import ipywidgets as w; s = w.IntSlider(3); display(s); s.value = 4")
    assert result.status == "ok" and "comm_open" in result.types and "comm_msg" in result.types


def test_no_output_is_lost(kernel):
    """P9: neither towards us nor towards a client that reads late."""
    code = "for i in range(5000): display({'text/plain': str(i)}, raw=True)"
    msg_id = kernel.send(code)
    while kernel.client.get_shell_msg(timeout=LONG)["parent_header"].get("msg_id") != msg_id:
        pass
    got = []
    while True:
        m = kernel.client.get_iopub_msg(timeout=LONG)
        if m["parent_header"].get("msg_id") != msg_id:
            continue
        if m["msg_type"] == "display_data":
            got.append(int(m["content"]["data"]["text/plain"]))
        if m["content"].get("execution_state") == "idle":
            break
    assert got == list(range(5000))


def test_code_that_parsers_refuse(kernel):
    """P11: lone surrogate, NUL, numbers beyond any type: a magic is answered, its text kept."""
    session = kernel.client.session
    message = session.msg("execute_request", {})
    code = r"%tacho \ud800 \u0000 x\nprint(len('\ud83d\ude00'))"
    content = ('{"silent":false,"store_history":true,"user_expressions":{},"allow_stdin":false,'
               f'"stop_on_error":true,"odd":[1e400,0.1,123456789012345678901234567890],'
               f'"code":"{code}"}}').encode()
    parts = [session.pack(message["header"]), b"{}", b"{}", content]
    kernel.client.shell_channel.socket.send_multipart(
        [b"<IDS|MSG>", session.sign(parts), *parts])
    result = kernel.collect(message["header"]["msg_id"])
    assert result.status == "ok" and "1\n" in result.text
    assert result.of("execute_input")[0]["code"] == json.loads(f'"{code}"')


def test_odd_messages_pass(kernel):
    """What is no Jupyter message at all does no harm."""
    socket = kernel.client.shell_channel.socket
    for frames in ([b""], [b"<IDS|MSG>"], [b"<IDS|MSG>", b"", b"{", b"}", b"", b""], [b"x"] * 200):
        socket.send_multipart(frames)
    assert kernel.run("print(1)").text == "1\n"


def test_wrong_signature_is_not_acted_upon(kernel):
    """P20."""
    session = kernel.client.session
    socket = kernel.client.shell_channel.socket
    for code in ("%tacho x", "print('forged')"):
        message = session.msg("execute_request", {
            "code": code, "silent": False, "store_history": True, "user_expressions": {}})
        parts = [session.pack(message[k]) for k in (
            "header", "parent_header", "metadata", "content")]
        socket.send_multipart([b"<IDS|MSG>", b"0" * 64, *parts])
    shut = session.msg("shutdown_request", {"restart": False})
    parts = [session.pack(shut[k]) for k in ("header", "parent_header", "metadata", "content")]
    kernel.client.control_channel.socket.send_multipart([b"<IDS|MSG>", b"0" * 64, *parts])
    assert kernel.run("print(1)").text == "1\n"


# ---- subshells, debugger ----

def test_subshell(kernel):
    subshell = kernel.request("create_subshell_request")["content"]["subshell_id"]
    main = kernel.send(f"import threading; e = threading.Event(); print('made'); print(e.wait({LONG}))")
    assert kernel.wait_iopub(main, "stream")["content"]["text"] == "made\n"  # or the other would find no `e`
    content = {"code": "print('sub'); e.set()", "silent": False, "store_history": False,
               "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
    sub = kernel.send_content("execute_request", content, subshell_id=subshell)
    kernel.wait_iopub(sub, "stream")
    assert kernel.wait_iopub(main, "stream")["content"]["text"] == "True\n"
    kernel.collect_reply(main)
    assert kernel.request("list_subshell_request")["content"]["subshell_id"] == [subshell]
    assert kernel.request("delete_subshell_request", {"subshell_id": subshell})["content"][
        "status"] == "ok"


def test_debugger(start):
    kernel = start("ours")

    def debug(command, seq, **arguments):
        return kernel.request("debug_request", {
            "type": "request", "command": command, "seq": seq, "arguments": arguments})["content"]

    assert debug("initialize", 1, clientID="x", adapterID="", pathFormat="path",
                 linesStartAt1=True, columnsStartAt1=True)["success"]
    assert debug("attach", 2)["success"]
    code = "a = 1\nb = a + 1\nprint(b)"
    path = debug("dumpCell", 3, code=code)["body"]["sourcePath"]
    assert debug("setBreakpoints", 4, breakpoints=[{"line": 2}], source={"path": path},
                 sourceModified=False)["success"]
    assert debug("configurationDone", 5)["success"]
    msg_id = kernel.send(code)
    while True:
        m = kernel.client.get_iopub_msg(timeout=LONG)
        if m["msg_type"] == "debug_event" and m["content"]["event"] == "stopped":
            break
    assert debug("continue", 6, threadId=m["content"]["body"]["threadId"])["success"]
    assert kernel.collect_reply(msg_id)["content"]["status"] == "ok"
    assert debug("disconnect", 7, restart=False, terminateDebuggee=True)["success"]


# ---- clients, subscriptions, start ----

def test_iopub_welcome(kernel):
    """P6: each subscription is welcomed, also the second one of the same topic."""
    info = kernel.client.get_connection_info(session=False)
    url = f"tcp://{info['ip']}:{info['iopub_port']}"
    context = zmq.Context()
    try:
        for topic in (b"", b"", b"stream", b"\xff"):
            socket = context.socket(zmq.SUB)
            socket.setsockopt(zmq.SUBSCRIBE, topic)
            socket.connect(url)
            assert socket.poll(LONG * 1000)
            frames = socket.recv_multipart()
            at = frames.index(b"<IDS|MSG>")
            assert frames[:at] == ([topic] if topic else [])
            assert json.loads(frames[at + 2])["msg_type"] == "iopub_welcome"
            assert frames[at + 1].decode() == kernel.client.session.sign(frames[at + 2:at + 6]).decode()
            socket.close()
    finally:
        context.destroy(linger=0)


def test_second_client_sees_the_same(kernel):
    other = kernel.another()
    msg_id = kernel.send("print('both')")
    kernel.collect(msg_id)
    types = []
    while "idle" not in types:
        m = other.get_iopub_msg(timeout=LONG)
        if m["parent_header"].get("msg_id") == msg_id:
            types.append(m["content"].get("execution_state") or m["msg_type"])
    other.stop_channels()
    assert types == ["busy", "execute_input", "stream", "idle"]


def test_first_cell_loses_nothing(start):
    """P5: a cell sent before the kernel is up has its busy and its idle."""
    for _ in range(3):
        kernel = start("ours", ready=False)
        result = kernel.run("print(1)")
        assert result.types == ["status:busy", "execute_input", "stream", "status:idle"]


def test_heartbeat(kernel):
    info = kernel.client.get_connection_info(session=False)
    context = zmq.Context()
    socket = context.socket(zmq.REQ)
    socket.connect(f"tcp://{info['ip']}:{info['hb_port']}")
    msg_id = kernel.send("import time; time.sleep(.5)")
    for i in range(3):
        socket.send(b"ping%d" % i)
        assert socket.poll(LONG * 1000) and socket.recv() == b"ping%d" % i
    kernel.collect(msg_id)
    context.destroy(linger=0)


def test_injected_messages_are_of_the_kernels_session(fake):
    """P1, P21: the kernel's session, a new msg_id each, the cell as parent."""
    result = fake.run("%tacho x")
    sessions = {m["header"]["session"] for m in result.messages}
    assert len(sessions) == 1 and sessions == {result.reply["header"]["session"]}
    ids = [m["header"]["msg_id"] for m in result.messages]
    assert len(set(ids)) == len(ids)
    assert all(m["parent_header"]["msg_type"] == "execute_request" for m in result.messages)


# ---- shutdown, restart, orphans ----

def test_shutdown_leaves_nothing(start, place):
    """P13: neither processes nor folders."""
    kernel = start("ours")
    pids = [kernel.pid, *children(kernel.pid)]
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel()
    wait_gone(*pids)
    assert not list((place / "run" / "tachograph").glob(f"k-*{kernel.pid}"))


def test_restart(start):
    kernel = start("ours")
    kernel.run("x = 1")
    before = kernel.inner_pid()
    kernel.restart()
    assert not exists(before)
    assert kernel.run("x").reply["content"]["ename"] == "NameError"
    kernel.restart(now=True)
    assert kernel.run("print(1)").text == "1\n"


def test_exit_by_itself(start):
    kernel = start("ours")
    kernel.run("exit")
    assert kernel.wait_end() == 0


def test_killed_proxy_takes_the_kernel_with_it(start, place):
    """P17; and the next start sweeps what was left behind (P13)."""
    kernel = start("ours")
    inner = kernel.inner_pid()
    left = {p.name for p in (place / "run" / "tachograph").glob("k-*")}
    os.kill(kernel.pid, signal.SIGKILL)
    wait_gone(inner)
    start("ours")
    mine = {p.name for p in (place / "run" / "tachograph").glob("k-*")}
    assert len(mine & left) < len(left)


@pytest.mark.parametrize("name", ["ours", "ours-ENOSYS", "ours-EPERM"])
def test_orphan_ends(place, name):
    """Whoever started us is gone: nothing stays, also where there is no pidfd."""
    code = ("import sys; from jupyter_client.manager import KernelManager as M\n"
            f"m = M(kernel_name='{name}'); m.start_kernel(); c = m.client(); c.start_channels()\n"
            "c.wait_for_ready(timeout=60); print(m.provisioner.pid, flush=True)\n"
            "import os; os.kill(os.getpid(), 9)")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LONG)
    wait_gone(int(result.stdout))


def test_grandchildren_go_with_a_kill(start):
    kernel = start("ours")
    pid = int(kernel.run("import subprocess; p = subprocess.Popen(['sleep', '300']); print(p.pid)").text)
    kernel.manager.shutdown_kernel(now=True)
    wait_gone(pid)


def test_sigterm(start):
    kernel = start("ours")
    inner = kernel.inner_pid()
    os.kill(kernel.pid, signal.SIGTERM)
    assert kernel.wait_end() == 128 + signal.SIGTERM
    wait_gone(inner)


def test_sigterm_leaves_the_kernel_its_time(start):
    """It is the kernel's to end, when it likes; meanwhile messages pass."""
    kernel = start("ours")
    kernel.run("import os, signal, threading\n"
               "def end(*_): threading.Timer(4, os._exit, [9]).start()\n"
               "signal.signal(signal.SIGTERM, end)")
    os.kill(kernel.pid, signal.SIGTERM)
    time.sleep(3)
    assert kernel.run("print(1)").text == "1\n"
    assert kernel.wait_end() == 9


def test_hangup_is_ignored_under_nohup(start, place):
    spec = json.loads((place / "data/kernels/ours/kernel.json").read_text())
    spec["argv"].insert(0, "nohup")
    folder = place / "data" / "kernels" / "nohup"
    folder.mkdir(exist_ok=True)
    folder.joinpath("kernel.json").write_text(json.dumps(spec))
    kernel = start("nohup")
    os.kill(kernel.pid, signal.SIGHUP)
    time.sleep(3)
    assert kernel.run("print(1)").text == "1\n"


# ---- what the user's kernel is told ----

def test_connection_file_of_the_kernel(start):
    """P3, P14: its own file of the same name, with what others put into ours."""
    kernel = start("ours", env={**os.environ, "JPY_SESSION_NAME": "/x/n b.ipynb"})
    result = kernel.run(
        "from ipykernel import get_connection_file as f; import json, os, sys\n"
        "c = json.load(open(f()))\n"
        "print(f()); print(os.environ['JPY_SESSION_NAME']); print(c['transport'], sorted(c))\n"
        "print(os.environ['JPY_PARENT_PID'])")
    path, session, transport, parent = result.text.splitlines()
    outer = kernel.manager.connection_file
    assert os.path.basename(path) == os.path.basename(outer) and path != outer
    assert session == "/x/n b.ipynb" and transport.startswith("ipc") and "kernel_name" in transport
    assert parent == str(kernel.pid)


def test_long_runtime_folder(start, place):
    """P19: an ipc path would be too long for a socket: tcp."""
    folder = place / ("r" * 60) / ("s" * 60)
    folder.mkdir(parents=True)
    kernel = start("ours", env={**os.environ, "XDG_RUNTIME_DIR": str(folder)})
    assert kernel.run("print(1)").text == "1\n"
    assert "tcp" in kernel.run("from ipykernel import get_connection_file as f; print(open(f()).read())").text


def test_curve(start, place, exe):
    """P15: a connection file with CURVE keys makes the outer sockets CURVE servers."""
    if not zmq.has("curve"):
        pytest.skip("libzmq without CURVE")
    public, secret = zmq.curve_keypair()
    ports = []
    for _ in range(5):
        with zmq.Context() as context, context.socket(zmq.REP) as socket:
            ports.append(socket.bind_to_random_port("tcp://127.0.0.1"))
    names = ("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port")
    path = place / "curve.json"
    path.write_text(json.dumps({
        **dict(zip(names, ports)), "ip": "127.0.0.1", "key": "k", "transport": "tcp",
        "signature_scheme": "hmac-sha256", "curve_publickey": public.decode(),
        "curve_secretkey": secret.decode()}))
    process = subprocess.Popen([exe, "kernel", "-f", str(path), "--no-record", "--kernel", "plain",
                                "--python", sys.executable])
    context = zmq.Context()
    try:
        socket = context.socket(zmq.REQ)
        socket.curve_serverkey = public
        socket.curve_publickey, socket.curve_secretkey = zmq.curve_keypair()
        socket.connect(f"tcp://127.0.0.1:{ports[4]}")
        socket.send(b"ping")
        assert socket.poll(LONG * 1000) and socket.recv() == b"ping"
        bare = context.socket(zmq.REQ)
        bare.connect(f"tcp://127.0.0.1:{ports[4]}")
        bare.send(b"ping", zmq.NOBLOCK) if bare.poll(500, zmq.POLLOUT) else None
        assert not bare.poll(500)
    finally:
        context.destroy(linger=0)
        process.terminate()
        process.wait(LONG)


def test_key_is_nowhere_to_be_seen(kernel, place):
    key = kernel.client.session.key.decode()
    for pid in [kernel.pid, *children(kernel.pid)]:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            assert key.encode() not in f.read()
        with open(f"/proc/{pid}/environ", "rb") as f:
            assert key.encode() not in f.read()
    for path in (place / "run").rglob("*.json"):
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


def test_idle_does_not_spin(kernel):
    def ticks():
        with open(f"/proc/{kernel.pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    time.sleep(1.5)  # memory is given back once after a flood
    before = ticks()
    time.sleep(2)
    assert ticks() - before <= 20  # of 200; it is 0 or 1


def test_nothing_is_left_on_iopub(kernel):
    kernel.run("1")
    with pytest.raises(queue.Empty):
        kernel.client.get_iopub_msg(timeout=0.3)
