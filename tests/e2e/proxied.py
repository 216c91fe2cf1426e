# SPDX-License-Identifier: BSD-3-Clause
"""A kernel under test, and what it answers."""

import json
import os
import pathlib
import queue
import time
from typing import NamedTuple

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

LONG = float(os.environ.get("TG_LONG", 60))  # seconds after which something hangs; no test measures with it

# run a test also on kernels that lack system calls: see without_calls.py
everywhere = pytest.mark.parametrize("denied", ["", "-ENOSYS", "-EPERM"], indirect=True, ids=["all calls", "ENOSYS", "EPERM"])


class Result(NamedTuple):
    reply: dict
    messages: list  # of iopub and stdin, in order

    @property
    def status(self):
        return self.reply["content"]["status"]

    @property
    def types(self):
        return [m["msg_type"] + (":" + m["content"]["execution_state"]
                                 if m["msg_type"] == "status" else "") for m in self.messages]

    def of(self, msg_type):
        return [m["content"] for m in self.messages if m["msg_type"] == msg_type]

    @property
    def text(self):
        return "".join(c["text"] for c in self.of("stream"))

    @property
    def stderr(self):
        return "".join(c["text"] for c in self.of("stream") if c["name"] == "stderr")

    @property
    def data(self):
        return [c["data"]["text/plain"] for c in self.of("display_data") + self.of("execute_result")]


class Kernel:
    def __init__(self, name, ready=True, **options):
        self.manager = KernelManager(kernel_name=name)
        self.manager.start_kernel(**options)
        self.client = self.manager.client()
        self.client.start_channels()
        if ready:
            self.client.wait_for_ready(timeout=LONG)

    def another(self):
        """A second client, with a session and identity of its own."""
        client = BlockingKernelClient(connection_file=self.manager.connection_file)
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready(timeout=LONG)
        return client

    @property
    def pid(self):
        return self.manager.provisioner.pid

    def send(self, code, **options):
        return self.client.execute(code, **options)

    def send_content(self, msg_type, content, channel="shell", **header):
        message = self.client.session.msg(msg_type, content)
        message["header"].update(header)
        getattr(self.client, channel + "_channel").send(message)
        return message["header"]["msg_id"]

    def collect(self, msg_id, stdin=None, timeout=LONG):
        """Everything about one request, until reply and idle are there."""
        messages, reply, idle, end = [], None, False, time.monotonic() + timeout
        while not (reply and idle):
            if time.monotonic() > end:
                raise TimeoutError(f"reply {reply}, idle {idle}, got {messages}")
            try:
                m = self.client.get_iopub_msg(timeout=0.02)
                if m["parent_header"].get("msg_id") == msg_id:
                    messages.append(m)
                    idle |= m["content"].get("execution_state") == "idle"
            except queue.Empty:
                pass
            if stdin is not None and self.client.stdin_channel.msg_ready():
                messages.append(self.client.get_stdin_msg(timeout=LONG))
                self.client.input(stdin)
            if self.client.shell_channel.msg_ready():
                m = self.client.get_shell_msg(timeout=LONG)
                if m["parent_header"].get("msg_id") == msg_id:
                    reply = m
        return Result(reply, messages)

    def collect_reply(self, msg_id):
        """The reply alone, for those whose other messages were read already."""
        while True:
            m = self.client.get_shell_msg(timeout=LONG)
            if m["parent_header"].get("msg_id") == msg_id:
                return m

    def run(self, code, stdin=None, timeout=LONG, **options):
        return self.collect(self.send(code, **options), stdin, timeout)

    def run_until_printed(self, code):
        """What a cell prints when it ends; on a busy machine its report may miss the 250 ms."""
        for _ in range(10):
            result = self.run(code)
            if result.text:
                break
        return result

    def request(self, msg_type, content=None, channel="control", **header):
        """A request and its reply, on control unless told otherwise."""
        msg_id = self.send_content(msg_type, content or {}, channel, **header)
        get = getattr(self.client, f"get_{channel}_msg")
        while True:
            reply = get(timeout=LONG)
            if reply["parent_header"].get("msg_id") == msg_id:
                return reply

    def all_of(self, msg_ids):
        """Replies and iopub messages of several requests, each as (index of its request, message)."""
        replies, messages, idle, end = [], [], set(), time.monotonic() + LONG
        while len(replies) < len(msg_ids) or len(idle) < len(msg_ids):
            if time.monotonic() > end:
                raise TimeoutError(f"{replies} {messages}")
            for get, into in ((self.client.get_iopub_msg, messages),
                              (self.client.get_shell_msg, replies)):
                try:
                    m = get(timeout=0.02)
                except queue.Empty:
                    continue
                parent = m["parent_header"].get("msg_id")
                if parent not in msg_ids:
                    continue
                into.append((msg_ids.index(parent), m))
                if m["content"].get("execution_state") == "idle":
                    idle.add(parent)
        return replies, messages

    def wait_iopub(self, msg_id, msg_type):
        while True:
            m = self.client.get_iopub_msg(timeout=LONG)
            if m["parent_header"].get("msg_id") == msg_id and m["msg_type"] == msg_type:
                return m

    def wait_input(self, msg_id):
        return self.wait_iopub(msg_id, "execute_input")

    def restart(self, **options):
        self.manager.restart_kernel(**options)
        self.client.wait_for_ready(timeout=LONG)

    def wait_end(self):
        """Wait until the process ended; its exit status."""
        return self.manager.provisioner.process.wait(timeout=LONG)

    def inner_pid(self):
        return int(self.run("import os; print(os.getpid())", store_history=False).text)

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def exists(pid):
    """Whether a process runs (zombies are gone)."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def wait_gone(*pids):
    end = time.monotonic() + LONG
    while any(map(exists, pids)):
        assert time.monotonic() < end, "still there: " + str([p for p in pids if exists(p)])
        time.sleep(0.02)


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def environ_without(*names):
    return {k: v for k, v in os.environ.items() if k not in names}


def recorder_at(socket):
    """Pid of the recorder that listens there, which is no child of the kernel."""
    name = pathlib.Path(socket).stem
    end = time.monotonic() + LONG
    while time.monotonic() < end:  # one that was just forked has no command line of its own yet
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                line = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"recorder" in line and name.encode() in line:
                return int(folder.name)
        time.sleep(0.02)
    raise TimeoutError(f"no recorder {name}")


def recorder_of(kernel):
    """Pid of the recorder of a kernel with a fake worker; None when there is none."""
    request = json.loads(kernel.run("%tacho x").data[0])
    return recorder_at(request["recorder"]["socket"]) if request["recorder"] else None


def add_spec(name, argv=None, over="ours", kernel="plain"):
    """A kernelspec: of `argv`, or ours in front of another kernel, with the options of `over`. Its name."""
    kernels = pathlib.Path(os.environ["JUPYTER_PATH"]) / "kernels"
    if argv is None:
        argv = json.loads((kernels / over / "kernel.json").read_text())["argv"]
        argv[argv.index("plain")] = kernel
    (kernels / name).mkdir(exist_ok=True)
    (kernels / name / "kernel.json").write_text(json.dumps(
        {"argv": argv, "display_name": name, "language": "python"}))
    return name
