# SPDX-License-Identifier: BSD-3-Clause
"""Holds the includes of src/ against the table of layers, and third-party headers to their place.

Also checks that base/mem.h is included last, that no two headers define a type of one name, so that
any file may include both, and that every source file starts with its SPDX line.
Usage: check_layers.py SOURCE_ROOT
"""

import pathlib
import re
import sys

LAYERS = {
    "base": set(),
    "sample": {"base"},
    "record": {"base"},
    "mark": {"base"},
    "recorder": {"base", "sample", "record", "mark"},
    "analyze": {"base", "record"},
    "import": {"base", "record"},
    "export": {"base", "record", "analyze"},
    "render": {"base", "record", "analyze"},
    "report": {"base", "record", "analyze", "render"},
    "command": {"base", "report", "render", "analyze", "import", "export", "record", "mark"},
    "jupyter": {"base", "mark"},
    "front": {"base", "mark", "analyze", "report", "command"},
    "cli": {"base", "sample", "record", "mark", "recorder", "analyze", "import", "export",
            "render", "report", "command", "jupyter", "front"},
}
FOREIGN = {  # header: where it may be included
    r"zmq\.h": r"src/jupyter/.*",
    r"jansson\.h": r"src/base/json\.c",
    r"cairo.*\.h": r"src/render/.*",
    r"ft2build\.h|freetype/.*": r"src/render/.*",
    r"sqlite3\.h": r"src/export/.*",
    r"otf2/.*": r"src/(import|export)/.*",
    r"dlfcn\.h": r"src/recorder/gpu_helper\.c",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
TYPE = re.compile(r"^(struct|union|enum) (\w+) \{", re.M)
SPDX = "SPDX-License-Identifier: BSD-3-Clause"


def faults(root: pathlib.Path):
    files = sorted(p for p in (root / "src").rglob("*") if p.suffix in (".c", ".h"))
    if not files:
        yield "no source files found: wrong folder?"
    defined = {}
    for path in files:
        name = path.relative_to(root).as_posix()
        layer = name.split("/")[1]
        text = path.read_text()
        for kind, tag in TYPE.findall(text) if path.suffix == ".h" else ():
            if tag in defined:
                yield f"{name}: {kind} {tag} is defined in {defined[tag]}, too"
            defined.setdefault(tag, name)
        if layer not in LAYERS:
            yield f"{name}: folder {layer} is in no layer"
            continue
        headers = [header for _, header in INCLUDE.findall(text)]
        if "base/mem.h" in headers[:-1] and name != "src/base/mem.c":  # its own comes first
            yield f"{name}: base/mem.h must be included last"
        for quote, header in INCLUDE.findall(text):
            if quote == '"':
                target = header.split("/")[0]
                if "/" not in header:
                    yield f'{name}: "{header}" must be included as "folder/file.h"'
                elif target != layer and target not in LAYERS[layer]:
                    yield f"{name}: {layer} must not include {header}"
                elif not (root / "src" / header).exists() and header != "tg_config.h":
                    yield f"{name}: {header} does not exist"
            for pattern, place in FOREIGN.items():
                if re.fullmatch(pattern, header) and not re.fullmatch(place, name):
                    yield f"{name}: <{header}> belongs only in {place}"
    for pattern in ("src/**/*.[ch]", "tests/**/*.[ch]", "bench/**/*.[ch]", "python/**/*.py",
                    "tests/**/*.py", "**/meson.build", "scripts/*", "bench/*.py"):
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            if name.startswith(("build", ".venv")) or not path.is_file():
                continue
            if SPDX not in "\n".join(path.read_text(errors="replace").splitlines()[:3]):
                yield f"{name}: no SPDX line at its top"


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


main()
