# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that `tachograph install` made, in use: notebooks of JUmPER, CURVE keys, interrupts by message."""

import json
import os
import pathlib
import select
import socket
import subprocess
import sys
import threading
import time

import nbclient
import nbformat
import pytest
import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from proxied import LONG, Kernel


@pytest.fixture
def install(place):
    """Write a kernelspec `of`, and install ours in front of it."""
    def run(of, spec, *args):
        folder = place / "data" / "kernels" / of
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath("kernel.json").write_text(json.dumps({
            "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": of, "language": "python", **spec}))
        result = subprocess.run(
            [sys.executable, "-m", "tachograph", "install", "--user", "--kernel", of, *args],
            env={**os.environ, "JUPYTER_DATA_DIR": str(place / "data")}, capture_output=True,
            text=True, timeout=60)
        assert (result.returncode, result.stderr) == (0, "")
    return run


def test_a_notebook_of_jumper(install, tmp_path):
    """Its metadata name the kernel `jumper`; its cells, as they are, print what JUmPER prints."""
    install("under", {}, "--name", "jumper")
    cells = ["%env JUMPER_REPORT_FREQUENCY=1\n%env JUMPER_REPORTS_MIN=0",
             "import time\ntime.sleep(2.2)", "%%display_code_for_index 1",
             "%%perfdata_to_variable perf", "len(perf), len(perf[1])", "%%perfdata_to_json f",
             "%%display_graph_for_last"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata.kernelspec = {"name": "jumper", "display_name": "JUmPER", "language": "python"}
    client = nbclient.NotebookClient(notebook, timeout=LONG,
                                     resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    outputs = [cell.outputs for cell in notebook.cells]
    text = ["".join(o.get("text", "") for o in some) for some in outputs]
    lines = text[1].splitlines()
    assert lines[:2] == ["", "----Performance Data----"] and lines[2].startswith("Duration: 2.2")
    assert lines[4].startswith("CPU Util (Across CPUs)       \tAVG: ")
    assert [line.split("\t")[0] for line in lines[5:]] == [
        "Mem Util in GB (Across nodes)", "IO Ops (excl.) Read          ",
        "               Write         ", "IO Bytes (excl.) Read        ",
        "                 Write       "]
    assert text[2].endswith("\n--\nimport time\ntime.sleep(2.2)\n")
    assert text[3] == "Exported performance data to perf variable\n"
    assert outputs[4][0].data["text/plain"] == "(2, 9)"
    assert {p.name for p in tmp_path.iterdir()} == {"f_perfdata.json", "f_code.json"}
    assert "image/png" in outputs[6][0].data


def test_the_environment_is_made_once(install):
    """A kernelspec's ${VAR} is put in by us, not by Jupyter and then by us."""
    install("envy", {"env": {"TG_TEST_PATH": "/first:${TG_TEST_PATH}"}}, "--name", "envied")
    kernel = Kernel("envied", env={**os.environ, "TG_TEST_PATH": "/rest"})
    try:
        assert kernel.run("import os; print(os.environ['TG_TEST_PATH'])").text == "/first:/rest\n"
    finally:
        kernel.stop()


# ---- CURVE ----

class Wire:
    """A relay to a port, which keeps what went by."""

    def __init__(self, port):
        self.seen, self.to = bytearray(), port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            here, _ = self.listener.accept()
            threading.Thread(target=self.pass_on, args=(here, self.there()), daemon=True).start()

    def there(self):
        while True:  # the kernel may not listen yet
            try:
                return socket.create_connection(("127.0.0.1", self.to))
            except ConnectionRefusedError:
                time.sleep(0.05)

    def pass_on(self, *ends):
        while True:
            for end in select.select(ends, [], [])[0]:
                data = end.recv(65536)
                if not data:
                    return [e.close() for e in ends]
                self.seen += data
                ends[end is ends[0]].sendall(data)


@pytest.fixture
def encrypted(install):
    install("plain-curve", {"metadata": {"supported_encryption": ["curve"]}}, "--name", "ours-curve")
    manager = KernelManager(kernel_name="ours-curve", transport_encryption="required")
    manager.start_kernel()
    yield manager
    manager.shutdown_kernel(now=True)


def test_curve_from_end_to_end(encrypted, tmp_path):
    """With the keys all works; on the wire there is nothing to read."""
    info = json.loads(pathlib.Path(encrypted.connection_file).read_text())
    assert info["curve_publickey"] and info["curve_secretkey"]
    wires = {name: Wire(port) for name, port in info.items() if name.endswith("_port")}
    relayed = tmp_path / "relayed.json"
    relayed.write_text(json.dumps({**info, **{name: wire.port for name, wire in wires.items()}}))
    client = BlockingKernelClient(connection_file=str(relayed))
    client.load_connection_file()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=LONG)
        shown = []
        client.execute_interactive("print('spo' + 'ken')", timeout=LONG, output_hook=shown.append)
        assert [m["content"]["text"] for m in shown if m["msg_type"] == "stream"] == ["spoken\n"]
    finally:
        client.stop_channels()
    for name in ("shell_port", "iopub_port"):
        seen = bytes(wires[name].seen)
        assert b"CURVE" in seen and len(seen) > 500
        assert not any(word in seen for word in (b"spoken", b"execute_request", b"msg_id", b"NULL"))


def test_curve_without_keys_gets_nothing(encrypted):
    """Neither an answer nor a message, though it signs with the right key."""
    info = json.loads(pathlib.Path(encrypted.connection_file).read_text())
    good = encrypted.blocking_client()
    good.start_channels()
    good.wait_for_ready(timeout=LONG)
    context = zmq.Context()
    shell, iopub, hb = (context.socket(kind) for kind in (zmq.DEALER, zmq.SUB, zmq.DEALER))
    iopub.subscribe(b"")
    try:
        for end, name in ((shell, "shell"), (iopub, "iopub"), (hb, "hb")):
            end.connect(f"tcp://127.0.0.1:{info[name + '_port']}")
        request = good.session.msg("kernel_info_request", {})
        shell.send_multipart(good.session.serialize(request))
        hb.send(b"ping")
        for _ in range(3):
            good.execute_interactive("print(1)", timeout=LONG, output_hook=lambda message: None)
        assert not any(end.poll(300) for end in (shell, iopub, hb))
    finally:
        good.stop_channels()
        context.destroy(linger=0)


def test_an_unknown_encryption_is_not_claimed(install, place):
    install("odd", {"metadata": {"supported_encryption": "rot13", "x": 1}}, "--name", "ours-odd")
    spec = json.loads((place / "data/kernels/ours-odd/kernel.json").read_text())
    assert spec["metadata"] == {"x": 1}


# ---- interrupts ----

COUNTING = """import signal
n = []
signal.signal(signal.SIGINT, lambda *a: n.append(1))
import time
print("ready", flush=True)
end = time.monotonic() + 60
while not n and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.5)
print(len(n))"""


def test_interrupts_by_message(install, place):
    """`interrupt_mode` is copied, and a cell is interrupted once, not by a signal as well."""
    install("messaged", {"interrupt_mode": "message"}, "--name", "ours-messaged")
    spec = json.loads((place / "data/kernels/ours-messaged/kernel.json").read_text())
    assert spec["interrupt_mode"] == "message"
    kernel = Kernel("ours-messaged")
    try:
        for _ in range(3):
            msg_id = kernel.send(COUNTING)
            kernel.wait_iopub(msg_id, "stream")
            kernel.manager.interrupt_kernel()
            assert kernel.collect(msg_id).text == "1\n"
        kernel.run("signal.signal(signal.SIGINT, signal.default_int_handler)")
        msg_id = kernel.send("import time; print(1, flush=True); time.sleep(60)")
        kernel.wait_iopub(msg_id, "stream")
        kernel.manager.interrupt_kernel()
        assert kernel.collect(msg_id).reply["content"]["ename"] == "KeyboardInterrupt"
        assert kernel.run("1+1").data == ["2"]
    finally:
        kernel.stop()
