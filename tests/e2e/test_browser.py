# SPDX-License-Identifier: BSD-3-Clause
"""JupyterLab in a real browser draws what was recorded (docs/decisions/0003)."""

import csv
import datetime
import json
import os
import pathlib
import subprocess
import sys

import drawn
import jupyterlab_page as jupyterlab
import pytest


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    root = tmp_path_factory.mktemp("lab")
    with jupyterlab.serve(root, {"TACHOGRAPH_DIR": str(root / "recordings")}) as base:
        yield root, base


def look(lab, notebook, **job):
    """Open the notebook in the browser; what lab.mjs saw."""
    seen = jupyterlab.look(lab[1], notebook, **job)
    assert seen["errors"] == []
    return seen


def write_notebook(path, kernel, cells):
    """A notebook of code cells: pairs of source and outputs."""
    path.write_text(json.dumps({
        "nbformat": 4, "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": kernel, "display_name": "", "language": "python"}},
        "cells": [{"cell_type": "code", "execution_count": None, "metadata": {}, "id": f"c{i}",
                   "source": source, "outputs": outputs} for i, (source, outputs) in enumerate(cells)]}))


def vega_notebook(path, *specs):
    """An executed notebook with one chart a cell."""
    write_notebook(path, "python3", [("", [{
        "output_type": "display_data", "metadata": {}, "data": {
            "application/vnd.vegalite.v5+json": spec, "text/plain": "chart"}}]) for spec in specs])


def simple_panel(title, values, top):
    encoding = {"x": {"field": "t", "type": "quantitative"},
                "y": {"field": "v", "type": "quantitative", "scale": {"domain": [0, top]}}}
    return {"width": 400, "height": 100, "layer": [
        {"data": {"values": [{"t": t, "v": v} for t, v in enumerate(values)]}, "mark": "line",
         "encoding": encoding},
        {"data": {"values": [{}]}, "mark": {"type": "text", "text": title},
         "encoding": {"x": {"value": 0}, "y": {"value": -7}}}]}


def test_reading_back_is_exact(lab):
    """Of a chart made by hand: what drawn.py reads is what was put in, gap and all."""
    first, second = [0, 7, 3, 10, 6], [0.5, 0.25, None, 1, 0]
    vega_notebook(lab[0] / "hand.ipynb", {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "vconcat": [simple_panel("one", first, 10), simple_panel("two", second, 2)]})
    seen = look(lab, "hand.ipynb", charts=1)
    panels = drawn.panels(seen["cells"][0]["charts"][0])
    runs = {title: [[(round(x, 6), round(y, 6)) for x, y, _ in run]
                    for line in panel.lines for run in line.runs]
            for title, panel in panels.items()}
    assert runs == {"one": [list(enumerate(first))],
                    "two": [[(0, 0.5), (1, 0.25)], [(3, 1), (4, 0)]]}


CELLS = {
    "busy": "import time\nuntil = time.monotonic() + 2.5\nwhile time.monotonic() < until:\n    sum(range(9999))",
    "memory": "%tacho mark filling\n"
              "kept = bytearray(300 << 20)\nfor i in range(0, len(kept), 4096): kept[i] = 1\n"
              "time.sleep(1)\ndel kept\ntime.sleep(0.5)",
    "disk": "import os, tempfile\nwith tempfile.TemporaryFile(dir='.') as file:\n"
            "    for _ in range(10): file.write(bytes(5 << 20)); file.flush(); os.fsync(file.fileno())\n"
            "    time.sleep(0.5)",
    "chart": "%tacho chart",
}


@pytest.fixture(scope="module")
def recorded(lab):
    """A notebook that ran in the kernel `tachograph`: its name, its spans and its samples."""
    import nbclient
    import nbformat

    root, _ = lab
    notebook = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell(source) for source in CELLS.values()])
    recordings = root / "run"
    env = {**os.environ, "TACHOGRAPH_DIR": str(recordings)}
    nbclient.NotebookClient(notebook, kernel_name="tachograph", timeout=120,
                            resources={"metadata": {"path": str(root)}}).execute(env=env)
    nbformat.write(notebook, root / "recorded.ipynb")
    drawn_by_kernel = [output for output in notebook.cells[-1].outputs
                       if "application/vnd.vegalite.v5+json" in output.get("data", {})]
    assert len(drawn_by_kernel) == 1, notebook.cells[-1].outputs
    file, = recordings.glob("*.tacho")

    def tacho(*args):
        return subprocess.run([pathlib.Path(sys.executable).parent / "tachograph", *args], check=True,
                              capture_output=True, text=True, timeout=60).stdout

    spans = [span for span in json.loads(tacho("show", file, "--json"))["spans"]
             if span["kind"] == "cell"]
    rows = list(csv.DictReader(tacho("export", file, "-o", "-").splitlines()))
    offset = spans[0]["start"] - datetime.datetime.fromisoformat(
        rows[0]["time[UTC]"].replace("Z", "+00:00")).timestamp()

    def samples(column):
        """(seconds since the first cell began, value), where there is a value."""
        return [(float(row["t[s]"]) - offset, float(row[column])) for row in rows if row[column]]

    return "recorded.ipynb", dict(zip(CELLS, spans)), samples


