# SPDX-License-Identifier: BSD-3-Clause
"""`main` makes a Parquet file, the argument, of raw on descriptor 3, by pyarrow.

The executable starts it for `export -o x.parquet`. One row a sample: time (timestamp in ns, UTC),
session, cell, then a column for each metric and instance, named as in CSV: name:instance[unit].
Integers stay integers; those with a scale become doubles. Unknown is null. What is no sample
(machine, spans, processes, events, metrics) is JSON in the file's metadata, key "tachograph".
"""

from __future__ import annotations

import errno
import json
import os
import sys

from . import _raw

NO_PYARROW, NO_ROOM, NO_FILE = 3, 4, 6  # what src/command/parquet.c makes a sentence of


def _name(column: dict) -> str:
    instance = f":{column['instance']}" if column["instance"] else ""
    return f"{column['metric']}{instance}[{column['unit']}]"


def _schema(pa, header):
    columns = header.pop("columns")
    kinds = [pa.timestamp("ns", tz="UTC"), pa.int64(), pa.int64()]
    kinds += [pa.float64() if c["scale"] else pa.int64() for c in columns[3:]]
    names = ["time", "session", "cell", *map(_name, columns[3:])]
    return columns, pa.schema(list(zip(names, kinds)), metadata={"tachograph": json.dumps(header)})


def _batches(pa, stream, columns, schema):
    for block in _raw.read_blocks(stream, len(columns)):
        yield pa.record_batch([_array(pa, kind, column, *data)
                               for kind, column, data in zip(schema.types, columns, block)],
                              schema=schema)


def table(pa, stream):
    """What a stream of raw holds, as a pyarrow.Table."""
    columns, schema = _schema(pa, _raw.read_header(stream))
    return pa.Table.from_batches(_batches(pa, stream, columns, schema), schema)


def main() -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return NO_PYARROW
    with os.fdopen(3, "rb") as stream:
        try:
            columns, schema = _schema(pa, _raw.read_header(stream))
            with pq.ParquetWriter(sys.argv[1], schema, compression="zstd") as writer:
                for batch in _batches(pa, stream, columns, schema):
                    writer.write_batch(batch)
        except EOFError:
            return 0  # who has started us knows why
        except OSError as error:
            return NO_ROOM if error.errno in (errno.ENOSPC, errno.EDQUOT) else NO_FILE
    return 0


def _array(pa, kind, column, values, missing):
    """Without a Python object for each value: bits of what is there are Arrow's own form."""
    there = bytes(~byte & 255 for byte in missing)
    whole = pa.Array.from_buffers(pa.int64(), len(values),
                                  [pa.py_buffer(there), pa.py_buffer(values)])
    if column["scale"]:
        import pyarrow.compute as pc

        return pc.multiply(pc.cast(whole, pa.float64(), safe=False), 10.0 ** column["scale"])
    return whole.cast(kind)
