# SPDX-License-Identifier: BSD-3-Clause
"""What a person reads off a chart that browser/lab.mjs saw: values, not pixels and not the spec.

The numbers printed along an axis, and where they stand, give the scale; the positions of the
painted marks then give the values. So a wrong order, a wrong domain or a wrong axis shows up.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple


class Axis(NamedTuple):
    """value = offset + pixel * slope, from the labels."""

    offset: float
    slope: float
    title: str

    def value(self, pixel: float) -> float:
        return self.offset + pixel * self.slope


class Line(NamedTuple):
    """A line or area: its runs of (x, y, y2); y2 is y for a line. A gap starts a new run."""

    kind: str
    name: str
    colour: str
    runs: list[list[tuple[float, float, float]]]

    def points(self) -> list[tuple[float, float, float]]:
        return [point for run in self.runs for point in run]


class Panel(NamedTuple):
    x: Axis | None
    y: Axis | None
    lines: list[Line]
    rules: list[tuple[float, float]]  # horizontal lines of data: value, length in pixels
    rects: list[tuple[float, float]]  # x from, x to
    texts: list[str]


def number(label: str) -> float:
    """The number on a label: "1,500", "\N{MINUS SIGN}2", "0.5", "1:30" (minutes and seconds)."""
    label = label.replace("\N{MINUS SIGN}", "-").replace(",", "")
    if re.fullmatch(r"\d+(:\d\d)+", label):
        total = 0
        for part in label.split(":"):
            total = total * 60 + int(part)
        return total
    return float(label)


def axis(labels: list[dict[str, Any]], along: str, title: str) -> Axis:
    """The line through the first and the last label; any other must lie on it."""
    marks = sorted((item["o" + along] - 0.5 + item[along], number(item["text"]))
                   for item in labels if item["text"])
    (p0, v0), (p1, v1) = marks[0], marks[-1]
    slope = (v1 - v0) / (p1 - p0)
    for pixel, value in marks:
        assert abs(v0 + (pixel - p0) * slope - value) <= 0.01 * abs(v1 - v0), f"not linear: {marks}"
    return Axis(v0 - p0 * slope, slope, title)


def panels(chart: dict[str, Any]) -> list[Panel]:
    """The panels of one chart from top to bottom."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for mark in chart["marks"]:
        groups.setdefault(mark["path"].split("/")[0], []).append(mark)
    return [panel(marks) for marks in groups.values()]


def panel(marks: list[dict[str, Any]]) -> Panel:
    axes: dict[str, Axis] = {}
    titles: dict[str, str] = {}
    for mark in marks:
        if mark["role"] == "axis-title" and mark["items"]:
            item = mark["items"][0]
            titles["y" if item["x"] < 0 else "x"] = item.get("text", "")
    for mark in marks:
        shown = [item for item in mark["items"] if item.get("text") and item.get("opacity", 1) > 0]
        if mark["role"] == "axis-label" and len(shown) > 1:
            along = "y" if len({round(item["x"]) for item in shown}) == 1 else "x"
            axes.setdefault(along, axis(shown, along, titles.get(along, "")))
    x, y = axes.get("x"), axes.get("y")
    lines, rules, rects, texts = [], [], [], []
    for mark in marks:
        items = mark["items"]
        if mark["type"] == "text":
            texts += [str(item["text"]) for item in items if item.get("text")]
        if mark["role"] != "mark" or not items:
            continue
        if mark["type"] in ("line", "area") and x and y:
            runs: list[list[tuple[float, float, float]]] = [[]]
            for item in items:
                if item.get("defined") is False:
                    runs.append([])
                    continue
                top = item["oy"] + item["y"]
                runs[-1].append((x.value(item["ox"] + item["x"]), y.value(top),
                                 y.value(item["oy"] + item["y2"]) if "y2" in item else y.value(top)))
            colour = items[0].get("stroke") or items[0].get("fill") or ""
            lines.append(Line(mark["type"], mark["name"], colour, [run for run in runs if run]))
        elif mark["type"] == "rule" and y:
            rules += [(y.value(item["oy"] + item["y"]), abs(item.get("x2", 0) - item["x"]))
                      for item in items if item.get("y2", item["y"]) == item["y"]]
        elif mark["type"] == "rect" and x:
            rects += [(x.value(item["ox"] + item["x"]), x.value(item["ox"] + item["x"] + item["width"]))
                      for item in items if "width" in item]
    return Panel(x, y, lines, rules, rects, texts)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio of two colours, "#rgb…" or "rgb(r, g, b)"."""
    def luminance(colour: str) -> float:
        if colour.startswith("#"):
            digits = colour[1:] if len(colour) > 4 else "".join(2 * c for c in colour[1:])
            parts = [int(digits[i:i + 2], 16) for i in (0, 2, 4)]
        else:
            parts = [int(float(part)) for part in re.findall(r"[\d.]+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                  for c in (part / 255 for part in parts)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
