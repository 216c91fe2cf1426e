#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the tests of scripts/test: tally.py RESULTS PART…

A part leaves NAME.status, its exit status, and NAME.xml in JUnit's form where it has tests of its
own; a part without them, such as a linter, counts as one test. Prints each skip's reason, each
failure's name, and last the line `N passed, N failed, N skipped`.
"""

import pathlib
import sys
import xml.etree.ElementTree as xml


def cases(report: pathlib.Path):
    if report.exists():
        for suite in xml.parse(report).iter("testsuite"):
            for case in suite.iter("testcase"):
                yield suite, case


def count(folder: pathlib.Path, part: str) -> tuple[int, int, int]:
    status = folder / f"{part}.status"
    ok = status.exists() and status.read_text().strip() == "0"
    passed = failed = skipped = 0
    report = folder / f"{part}.xml"
    for suite, case in cases(report):
        name = f"{case.get('classname') or suite.get('name')} {case.get('name')}"
        skip = case.find("skipped")
        if skip is not None:
            skipped += 1
            # pytest has the reason as an attribute, meson as the output of the test
            reason = skip.get("message") or case.findtext("system-out") or "no reason given"
            print(f"skipped: {part}: {name}: {reason.strip()}")
        elif case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            print(f"failed: {part}: {name}")
        else:
            passed += 1
    if not ok and not failed:  # it broke before or beside its tests
        failed = 1
        print(f"failed: {part}")
    elif not report.exists():
        passed = 1
    return passed, failed, skipped


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    passed, failed, skipped = map(sum, zip(*(count(folder, part) for part in sys.argv[2:])))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or not passed else 0)


main()
