# SPDX-License-Identifier: BSD-3-Clause
"""`tachograph.open(FILE)`: what is in a recording, as tables.

The executable reads the file; here is no second reader. Tables are pandas DataFrames where pandas
is installed, else lists of dicts, one a row. Unknown is NaN or NaT in a DataFrame (None in a column
of texts), and None in a list; it is never 0.
"""

from __future__ import annotations

import builtins
import os
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any, BinaryIO, Union

from . import _exe, _raw

__all__ = ["Recording", "RecordingError", "open"]

_RATE_MIN_NS = 20_000_000  # clocks of processes move in ticks: no rate is taken over less
_TIMES = ("start", "time", "first_seen", "gone")  # epoch seconds

_TEXTS = ("kind", "name", "lane", "status", "attrs", "mem_peak_is", "exact", "peak_exact", "verdicts",
          "code", "comm", "args", "what", "event", "metric", "instance", "unit", "of", "help")

Rows = list[dict[str, Any]]
Table = Union[Rows, "pandas.DataFrame"]  # noqa: F821 - pandas is optional


class RecordingError(Exception):
    """There is no such file, it is no recording, or the executable is missing: one sentence."""


def open(file: str | os.PathLike[str], *, code: bool = True) -> Recording:  # noqa: A001
    """Open a recording (*.tacho), also one that is still being written: as it is at this moment.

    `code=False` leaves out the source of cells. Raises RecordingError.
    """
    return Recording(file, code=code)


class Recording:
    """A recording. Made by `open`; a table is read when it is asked for, and kept.

    machine    dict: host, cpus, memory_bytes, … as `export` has it
    spans      a row a cell, stage, run, task, … with what it cost: kind, name, status, start,
               wall_s, cpu_s, cores_mean, rss_peak_bytes, read_bytes, … (units are in the names)
    processes  a row a process: pid, comm, args, first_seen, gone, cpu_s, rss_peak_bytes,
               vms_peak_bytes, read_bytes, write_bytes, threads_max
    events     a row a mark, limit, note, …: time, what, event (a dict)
    metrics    a row a metric and instance that was sampled: metric, instance, unit, kind
               ("counter" or "gauge"), of ("job", "node", "self"), scale, help
    """

    def __init__(self, file: str | os.PathLike[str], *, code: bool = True) -> None:
        self.file = os.fspath(file)
        self._options = [] if code else ["--no-code"]
        self._tables: dict[str, Rows] = {}
        self.machine: dict[str, Any] = self._load("events,metrics")["machine"] or {}

    def __repr__(self) -> str:
        return f"<tachograph.Recording {self.file}: {len(self._tables['metrics'])} metrics>"

    @property
    def spans(self) -> Table:
        return self._named("spans")

    @property
    def processes(self) -> Table:
        return self._named("processes")

    @property
    def events(self) -> Table:
        return self._named("events")

    @property
    def metrics(self) -> Table:
        return self._named("metrics")

    def series(self, metric: str, instance: str | None = None,
               span: int | str | None = None) -> Table:
        """The samples of one metric: time, instance, value, and of counters rate.

        value is in the unit that `metrics` names. rate is the increase a second since the sample
        before; of CPU time (unit ns) it is in cores. It is unknown for the first sample, after a
        counter began anew, and for samples less than 20 ms after another, which count with the
        next. `instance` is one disk, core, GPU, …; without it all of them come, one after the
        other. `span` chooses as the command line does: 3, "2:5", "last", "name=align*",
        "kind=stage". KeyError for a metric or instance that is not there.
        """
        known = [m for m in self._tables["metrics"]
                 if m["metric"] == metric and instance in (None, m["instance"])]
        if not known:
            raise KeyError(f"no metric {metric!r}" if instance is None else
                           f"no metric {metric!r} of {instance!r}")
        with self._export(metric, "none", span) as stream:
            header = _raw.read_header(stream)
            blocks = list(_raw.read_blocks(stream, len(header["columns"])))
        wanted = [(at, column) for at, column in enumerate(header["columns"][3:], 3)
                  if instance in (None, column["instance"])]
        try:
            import pandas
        except ImportError:
            return [row for at, column in wanted for row in _series_of(column, at, blocks)]
        return pandas.concat([_series_frame(pandas, column, at, blocks) for at, column in wanted],
                             ignore_index=True)

    def chart(self, panel: str | None = None, *, span: str | int | None = None,
              smooth: float = 0) -> Chart:
        """A picture of one panel or several ("cpu,memory"; `tachograph help chart` lists them), of
        the spans that `span` selects (3, "2:5", "last", "name=align*"; None: all), with moving
        averages over `smooth` seconds. Shown by Jupyter; `.svg` and `.png` are its bytes. Raises
        RecordingError, also when there is nothing to draw.
        """
        options = ["--smooth", str(smooth)]
        if panel:
            options += ["--panel", panel]
        if span is not None:
            options += ["--span", str(span)]
        return Chart(self.file, options)

    def arrow(self, metrics: Sequence[str] | None = None) -> "pyarrow.Table":  # noqa: F821
        """All samples, or those of `metrics`, as a pyarrow.Table: the columns of Parquet files.

        ImportError where there is no pyarrow.
        """
        import pyarrow as pa

        from . import parquet

        for name in metrics or ():
            if all(m["metric"] != name for m in self._tables["metrics"]):
                raise KeyError(f"no metric {name!r}")
        with self._export(",".join(metrics) if metrics is not None else None, "none") as stream:
            return parquet.table(pa, stream)

    # ---- the executable ----

    def _export(self, metrics: str | None, tables: str,
                span: int | str | None = None) -> _Export:
        argv = ["export", "-o", "-", "--format", "raw", f"--table={tables}", *self._options]
        if metrics is not None:
            argv.append(f"--metric={metrics}")
        if span is not None:
            argv.append(f"--span={span}")
        return _Export([*argv, "--", self.file])

    def _load(self, tables: str) -> dict[str, Any]:
        """Read tables of these names, once: spans and processes of a long recording take time."""
        with self._export("none", tables) as stream:
            header = _raw.read_header(stream)
            list(_raw.read_blocks(stream, len(header["columns"])))  # up to its end
        self._tables.update((name, header[name]) for name in tables.split(","))
        return header

    def _named(self, name: str) -> Table:
        if name not in self._tables:
            self._load(name)
        return _table(self._tables[name])


