#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A worker for tests of the proxy: answers requests as the text of the cell tells it to.

The cell's text says how: `%tacho crash`, `hang`, `garbage`, `huge N`, `lie`, `set NAME JSON`, `sleep S`;
anything else is answered with the request itself as text of a display.
"""

import json
import os
import re
import socket
import struct
import sys
import time


def read(sock, n):
    data = b""
    while len(data) < n:
        more = sock.recv(n - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def stream(text):
    return {"msg_type": "stream", "content": {"name": "stdout", "text": text}}


def answer(sock, request):
    code = request["code"]
    word = re.search(r"^%+tacho (\w+) ?(.*)$", code, re.M)
    name, rest = word.groups() if word else ("", "")
    out = {"n": request["n"], "messages": []}
    if request["do"] == "cell_end":
        how = re.search(r"# worker: (\w+)", code)
        if how and how.group(1) == "crash":
            os._exit(3)
        if how and how.group(1) == "hang":
            time.sleep(3600)
        out["messages"].append(stream("line " + json.dumps(request["settings"]) + "\n"))
    elif name == "crash":
        os._exit(3)
    elif name == "hang":
        time.sleep(3600)
    elif name == "garbage":
        sock.sendall(struct.pack("<I", 9) + b"{\"n\": 1, ")
        return
    elif name == "length":
        sock.sendall(b"\xff\xff\xff\xff")
        time.sleep(3600)
        return
    elif name == "huge":
        out["messages"].append(stream("x" * int(rest)))
    elif name == "lie":
        out["messages"] = [{"msg_type": "execute_reply", "content": {"status": "ok"}},
                           {"msg_type": "stream", "content": "text"}, stream("only this\n")]
    elif name == "set":
        key, value = rest.split(" ", 1)
        out["settings"] = {key: json.loads(value)}
    elif name == "sleep":
        time.sleep(float(rest))
        out["messages"].append(stream("slept\n"))
    else:
        if "fifo" in request and "break" not in code:
            with open(request["fifo"], "w") as f:
                json.dump([[1, 2.5], "ä", None], f)
        out["messages"].append({"msg_type": "display_data", "content": {
            "data": {"text/plain": json.dumps(request)}, "metadata": {}}})
    data = json.dumps(out).encode()
    sock.sendall(struct.pack("<I", len(data)) + data)


def main():
    sock = socket.socket(fileno=3)
    while True:
        (length,) = struct.unpack("<I", read(sock, 4))
        answer(sock, json.loads(read(sock, length)))


main()
