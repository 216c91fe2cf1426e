# SPDX-License-Identifier: BSD-3-Clause
"""A Jupyter server under test, and its kernels as a browser sees them."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import websocket

from proxied import LONG


class Server:
    def __init__(self, root, *options, **env):
        self.token = secrets.token_hex(16)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.base = f"127.0.0.1:{probe.getsockname()[1]}"
        self.log = open(root / "server.log", "w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root",
             f"--port={self.base.rpartition(':')[2]}", "--ServerApp.port_retries=0",
             f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={root}", *options],
            env={**os.environ, "JUPYTER_CONFIG_DIR": str(root / "config"), **env}, stdout=self.log,
            stderr=self.log, cwd=root)
        end = time.monotonic() + LONG
        while True:
            try:
                self.call("GET", "api/status")
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < end, self.text()
                time.sleep(0.1)

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def call(self, method, path, content=None):
        request = urllib.request.Request(
            f"http://{self.base}/{path}", method=method,
            data=None if content is None else json.dumps(content).encode(),
            headers={"Authorization": f"token {self.token}"})
        with urllib.request.urlopen(request, timeout=LONG) as answer:
            return json.loads(answer.read() or b"null")

    def end(self, path):
        """Delete a kernel of which something was killed just now: the server may fail while it restarts it."""
        end = time.monotonic() + LONG
        while True:
            try:
                return self.call("DELETE", path)
            except urllib.error.HTTPError as error:
                if error.code == 404:
                    return None
                assert time.monotonic() < end, self.text()
                time.sleep(0.5)

    def kernel(self, name):
        return ServedKernel(self, self.call("POST", "api/kernels", {"name": name})["id"])

    def stop(self):
        self.process.terminate()
        self.process.wait(LONG)
        self.log.close()


class ServedKernel:
    def __init__(self, server, kernel_id):
        self.server, self.path = server, f"api/kernels/{kernel_id}"
        self.socket = websocket.create_connection(
            f"ws://{server.base}/{self.path}/channels", timeout=LONG,
            header={"Authorization": f"token {server.token}"})

    def send(self, code):
        msg_id = secrets.token_hex(8)
        self.socket.send(json.dumps({
            "channel": "shell", "parent_header": {}, "metadata": {}, "buffers": [],
            "header": {"msg_id": msg_id, "msg_type": "execute_request", "session": "s", "username": "",
                       "version": "5.3", "date": "2026-01-01T00:00:00Z"},
            "content": {"code": code, "silent": False, "store_history": True,
                        "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}}))
        return msg_id

    def until(self, wanted):
        """Messages up to and with the one that `wanted` holds for."""
        got = []
        while not got or not wanted(got[-1]):
            got.append(json.loads(self.socket.recv()))
        return got

    def finish(self, msg_id):
        """Reply and messages of a request, until both reply and idle are there."""
        mine, open_ends = [], {"reply", "idle"}
        while open_ends:
            m = self.until(lambda m: m["parent_header"].get("msg_id") == msg_id)[-1]
            mine.append(m)
            if m["msg_type"] == "execute_reply":
                open_ends.discard("reply")
            elif m["content"].get("execution_state") == "idle":
                open_ends.discard("idle")
        return mine

    def run(self, code):
        return self.finish(self.send(code))

    def state(self):
        return self.server.call("GET", self.path)["execution_state"]


def printed(messages):
    return "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream")
