# SPDX-License-Identifier: BSD-3-Clause
"""A reader of recordings written from man/tachograph.5 alone, held against the golden file.

It decodes every chunk of tests/golden/recording-*.tacho, through no code of the product, and must
print what tests/golden/recording-*.txt says; and the manual's lists of chunk types, process fields
and events must be those of src/record/format.h. Usage: check_manual.py SOURCE_ROOT
"""

import ctypes
import ctypes.util
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

MAGIC = bytes.fromhex("89544752")
MISSING = -(1 << 63)
KINDS = {"gauge": 0, "counter": 1}
SCOPES = {"job": 0, "node": 1, "self": 2}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def unzstd(frame):
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(16 << 20)
    n = lib.ZSTD_decompress(out, ctypes.c_size_t(len(out)), frame, ctypes.c_size_t(len(frame)))
    assert n <= len(out), "not a zstd frame"
    return out.raw[:n]


def wrap(v):
    return (v + (1 << 63)) % (1 << 64) - (1 << 63)


class Bytes:
    """A payload being read."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        assert self.at + n <= len(self.data), "too short"
        self.at += n
        return self.data[self.at - n:self.at]

    def uvar(self):
        v = shift = 0
        while True:
            byte = self.take(1)[0]
            v |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return v

    def svar(self):
        u = self.uvar()
        return -(u + 1) // 2 if u & 1 else u // 2

    def text(self):
        return self.take(self.uvar()).decode()


def chunks(data):
    at = 0
    while at < len(data):
        header = data[at:at + 32]
        version, kind, flags, session, length, _, crc, header_crc = struct.unpack(
            "<4xBBHIIQII", header)
        payload = data[at + 32:at + 32 + length]
        assert header[:4] == MAGIC and version == 1 and header_crc == crc32c(header[:28])
        assert crc == crc32c(payload)
        yield at, kind, flags, session, payload
        at += 32 + length


def samples(payload, flags):
    table, n, first, last = struct.unpack("<IIqq", payload[:24])
    b = Bytes(unzstd(payload[24:]) if flags & 1 else payload[24:])
    n_columns, times, step, columns = b.uvar(), [first], 0, []
    for _ in range(n - 1):
        step += b.svar()
        times.append(times[-1] + step)
    assert times[-1] == last
    classes = b.take((n_columns + 3) // 4)
    for c in range(n_columns):
        kind = classes[c // 4] >> c % 4 * 2 & 3
        if kind == 0:
            values = [b.svar()] * n
        elif kind == 2:
            values = [MISSING] * n
        else:
            bits = b.take((n + 7) // 8) if kind == 3 else b"\xff" * ((n + 7) // 8)
            values, v = [], 0
            for i in range(n):
                if bits[i // 8] >> i % 8 & 1:
                    v = wrap(v + b.svar())
                    values.append(v)
                else:
                    values.append(MISSING)
        columns.append(values)
    assert b.at == len(b.data)
    return table, [(t, [column[i] for column in columns]) for i, t in enumerate(times)]


def processes(payload, flags):
    n, t, last = struct.unpack("<Iqq", payload[:20])
    b = Bytes(unzstd(payload[20:]) if flags & 1 else payload[20:])
    times, entities, entity, values, before = [], [], 0, [], {}
    for _ in range(n):
        t += b.uvar()
        times.append(t)
    for _ in range(n):
        entity += b.svar()
        entities.append(entity)
    fields = [b.uvar() for _ in range(n)]
    for key in zip(entities, fields):
        before[key] = wrap(before.get(key, 0) + b.svar())
        values.append(before[key])
    assert times[-1] == last and b.at == len(b.data)
    return list(zip(times, entities, fields, values))


def summary(at, payload):
    previous, length, packed, crc = struct.unpack("<QIII", payload[:20])
    stored = payload[20:20 + length]
    assert crc == crc32c(payload[:16] + stored)
    b = Bytes(unzstd(stored) if packed else stored)
    entries, where, before = [], b.uvar(), 0
    for _ in range(b.uvar()):
        kind, size = b.take(1)[0], b.uvar()
        entries.append((where, kind))
        where += 32 + size
        if kind == 3:
            b.uvar()
        if kind in (3, 4):
            b.uvar()
            before += b.svar()
            b.uvar()
    assert where == at, "the index does not end here"
    session = json.loads(b.text())
    tables = {b.uvar(): json.loads(b.text()) for _ in range(b.uvar())}
    spans, sections = b.text(), []
    for _ in range(b.uvar()):
        table, n_columns, _, _, n, last, groups = *(b.uvar() for _ in range(5)), 0, []
        for _ in range(n):
            first = last + b.svar()
            last = first + b.uvar()
            groups.append((first, last, b.uvar()))
        sections.append((table, n_columns, groups))
    assert b.at == len(b.data)
    place, found = 20 + length, []
    for table, n_columns, groups in sections:
        offsets = struct.unpack_from(f"<{n_columns + 1}I", payload, place)
        place += 4 * (n_columns + 1)
        found.append((table, groups, [part(payload[x:y], groups)
                                      for x, y in zip(offsets, offsets[1:])]))
    return previous, entries, session, tables, spans, found


def part(data, groups):
    assert struct.unpack("<I", data[:4])[0] == crc32c(data[4:])
    b, stats, before = Bytes(data[5:]), [], 0
    if data[4] == 0:
        v = b.svar()
        return [(rows, v, v, v, v) for _, _, rows in groups]
    for _, _, rows in groups:
        count = rows - b.uvar() if data[4] == 2 else 0
        if not count:
            stats.append((0, MISSING, MISSING, MISSING, MISSING))
            continue
        first = wrap(before + b.svar())
        last = before = wrap(first + b.svar())
        low = wrap(min(first, last) - b.uvar())
        stats.append((count, low, wrap(max(first, last) + b.uvar()), first, last))
    assert b.at == len(b.data)
    return stats


def values(row):
    return "".join(" -" if v == MISSING else f" {v}" for v in row)


def text_of(data):
    sessions, tables, rows, groups, cells, events = [], {}, {}, {}, [], []
    all_chunks, last_summary, ended = list(chunks(data)), (1 << 64) - 1, 0
    for at, kind, flags, session, payload in all_chunks:
        plain = unzstd(payload) if flags & 1 and kind in (1, 2, 5) else payload
        ended = int(kind == 7)
        if kind == 1:
            sessions.append((session, plain.decode()))
        elif kind == 2:
            t = json.loads(plain)
            tables[t["table"]] = (session, t)
        elif kind == 3:
            table, some = samples(payload, flags)
            rows.setdefault(table, []).extend(some)
        elif kind == 4:
            cells += processes(payload, flags)
        elif kind == 5:
            events += [(session, line) for line in plain.decode().splitlines()]
        elif kind == 6:
            previous, entries, restated, definitions, _, found = summary(at, payload)
            assert previous == last_summary
            last_summary = at
            kinds = {a: k for a, k, *_ in all_chunks}
            assert all(kinds[a] == k for a, k in entries)
            assert restated == json.loads(dict(sessions)[session])
            assert all(tables[n][1] == t for n, t in definitions.items())
            for table, spans, columns in found:
                for c, stats in enumerate(columns):
                    groups.setdefault((table, c), []).extend(zip(spans, stats))
        elif kind == 7:
            assert struct.unpack("<QI4s", payload[-16:]) == (last_summary, 32 + len(payload), MAGIC)
            assert json.loads(payload[:-16])["session"] == session
    out = [f"session {n} {text}" for n, text in sessions]
    out += [f"cell {t} {entity} {field}{values([v])}" for t, entity, field, v in cells]
    out += [f"event {n} {line}" for n, line in events]
    for number, (session, t) in tables.items():
        its = rows[number]
        out.append(f"table {number} of session {session}: {t['name']}, {len(its)} rows, "
                   f"{its[0][0]} to {its[-1][0]}")
        for metric, instance in t["columns"]:
            m = t["metrics"][metric]
            out.append(f"column {m['name']} {m['unit']}[{instance}] kind {KINDS[m['kind']]} scope "
                       f"{SCOPES[m['scope']]} scale {m['scale']}: {m['help']}")
        out += [f"row {when}{values(row)}" for when, row in its]
        for c in range(len(t["columns"])):
            known = groups.get((number, c), [])
            out += [f"group {first} {last} {n} {stats[0]}{values(stats[1:])}"
                    for (first, last, n), stats in known]
            end = known[-1][0][1] if known else its[0][0] - 1
            out += rest(its, c, end)
    out.append(f"{len(all_chunks)} chunks, 0 holes, 0 lost, ended {ended}")
    return "\n".join(out) + "\n"


def rest(rows, column, end):
    """What no summary covers is a group a chunk; the golden file's chunks have two rows."""
    left = [(t, row[column]) for t, row in rows if t > end]
    for i in range(0, len(left), 2):
        some = left[i:i + 2]
        there = [v for _, v in some if v != MISSING]
        stats = [min(there), max(there), there[0], there[-1]] if there else [MISSING] * 4
        yield f"group {some[0][0]} {some[-1][0]} {len(some)} {len(there)}{values(stats)}"