def titled(panels, word):
    """The one panel whose title starts so, and what its unit is in units of the export."""
    panel, = [panel for title, panel in panels.items() if title.startswith(word)]
    unit = panel.title.split("·")[-1].strip()
    factor = {"cores busy": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "kB/s": 1e3, "MB/s": 1e6,
              "GB/s": 1e9}[unit]
    return panel, factor


def total(points, start, end):
    """The integral of a drawn line of rates, each value holding halfway to its neighbours."""
    found = 0.0
    for i, (x, y, _) in enumerate(points):
        left = (points[i - 1][0] + x) / 2 if i else x - (points[1][0] - x) / 2
        right = (points[i + 1][0] + x) / 2 if i + 1 < len(points) else x + (x - points[i - 1][0]) / 2
        found += y * max(0.0, min(right, end) - max(left, start))
    return found


@pytest.mark.parametrize("theme, switch_to", [
    ("JupyterLab Light", None), ("JupyterLab Dark", None), ("JupyterLab Dark", "JupyterLab Light")])
def test_values_drawn_are_the_values_recorded(lab, recorded, theme, switch_to):
    """In either theme, and after a change of theme, which JupyterLab draws no chart again for."""
    notebook, spans, samples = recorded
    seen = look(lab, notebook, charts=1, theme=theme, switch_to=switch_to)
    chart, = seen["cells"][-1]["charts"]
    check_values(drawn.panels(chart), spans, samples)
    check_mark(chart, spans)
    for colour in drawn.text_colours(chart):  # WCAG AA for large text, on either background
        assert drawn.contrast(colour, seen["background"]) >= 4


def check_values(panels, spans, samples):
    start = spans["busy"]["start"]
    cells = [(span["start"] - start, span["start"] - start + span["wall_s"], span)
             for span in spans.values()]
    cpu, unit = titled(panels, "CPU")
    bands = sorted((a, b) for a, b, _ in cpu.rects)
    assert len(bands) == len(cells)
    for (a, b), (from_, to, _) in zip(bands, cells):
        assert (a, b) == pytest.approx((from_, to), abs=0.05)

    line, = cpu.named("job")
    width = line.points()[1][0] - line.points()[0][0]
    a, b, busy = cells[0]
    assert total(line.points(), a, b + width) == pytest.approx(busy["cpu_s"], rel=0.15)
    (band,) = [area for area in cpu.named("job", "area") if len(area.points()) == len(line.points())][:1]
    for (x, mean, _), (bx, high, low) in zip(line.points(), band.points()):
        assert x == pytest.approx(bx) and low - 1e-6 <= mean <= high + 1e-6

    memory, unit = titled(panels, "Memory")
    line, = memory.named("RSS")
    truth = samples("tree.rss_bytes[bytes]")
    for x, y, _ in line.points():
        near = [value for t, value in truth if abs(t - x) <= width + 0.15]
        if near:
            assert min(near) * 0.98 <= y * unit <= max(near) * 1.02
    peak = max(high * unit for area in memory.named("RSS", "area") for _, high, _ in area.points())
    assert peak == pytest.approx(max(span["rss_peak_bytes"] for span in spans.values()), rel=0.03)
    a, b, _ = cells[1]
    at = max(line.points(), key=lambda point: point[1])[0]
    assert a - width <= at <= b + width, "the peak is not where the cell is"

    disk, unit = titled(panels, "Disk")
    line, = disk.named("write")
    a, b, cell = cells[2]
    assert total(line.points(), a - width, b + width) * unit == pytest.approx(
        cell["write_bytes"], rel=0.15)


def check_mark(chart, spans):
    """It is in its cell, in each panel at the same time, and has its name above them."""
    start = spans["memory"]["start"] - spans["busy"]["start"]
    for panel in drawn.panels(chart).values():
        at, = panel.flags
        assert start - 0.02 <= at <= start + 0.5, panel.title
    assert ["filling"] == [item["text"] for mark in chart["marks"] if mark["type"] == "text"
                           for item in mark["items"] if item.get("text") == "filling"]


def test_live_notebook(lab):
    """Run in JupyterLab itself: the kernel starts, cells answer, the last one draws."""
    root, _ = lab
    write_notebook(root / "live.ipynb", "tachograph", [
        (source, []) for source in ("import time\nuntil = time.monotonic() + 2.2\n"
                                    "while time.monotonic() < until: pass", "6 * 7", "%tacho chart")])
    seen = look(lab, "live.ipynb", charts=1, run=True)
    assert "core" in seen["cells"][0]["text"], "a cell of two seconds prints its line"
    assert seen["cells"][1]["text"].strip().endswith("42")
    assert "CPU" in " ".join(drawn.panels(seen["cells"][2]["charts"][0]))


def test_completion(lab):
    """Tab offers our magics, and Shift-Tab explains the one that was taken."""
    write_notebook(lab[0] / "typed.ipynb", "tachograph", [("", [])])
    seen = look(lab, "typed.ipynb", charts=0, type="%ta")
    assert sorted(seen["offered"]) == ["%%tacho", "%tacho"]
    assert "%tacho help WORD" in seen["explained"]
