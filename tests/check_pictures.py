#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds drawn charts against the formats they claim to be, and against tests/golden/.

Usage: check_pictures.py DRAW_SAMPLE GOLDEN_FOLDER [--update]

draw_sample draws the charts of tests/unit/sample_chart.h. With --update the golden files are written
anew: `meson compile -C build golden-update`, by hand, then look at the difference and commit it.
Numbers may differ from the golden ones by a rounding (another compiler, another processor).
"""

import base64
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
import zlib

CHARTS = ("chart", "cells", "devices")
TEXTS = ("svg", "vl.json", "txt")
BUNDLE_LIMIT = 150_000  # bytes that a saved chart adds to a notebook
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def draw(program, folder, *args, **environment):
    done = subprocess.run([program, folder, *map(str, args)], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
    return pathlib.Path(folder)


def check_svg(text):
    root = ET.fromstring(text)
    name = "{http://www.w3.org/2000/svg}"
    assert root.tag == name + "svg" and root.get("role") == "img"
    title, desc = root.find(name + "title"), root.find(name + "desc")
    assert title.text and desc.text
    assert root.get("aria-labelledby").split() == [title.get("id"), desc.get("id")]
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids)) and all(i.startswith("tg1") for i in ids), ids
    tags = {e.tag.removeprefix(name) for e in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "g", "rect", "path", "circle", "text"}, tags
    # the classes of the page around it must not meet ours
    assert all(c.startswith("tg-") for e in root.iter() for c in e.get("class", "").split())
    assert not any(a.startswith("on") or "href" in a for e in root.iter() for a in e.attrib)
    for selector in re.findall(r"^([^@{}]+)\{", root.find(name + "style").text, re.M):
        assert all(part.strip().startswith("#tg1") for part in selector.split(",")), selector


def check_png(data):
    """Every chunk's CRC, one palette of at most 256 colours, as many bytes as the head says."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == \
            zlib.crc32(kind + body), kind
        chunks.append((kind, body))
        at += 12 + length
    assert [kind for kind, _ in chunks] == [b"IHDR", b"PLTE", b"pHYs", b"IDAT", b"IEND"]
    width, height, bits, colour, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (bits, colour, rest) == (8, 3, [0, 0, 0])
    colours = len(chunks[1][1]) // 3
    assert 8 < colours <= 256 and len(chunks[1][1]) % 3 == 0
    pixels = zlib.decompress(chunks[3][1])
    assert len(pixels) == (width + 1) * height
    assert not any(pixels[::width + 1]) and max(pixels) < colours
    return width, height


def views(part):
    """The views of a specification, however they are put together."""
    parts = part.get("vconcat", []) + part.get("hconcat", [])
    return [view for inner in parts for view in views(inner)] if parts else [part]


def check_vega(text):
    """Nothing is left to the program that draws: each scale has its domain, each line its order."""
    spec = json.loads(text)
    assert spec["$schema"].endswith("/vega-lite/v5.json") and spec["background"] == "transparent"
    layers = [layer for view in views(spec) for layer in view["layer"]]
    assert len(layers) > 8
    for layer in layers:
        for channel, encoding in layer["encoding"].items():
            if channel in ("x", "y") and "field" in encoding:
                assert len(encoding["scale"]["domain"]) == 2, encoding
            if isinstance(encoding, dict) and channel in ("color", "fill", "stroke", "opacity"):
                assert encoding["scale"] is None, encoding
    assert all("order" in layer["encoding"] for layer in layers if layer["mark"]["type"] == "line")
    if "data" not in spec:
        return
    rows = spec["data"]["values"].split("\n")
    assert len(rows) - 1 <= 150 and len({row.count(",") for row in rows}) == 1
    assert set(rows[0].split(",")) == set(spec["data"]["format"]["parse"])
    assert all(len(re.sub(r"e-?\d+|\D", "", cell).strip("0")) <= 5
               for row in rows[1:] for cell in row.split(","))


def differences(now, golden):
    """Where two texts differ by more than a rounding of their numbers."""
    if NUMBER.sub("#", now) != NUMBER.sub("#", golden):
        return "other text than"
    for a, b in zip(NUMBER.findall(now), NUMBER.findall(golden)):
        if abs(float(a) - float(b)) > max(0.11, 2e-3 * abs(float(b))):
            return f"{a} instead of {b} in"
    return None


def main(program, golden, update):
    golden = pathlib.Path(golden)
    with tempfile.TemporaryDirectory() as folder:
        for args in ((100,), (930,), (50000,), (310, 320), (310, 2000, 2)):
            drawn = draw(program, folder, *args)
            scale = args[2] if len(args) > 2 else 1
            for name in CHARTS:
                text = {ending: (drawn / f"{name}.{ending}").read_text() for ending in TEXTS}
                png = (drawn / f"{name}.png").read_bytes()
                check_svg(text["svg"])
                check_vega(text["vl.json"])
                width, height = check_png(png)
                assert width == scale * (args[1] if len(args) > 1 else 960), width
                assert 250 * scale < height < 1200 * scale, height
                bundle = json.dumps({
                    "application/vnd.vegalite.v5+json": json.loads(text["vl.json"]),
                    "image/png": base64.b64encode(png).decode(), "text/plain": text["txt"]})
                print(f"{name} {args}: {len(bundle)} bytes in a notebook")
                assert scale > 1 or len(bundle) <= BUNDLE_LIMIT, (args, len(bundle))

        # No font and no configuration of fonts is asked for: the same bytes without any.
        png = (draw(program, folder, 310) / "chart.png").read_bytes()
        without = draw(program, folder, 310, FONTCONFIG_FILE="/nonexistent",
                       FONTCONFIG_PATH="/nonexistent", HOME="/nonexistent",
                       XDG_DATA_HOME="/nonexistent", FC_DEBUG="1")
        assert (without / "chart.png").read_bytes() == png

        drawn = draw(program, folder, 100)
        for name in (f"{chart}.{ending}" for chart in CHARTS for ending in TEXTS):
            now = (drawn / name).read_text()
            if update:
                golden.mkdir(exist_ok=True)
                (golden / name).write_text(now)
                continue
            differs = differences(now, (golden / name).read_text())
            assert not differs, f"{differs} {golden / name}: see --update"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "--update" in sys.argv[3:])