def check_lists(root):
    header = (root / "src/record/format.h").read_text()
    manual = (root / "man/tachograph.5").read_text()
    types = re.findall(r"TG_CHUNK_([A-Z]+) = (\d+),", header)
    assert len(types) == 7 and types == [
        (name, n) for n, name in re.findall(r"^\.It (\d) Ta ([A-Z]+) Ta", manual, re.M)], types
    fields = re.findall(r"TG_PROCESS_([A-Z_]+),", header)
    listed = re.findall(r"^\.It (\d) Ta ([a-z_]+) Ta", manual, re.M)
    assert listed == [(str(i), f.lower()) for i, f in enumerate(fields)], listed
    events = re.findall(r"^ \*  ([a-z_]+) {2,}", header, re.M)
    described = re.findall(r"^\.It Sy ([a-z_]+)$", manual, re.M)
    assert events == described, (events, described)
    written = set()
    for path in (root / "src").rglob("*.c"):
        text = path.read_text()
        written |= set(re.findall(r'tg_events_open\([^"{;]*"([a-z_]+)"', text))
        written |= set(re.findall(r'"ev", "([a-z_]+)"', text))
    assert written <= set(events), written - set(events)


def check_notebook_page(root):
    """tachograph.7 names each magic, each word of a notebook and each setting that the code knows."""
    page = (root / "man/tachograph.7").read_text()
    magics = re.findall(r'\[TG_NAME_\w+\] = \{?\s*(?:\.name = )?"(\w+)"',
                        (root / "src/mark/magics.c").read_text() + (root / "src/mark/words.c").read_text())
    words = re.findall(r'\.name = "([a-z]+)",', (root / "src/mark/words.c").read_text())
    setting_c = (root / "src/mark/setting.c").read_text()
    settings = re.findall(r'\.name = "([\w-]+)"', setting_c)
    variables = re.findall(r'"((?:TACHOGRAPH|JUMPER)_\w+)"', setting_c)
    assert len(set(magics)) == 8 and len(words) >= 8 and len(settings) == 6 and len(variables) >= 9
    items = re.findall(r"^\.It (?:Ic|Cm) %*([\w-]+)", page, re.M)
    for name in [*magics, *words, *settings]:
        assert name in items, f"tachograph.7 does not explain {name}"
    examples = re.findall(r"^\.Dl %+(\S+)(?: (\w+))?", page, re.M)
    for magic in set(magics) - {"tacho"}:
        assert magic in [e[0] for e in examples], f"tachograph.7 has no example of {magic}"
    for word in words:
        if word not in magics:
            assert ("tacho", word) in examples, f"tachograph.7 has no example of {word}"
    for variable in variables:
        assert re.search(rf"\b{variable}\b", page), f"tachograph.7 does not name {variable}"
    # defaults and bounds are those of the table
    for name, text in re.findall(r'\.name = "([\w-]+)"(.*?)\n\t\},', setting_c, re.S):
        item = re.search(rf"^\.It Cm {name}$(.*?)(?=^\.It|^\.El)", page, re.M | re.S)[1]
        otherwise = re.search(r'\.otherwise = "([\w.]+)"', text)[1]
        assert re.search(rf"else\s+(\.Cm )?{re.escape(otherwise)}\b", item), (name, otherwise)


def check_form(root):
    """mandoc has nothing to say but that pages which are not installed are not installed."""
    if not shutil.which("mandoc"):
        return
    for path in sorted((root / "man").glob("tachograph*.[0-9]")):
        said = subprocess.run(["mandoc", "-Tlint", path], capture_output=True, text=True).stdout
        said = [line for line in said.splitlines() if "referenced manual not found" not in line]
        assert not said, "\n".join(said)


def main():
    root = pathlib.Path(sys.argv[1])
    check_lists(root)
    check_notebook_page(root)
    check_form(root)
    golden = sorted((root / "tests/golden").glob("recording-*.tacho"))
    assert golden
    for path in golden:
        want = path.with_suffix(".txt").read_text().splitlines()
        got = text_of(path.read_bytes()).splitlines()
        for n, (x, y) in enumerate(zip(got, want), 1):
            assert x == y, f"{path.name}, line {n}:\n  manual {x}\n  golden {y}"
        assert len(got) == len(want), (len(got), len(want))


main()
