# SPDX-License-Identifier: BSD-3-Clause
"""Reads what `tachograph export --format raw` writes: a line of JSON, then blocks of int64.

A block is its number of rows (int64; 0 is the end), then for each column so many int64 and a bit
for each that is missing, lowest bit first. All is little-endian.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Iterator
from typing import Any, BinaryIO


def _exactly(stream: BinaryIO, n: int) -> bytes:
    data = stream.read(n)
    if len(data) != n:
        raise EOFError("the export ended early")
    return data


def read_header(stream: BinaryIO) -> dict[str, Any]:
    """The JSON object in front; EOFError when there is none."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError("the export ended early")
    header: dict[str, Any] = json.loads(line)
    if header.get("raw") != 1:
        raise EOFError("this is not what this version reads")
    return header


def read_blocks(stream: BinaryIO, n_columns: int) -> Iterator[list[tuple[array[int], bytes]]]:
    """Each block as one (values, bits of the missing) a column."""
    while True:
        (rows,) = struct.unpack("<q", _exactly(stream, 8))
        if rows == 0:
            return
        block = []
        for _ in range(n_columns):
            values = array("q")
            values.frombytes(_exactly(stream, 8 * rows))
            if sys.byteorder == "big":
                values.byteswap()
            block.append((values, _exactly(stream, (rows + 7) // 8)))
        yield block


def values_of(values: array[int], missing: bytes) -> list[int | None]:
    """The same as a list, with None for what is missing."""
    if not any(missing):
        return values.tolist()
    return [None if missing[i >> 3] >> (i & 7) & 1 else v for i, v in enumerate(values)]
