# SPDX-License-Identifier: BSD-3-Clause
"""JupyterLab in a real browser."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import drawn
import pytest

HERE = pathlib.Path(__file__).parent
TOKEN = "for-this-test-only"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    root = tmp_path_factory.mktemp("lab")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    base = f"http://127.0.0.1:{port}/"
    settings = root / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    env = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(root / "settings"),
           "JUPYTERLAB_WORKSPACES_DIR": str(root / "workspaces"),
           "JUPYTER_CONFIG_DIR": str(root / "config"), "TACHOGRAPH_DIR": str(root / "recordings")}
    log = (root / "lab.log").open("w")
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
         f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={root}", "--expose-app-in-browser",
         "--ServerApp.port_retries=0", "--ContentsManager.allow_hidden=True"],
        env=env, stdout=log, stderr=log, cwd=root)
    try:
        until = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{base}api?token={TOKEN}", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, (root / "lab.log").read_text()
                assert time.monotonic() < until, (root / "lab.log").read_text()
                time.sleep(0.2)
        yield root, base
    finally:
        server.terminate()
        server.wait(30)
        log.close()


def look(lab, notebook, **job):
    """Open the notebook in the browser; what lab.mjs saw."""
    root, base = lab
    job = {"base": base, "token": TOKEN, "notebook": notebook, **job}
    result = subprocess.run([shutil.which("node"), HERE / "browser" / "lab.mjs"],
                            input=json.dumps(job), capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    seen = json.loads(result.stdout)
    assert seen["errors"] == []
    return seen


def vega_notebook(path, *specs):
    """An executed notebook with one chart a cell."""
    path.write_text(json.dumps({
        "nbformat": 4, "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "", "language": "python"}},
        "cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "",
                   "id": f"c{i}", "outputs": [{"output_type": "display_data", "metadata": {}, "data": {
                       "application/vnd.vegalite.v5+json": spec, "text/plain": "chart"}}]}
                  for i, spec in enumerate(specs)]}))


def simple_panel(values, top):
    return {"width": 400, "height": 100, "data": {"values": [
        {"t": t, "v": v} for t, v in enumerate(values)]}, "mark": "line", "encoding": {
            "x": {"field": "t", "type": "quantitative"},
            "y": {"field": "v", "type": "quantitative", "scale": {"domain": [0, top]}}}}


def test_reading_back_is_exact(lab):
    """Of a chart made by hand: what drawn.py reads is what was put in, gap and all."""
    first, second = [0, 7, 3, 10, 6], [0.5, 0.25, None, 1, 0]
    vega_notebook(lab[0] / "hand.ipynb", {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "vconcat": [simple_panel(first, 10), simple_panel(second, 2)]})
    seen = look(lab, "hand.ipynb", charts=1)
    one, two = drawn.panels(seen["cells"][0]["charts"][0])
    assert [run_of(line) for line in one.lines] == [[[(t, v) for t, v in enumerate(first)]]]
    assert [run_of(line) for line in two.lines] == [[[(0, 0.5), (1, 0.25)], [(3, 1), (4, 0)]]]


def run_of(line):
    return [[(round(x, 6), round(y, 6)) for x, y, _ in run] for run in line.runs]
