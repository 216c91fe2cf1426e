# SPDX-License-Identifier: BSD-3-Clause
"""Each row of docs/accuracy.md names tests that are there, and whose comments name its numbers.

Usage: check_accuracy.py ROOT
"""

import pathlib
import re
import sys

NUMBER = re.compile(r"R?\d+")
TEST = re.compile(r"`(test_\w+\.(?:c|py)): (test_\w+)`")


def find(tests, name):
    return next((p for p in (tests / "unit" / name, tests / "e2e" / name, tests / name) if p.exists()), None)


def comment_of(text, function, python):
    """What is said of the function: the comment above it, or its docstring. None: it is not there."""
    if python:
        m = re.search(rf'^def {function}\([^\n]*\n( +"""(?:.|\n)*?""")?', text, re.M)
        return m and (m[1] or "")
    m = re.search(rf"(/\*(?:(?!\*/)(?:.|\n))*\*/\n)?static (?:void|bool) \*?{function}\(", text)
    return m and (m[1] or "")


def numbers_in(comment):
    """ "pitfalls 14 and 15, report 13: …" has 14, 15 and R13. """
    found = set()
    for kind, numbers in re.findall(r"\b(pitfall|report)s? (\d+(?:(?:, | and )\d+)*)", comment.lower()):
        found |= {("R" if kind == "report" else "") + n for n in re.findall(r"\d+", numbers)}
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    wrong = []
    rows = 0
    for line in (root / "docs/accuracy.md").read_text(encoding="utf-8").splitlines():
        cell = [c.strip() for c in line.strip("|").split("|")]
        if len(cell) != 4 or not NUMBER.match(cell[0]):
            continue
        rows += 1
        missing = set(NUMBER.findall(cell[0]))
        tests = TEST.findall(cell[3])
        for name, function in tests:
            path = find(root / "tests", name)
            said = path and comment_of(path.read_text(encoding="utf-8"), function, name.endswith(".py"))
            if said is None:
                wrong.append(f"{cell[0]}: there is no {name}: {function}")
            elif not numbers_in(said) & set(NUMBER.findall(cell[0])):
                wrong.append(f"{cell[0]}: the comment of {name}: {function} names none of its numbers")
            else:
                missing -= numbers_in(said)
        if missing:
            wrong.append(f"{cell[0]}: no test names {', '.join(sorted(missing))}")
    if not rows:
        wrong.append("docs/accuracy.md has no table")
    if wrong:
        sys.exit("\n".join(wrong))


main()
