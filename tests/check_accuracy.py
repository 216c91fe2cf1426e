# SPDX-License-Identifier: BSD-3-Clause
"""docs/accuracy.md has each number once and in order, with tests that are there and whose comments name it.

Usage: check_accuracy.py ROOT
"""

import pathlib
import re
import sys

NUMBERS = [str(n) for n in range(1, 38)] + [f"R{n}" for n in range(1, 33)]
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
    heads, found, still_open = [], [], []
    for line in (root / "docs/accuracy.md").read_text(encoding="utf-8").splitlines():
        cell = [c.strip() for c in line.strip("|").split("|")]
        if len(cell) != 4 or not NUMBER.match(cell[0]):
            continue
        of_row = NUMBER.findall(cell[0])
        heads.append(of_row[0])
        found += of_row
        if cell[3] == "open":
            still_open += of_row
            continue
        missing = set(of_row)
        tests = TEST.findall(cell[3])
        for name, function in tests:
            path = find(root / "tests", name)
            said = path and comment_of(path.read_text(encoding="utf-8"), function, name.endswith(".py"))
            if said is None:
                wrong.append(f"{cell[0]}: there is no {name}: {function}")
            elif not numbers_in(said) & set(of_row):
                wrong.append(f"{cell[0]}: the comment of {name}: {function} names none of its numbers")
            else:
                missing -= numbers_in(said)
        if missing:
            wrong.append(f"{cell[0]}: no test names {', '.join(sorted(missing))}")
    for number in NUMBERS:
        if found.count(number) != 1:
            wrong.append(f"{number} is in {found.count(number)} rows")
    if heads != sorted(heads, key=lambda n: NUMBERS.index(n) if n in NUMBERS else -1):
        wrong.append("rows are not in the order of their first numbers")
    if set(found) - set(NUMBERS):
        wrong.append(f"unknown: {', '.join(sorted(set(found) - set(NUMBERS)))}")
    print(f"{len(still_open)} of {len(NUMBERS)} without a test: {', '.join(still_open)}")
    if wrong:
        sys.exit("\n".join(wrong))


main()
