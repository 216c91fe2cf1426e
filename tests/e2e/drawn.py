# SPDX-License-Identifier: BSD-3-Clause
"""What a person reads off a chart that browser/lab.mjs saw: values, not pixels and not the spec.

The numbers printed along an axis, and where they stand, give the scale; the positions of the
painted marks then give the values; the legend says by its stroke which line is which. So a wrong
order, a wrong domain or a wrong axis shows up.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

Mark = dict[str, Any]
Point = tuple[float, float, float]  # x, y, y2; y2 is y for a line
SECONDS = {"": 1, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}


class Axis(NamedTuple):
    """value = offset + pixel * slope, from the labels."""

    offset: float
    slope: float

    def value(self, pixel: float) -> float:
        return self.offset + pixel * self.slope


class Line(NamedTuple):
    kind: str  # "line" or "area"
    stroke: str  # as in the legend
    runs: list[list[Point]]  # a gap starts a new run

    def points(self) -> list[Point]:
        return [point for run in self.runs for point in run]


class Panel(NamedTuple):
    title: str
    lines: list[Line]
    rects: list[tuple[float, float, float]]  # x from, x to, opacity
    flags: list[float]  # x of the lines from top to bottom
    legend: dict[str, str]  # name: stroke
    texts: list[str]

    def named(self, name: str, kind: str = "line") -> list[Line]:
        return [line for line in self.lines
                if line.kind == kind and line.stroke == self.legend[name]]


def number(label: str) -> float:
    """The number on a label: "1,500", "\N{MINUS SIGN}2", "0.5", "20 ms", "1 min 30 s"."""
    label = label.replace("\N{MINUS SIGN}", "-").replace(",", "")
    parts = re.findall(r"(-?[\d.]+)\s*([a-zµ]*)", label)
    assert parts, f"no number: {label!r}"
    return sum(float(value) * SECONDS[unit] for value, unit in parts)


def axis(labels: list[Mark], along: str) -> Axis:
    """The line through the first and the last label; every other must lie on it."""
    marks = sorted((item[along], number(item["text"])) for item in labels)
    (p0, v0), (p1, v1) = marks[0], marks[-1]
    slope = (v1 - v0) / (p1 - p0)
    for pixel, value in marks:  # a printed number is rounded: allow what rounding can do
        assert abs(v0 + (pixel - p0) * slope - value) <= 0.03 * abs(v1 - v0), f"not linear: {marks}"
    return Axis(v0 - p0 * slope, slope)


def axes(marks: list[Mark]) -> dict[str, Axis]:
    found = {}
    for mark in marks:
        shown = [item for item in mark["items"] if item.get("text") and item.get("opacity", 1) > 0]
        if mark["role"] == "axis-label" and len(shown) > 1:
            along = "y" if len({round(item["x"]) for item in shown}) == 1 else "x"
            found[along] = axis(shown, along)
    return found


def stroke_of(item: dict[str, Any]) -> str:
    """Its colour, and whether it is dashed."""
    return item.get("stroke", "") + (" dashed" if any(item.get("strokeDash") or []) else "")


def legend(marks: list[Mark]) -> dict[str, str]:
    """Short strokes above the panel, each with its name to the right."""
    strokes = sorted((item["x2"], stroke_of(item)) for mark in marks if mark["type"] == "rule"
                     for item in mark["items"] if item["y"] < 0 and item.get("stroke"))
    names = sorted((item["x"], item["text"]) for mark in marks
                   if mark["type"] == "text" and mark["role"] == "mark"
                   for item in mark["items"] if item["y"] < 0 and item["x"] > 0)
    found = {}
    for end, stroke in strokes:
        beside = [text for x, text in names if 0 <= x - end < 12]
        if beside:
            found[beside[0]] = stroke
    return found


def panels(chart: dict[str, Any]) -> dict[str, Panel]:
    """The panels with a title and a scale, by title, from top to bottom."""
    groups: dict[str, list[Mark]] = {}
    for mark in chart["marks"]:
        groups.setdefault(mark["panel"], []).append(mark)
    scales = {name: axes(marks) for name, marks in groups.items()}
    # the lowest panel has the labels of time; what comes below it has an axis of its own
    time = next(scale["x"] for scale in scales.values() if "x" in scale)
    found = [panel(marks, scales[name].get("x", time), scales[name]["y"])
             for name, marks in groups.items() if "y" in scales[name]]
    return {one.title: one for one in found}


def panel(marks: list[Mark], x: Axis, y: Axis) -> Panel:
    lines: list[Line] = []
    rects: list[tuple[float, float, float]] = []
    flags: list[float] = []
    titles: list[str] = []
    texts: list[str] = []
    for mark in marks:
        items = mark["items"]
        if mark["type"] == "text":
            texts += [str(item["text"]) for item in items if item.get("text")]
            titles += [item["text"] for item in items if item["y"] < 0 and item["x"] == 0]
        if mark["role"] != "mark" or not items:
            continue
        if mark["type"] in ("line", "area"):
            runs: list[list[Point]] = [[]]
            for item in items:
                if item.get("defined") is False:
                    runs.append([])
                    continue
                runs[-1].append((x.value(item["x"]), y.value(item["y"]),
                                 y.value(item.get("y2", item["y"]))))
            stroke = stroke_of(items[0]) if mark["type"] == "line" else items[0].get("fill", "")
            lines.append(Line(mark["type"], stroke, [run for run in runs if run]))
        elif mark["type"] == "rule":
            flags += [x.value(item["x"]) for item in items
                      if item.get("x2", item["x"]) == item["x"] and item["y"] == 0 and item.get("y2")]
        elif mark["type"] == "rect":
            rects += [(x.value(item["x"]), x.value(item["x"] + item["width"]),
                       item.get("opacity", 1)) for item in items if "width" in item]
    return Panel((titles or [""])[0], lines, rects, flags, legend(marks), texts)


def text_colours(chart: dict[str, Any]) -> set[str]:
    """The colours of all text that can be seen."""
    return {item["fill"] for mark in chart["marks"] if mark["type"] == "text"
            for item in mark["items"] if item.get("text") and item.get("opacity", 1) > 0}


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
