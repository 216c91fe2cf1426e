# SPDX-License-Identifier: BSD-3-Clause
"""A JupyterLab server of its own, and a look at a notebook in it through a real browser."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

TOKEN = secrets.token_hex(16)
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},  # draw cells out of view too
    "apputils-extension/notification": {"fetchNews": "false"},
}


@contextlib.contextmanager
def serve(root: pathlib.Path, env: dict[str, str]) -> Iterator[str]:
    """JupyterLab with `root` as its folder; its address. Nothing of the user's settings is seen."""
    for name, value in SETTINGS.items():
        file = root / ".lab" / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    base = f"http://127.0.0.1:{port}/"
    folders = {f"JUPYTER{what}_DIR": str(root / ".lab" / name) for what, name in (
        ("LAB_SETTINGS", "settings"), ("LAB_WORKSPACES", "workspaces"), ("_CONFIG", "config"))}
    with (root / ".lab" / "log").open("w+") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
             "--expose-app-in-browser", f"--port={port}", "--ServerApp.port_retries=0",
             f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={root}"],
            env={**os.environ, **folders, **env}, stdout=log, stderr=log, cwd=root)
        try:
            until = time.monotonic() + 120
            while True:
                try:
                    urllib.request.urlopen(f"{base}api?token={TOKEN}", timeout=5).close()
                    break
                except OSError:
                    if server.poll() is not None or time.monotonic() > until:
                        log.seek(0)
                        raise RuntimeError(log.read()) from None
                    time.sleep(0.2)
            yield base
        finally:
            server.terminate()
            server.wait(60)


def look(base: str, notebook: str, **job: Any) -> dict[str, Any]:
    """Open the notebook in the browser; what browser/lab.mjs saw. See there for what a job may say."""
    node = shutil.which("node")
    assert node, "node is not installed"
    result = subprocess.run(
        [node, pathlib.Path(__file__).parent / "browser" / "lab.mjs"], timeout=400,
        input=json.dumps({"base": base, "token": TOKEN, "notebook": notebook, **job}),
        capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