def _executable() -> str:
    exe = _exe.find()
    if exe is None:
        raise RecordingError("the executable `tachograph` is not installed")
    return exe


class _Export:
    """The executable's output; who ends early has its sentence raised."""

    def __init__(self, argv: list[str]) -> None:
        self._process = subprocess.Popen([_executable(), *argv], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __enter__(self) -> BinaryIO:
        assert self._process.stdout is not None
        return self._process.stdout

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        early = isinstance(error, EOFError)
        if error is not None and not early:
            self._process.kill()  # the reader is interrupted, or at fault itself: that is raised
        _, said = self._process.communicate()
        if early or (error is None and self._process.returncode):
            lines = said.decode(errors="replace").strip().splitlines() or ["the export ended early"]
            raise RecordingError(lines[-1].removeprefix("tachograph: ")) from None


class Chart:
    """A picture: `.png` is drawn when it is made, `.svg` when it is asked for. Made by `Recording.chart`."""

    def __init__(self, file: str, options: Sequence[str]) -> None:
        self._file, self._options = file, list(options)
        self.png = self._draw("png")

    def _draw(self, kind: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "chart." + kind)
            done = subprocess.run([_executable(), "chart", *self._options, "-o", path, "--", self._file],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode:
                raise RecordingError(done.stderr.strip().removeprefix("tachograph: "))
            with builtins.open(path, "rb") as file:
                return file.read()

    @property
    def svg(self) -> bytes:
        return self._draw("svg")

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"<tachograph.Chart of {self._file}>"


def _series_of(column: dict[str, Any], at: int, blocks: list) -> Rows:
    factor = 10.0 ** column["scale"] if column["scale"] else 1
    per_second = factor * (1 if column["unit"] == "ns" else 1e9)  # differences are over ns
    counter = column["kind"] == "counter"
    rows: Rows = []
    then_ns = then = run = None
    for block in blocks:
        times, sessions = block[0][0], block[1][0]
        for i, value in enumerate(_raw.values_of(*block[at])):
            if value is None:
                continue
            row = {"time": times[i] / 1e9, "instance": column["instance"], "value": value * factor}
            if counter:
                row["rate"] = None
                if then is None or sessions[i] != run or value < then or times[i] <= then_ns:
                    then_ns, then, run = times[i], value, sessions[i]
                elif times[i] - then_ns >= _RATE_MIN_NS:
                    row["rate"] = (value - then) * per_second / (times[i] - then_ns)
                    then_ns, then = times[i], value
            rows.append(row)
    return rows


def _series_frame(pandas: Any, column: dict[str, Any], at: int, blocks: list) -> Any:
    """What _series_of has, without an object for each value."""
    import numpy

    def joined(index: int) -> Any:
        parts = [numpy.frombuffer(block[index][0], "<i8") for block in blocks]
        return numpy.concatenate([numpy.empty(0, "<i8"), *parts])

    there = numpy.concatenate([numpy.empty(0, bool), *(
        numpy.unpackbits(numpy.frombuffer(block[at][1], "u1"), bitorder="little")
        [:len(block[at][0])] == 0 for block in blocks)])
    times, value = joined(0)[there], joined(at)[there]
    frame = pandas.DataFrame({
        "time": pandas.to_datetime(times, utc=True),
        "instance": column["instance"],
        "value": value * 10.0 ** column["scale"] if column["scale"] else value})
    if column["kind"] != "counter":
        return frame
    apart, more = numpy.diff(times), numpy.diff(value)
    if len(apart) and apart.min() < _RATE_MIN_NS:  # which is to be gone through one by one
        rates = [row["rate"] for row in _series_of(column, at, blocks)]
        return frame.assign(rate=pandas.to_numeric(pandas.Series(rates, dtype=object)))
    per_second = 10.0 ** column["scale"] * (1 if column["unit"] == "ns" else 1e9)
    joint = (more >= 0) & (numpy.diff(joined(1)[there]) == 0)
    rate = numpy.full(len(times), numpy.nan)
    rate[1:][joint] = more[joint] * per_second / apart[joint]
    return frame.assign(rate=rate)


def _table(rows: Rows) -> Table:
    try:
        import pandas
    except ImportError:
        return [dict(row) for row in rows]
    frame = pandas.DataFrame(rows)
    for name in frame:
        if name in _TIMES:
            frame[name] = pandas.to_datetime(
                (pandas.to_numeric(frame[name]) * 1e9).round().astype("Int64"), utc=True)
        elif name not in _TEXTS:
            frame[name] = pandas.to_numeric(frame[name])  # None in all of it would be an object
    return frame
