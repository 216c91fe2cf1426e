# SPDX-License-Identifier: BSD-3-Clause
"""Checks the texts: links, JSON, versions and the citation agree, and no call is forbidden.

Usage: check_documents.py SOURCE_ROOT VERSION. It asks no network: only links within the project.
"""

import json
import pathlib
import re
import sys
from collections.abc import Iterator

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s[^)]*)?\)")
FORBIDDEN = re.compile(  # those of base/banned.h too: a file might not include it
    r"(?<![\w.>])(strcpy|strcat|sprintf|vsprintf|gets|strtok|ato[ilf]|alloca|gmtime|localtime|ctime|"
    r"asctime|tmpnam|mktemp|system|popen)\s*\(")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)


def tracked(root: pathlib.Path, *patterns: str) -> Iterator[pathlib.Path]:
    for pattern in patterns:
        for path in sorted(root.rglob(pattern)):
            top = path.relative_to(root).parts[0]
            if not top.startswith(("build", ".venv", ".git", "demo-out", "dist")) and path.is_file():
                yield path


def anchors(path: pathlib.Path) -> set[str]:
    """The anchors that a Markdown file's headings make."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in re.findall(r"^#+\s+(.*)$", text, flags=re.M)}


def citation(root: pathlib.Path) -> Iterator[str]:
    """What CITATION.cff says of the project, and that it cites what the README credits."""
    text, readme = (root / "CITATION.cff").read_text(), (root / "README.md").read_text()
    head, _, references = text.partition("\nreferences:\n")
    for want in ("cff-version: 1.2.0", 'title: "tachograph: .+"', "message: .+", "type: software",
                 "license: BSD-3-Clause", r"authors:\n  - name: The tachograph developers\n(?!  )"):
        if not re.search(f"^{want}", head, flags=re.M):
            yield f"CITATION.cff: no {want}"
    works = re.split(r"^  - ", references, flags=re.M)[1:]
    for work in works:
        for key in ("type", "title", "authors"):
            if not re.search(rf"^(    )?{key}:", work, flags=re.M):
                yield f"CITATION.cff: a work without {key}: {work.splitlines()[0]}"
        title = re.search(r'^    title: "?(.*?)"?$', work, flags=re.M)
        if title and "doi:" not in work and title[1] not in readme:
            yield f"CITATION.cff: {title[1]} is not in README.md"
    cited = sorted(re.findall(r"^    doi: (\S+)$", references, flags=re.M))
    credited = sorted(set(re.findall(r"https://doi\.org/([^\s)]+)", readme)))
    if cited != credited or not cited:
        yield f"CITATION.cff: DOIs {cited}, in README.md {credited}"


def faults(root: pathlib.Path, version: str) -> Iterator[str]:
    for path in tracked(root, "*.md"):
        name = path.relative_to(root)
        for target in LINK.findall(re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(), flags=re.S)):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            place = (path.parent / file) if file else path
            if not place.exists():
                yield f"{name}: link to {target}, which does not exist"
            elif anchor and place.suffix == ".md" and anchor not in anchors(place):
                yield f"{name}: {target}: no such heading"
    for path in tracked(root, "*.json", "*.ipynb"):
        if "corpus" in path.parts:
            continue  # inputs for fuzzing: broken on purpose
        try:
            json.loads(path.read_text())
        except ValueError as error:
            yield f"{path.relative_to(root)}: {error}"
    for path in tracked(root, "src/**/*.[ch]"):
        code = COMMENT.sub(" ", path.read_text())
        for call in FORBIDDEN.findall(code):
            yield f"{path.relative_to(root)}: calls {call}"
    for file, pattern in (("python/tachograph/__init__.py", r'^__version__ = "(.*)"'),
                          ("CITATION.cff", r"^version: (.*)$"),
                          ("CHANGES.md", r"^## (\S+)")):
        found = re.search(pattern, (root / file).read_text(), flags=re.M)
        if not found or found[1] != version:
            yield f"{file}: version is {found and found[1]}, not {version}"


def main() -> None:
    found = list(citation(pathlib.Path(sys.argv[1])))
    found += list(faults(pathlib.Path(sys.argv[1]), sys.argv[2]))
    print(*found, sep="\n")
    sys.exit(1 if found else 0)


main()
