#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the kernel's logo, a dial with a needle, into data/jupyter/kernels/tachograph.

The SVG is written as text; the PNGs are rasterised here, 8 x 8 samples a pixel, so that no
drawing library is needed. Run it after a change of the shapes; the files are committed.
"""

import math
import pathlib
import struct
import zlib

BLUE, WHITE, RED = (0x1F, 0x4E, 0x79), (0xFF, 0xFF, 0xFF), (0xD5, 0x5E, 0x00)
NEEDLE = math.radians(-35)  # upwards to the right, from the centre
TICKS = [math.radians(a) for a in range(-210, 31, 40)]


def distance(x, y, x0, y0, x1, y1):
    """Distance of (x, y) from the line between two points."""
    dx, dy = x1 - x0, y1 - y0
    t = max(0, min(1, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)))
    return math.hypot(x - x0 - t * dx, y - y0 - t * dy)


def on_ray(x, y, angle, r0, r1, width):
    c, s = math.cos(angle), math.sin(angle)
    return distance(x, y, 32 + r0 * c, 32 + r0 * s, 32 + r1 * c, 32 + r1 * s) < width / 2


def colour(x, y):
    """What is drawn at a point of the square from 0 to 64; None outside the dial."""
    r = math.hypot(x - 32, y - 32)
    if r > 31:
        return None
    if r < 5 or on_ray(x, y, NEEDLE, 0, 21, 4.4):
        return RED
    if 27.5 < r < 29.5 or any(on_ray(x, y, a, 20, 27, 2.6) for a in TICKS):
        return WHITE
    return BLUE


def png(size, samples=8):
    rows = b""
    for j in range(size):
        rows += b"\0"
        for i in range(size):
            hit = [c for v in range(samples) for u in range(samples)
                   if (c := colour((i + (u + .5) / samples) * 64 / size,
                                   (j + (v + .5) / samples) * 64 / size))]
            mean = [sum(c[k] for c in hit) // len(hit) for k in range(3)] if hit else [0, 0, 0]
            rows += bytes([*mean, 255 * len(hit) // samples**2])

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(
            ">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def svg():
    def ray(angle, r0, r1, width, rgb):
        c, s = math.cos(angle), math.sin(angle)
        return (f'<line x1="{32 + r0 * c:.1f}" y1="{32 + r0 * s:.1f}" x2="{32 + r1 * c:.1f}" '
                f'y2="{32 + r1 * s:.1f}" stroke="#{bytes(rgb).hex()}" stroke-width="{width}" '
                'stroke-linecap="round"/>')

    return "\n".join([
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">',
        f'<circle cx="32" cy="32" r="31" fill="#{bytes(BLUE).hex()}"/>',
        '<circle cx="32" cy="32" r="28.5" fill="none" stroke="#ffffff" stroke-width="2"/>',
        *[ray(a, 20, 27, 2.6, WHITE) for a in TICKS],
        ray(NEEDLE, 0, 21, 4.4, RED),
        f'<circle cx="32" cy="32" r="5" fill="#{bytes(RED).hex()}"/>', "</svg>", ""])


folder = pathlib.Path(__file__).parent.parent / "data/jupyter/kernels/tachograph"
(folder / "logo-svg.svg").write_text(svg())
for side in (32, 64):
    (folder / f"logo-{side}x{side}.png").write_bytes(png(side))
