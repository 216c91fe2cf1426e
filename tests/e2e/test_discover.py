# SPDX-License-Identifier: BSD-3-Clause
"""Completion offers our magics beside what the kernel offers, and inspection explains them."""

import json
import sys

import pytest

from proxied import LONG, Kernel


@pytest.fixture(scope="module", params=["ipython", "bash"])
def kernel(request, place, exe):
    inner = "plain"
    if request.param == "bash":
        inner = "discover-bash"
        folder = place / "data" / "kernels" / inner
        folder.mkdir()
        folder.joinpath("kernel.json").write_text(json.dumps({
            "argv": ["python", "-m", "bash_kernel", "-f", "{connection_file}"], "display_name": inner,
            "language": "bash", "env": {"PS1": "$"}}))
    folder = place / "data" / "kernels" / ("discover-in-" + request.param)
    folder.mkdir()
    folder.joinpath("kernel.json").write_text(json.dumps({
        "argv": [exe, "kernel", "-f", "{connection_file}", "--python", sys.executable, "--kernel", inner],
        "display_name": "", "language": request.param}))
    kernel = Kernel(folder.name)
    kernel.is_python = request.param == "ipython"
    yield kernel
    kernel.stop()


def complete(kernel, code, at=None):
    return kernel.client.complete(code, at, reply=True, timeout=LONG)["content"]


def inspect(kernel, code, at, level=0):
    return kernel.client.inspect(code, at, level, reply=True, timeout=LONG)["content"]


@pytest.mark.parametrize("code, start, match", [
    ("%t", 0, "%tacho"), ("%ta", 0, "%tacho"), ("%t", 0, "%%tacho"), ("%", 0, "%tacho"),
    ("%tacho sh", 7, "show"), ("%tacho chart --pa", 13, "--panel"), ("%%dis", 0, "%%display_graph_for_last"),
    ("%%perf", 0, "%%perfdata_to_json"), ("%dis", 0, "%display_graph_for_all"), ("%tacho set in", 11, "interval="),
    ("\n\n  %ta", 4, "%tacho"), ("# note \U0001f600\n%ta", 9, "%tacho"),
    ("%tacho show\n%tacho chart --panel cpu,mem", 37, "memory"), ("?%tac", 1, "%tacho")])
def test_offered(kernel, code, start, match):
    content = complete(kernel, code)
    assert content["status"] == "ok" and match in content["matches"]
    assert (content["cursor_start"], content["cursor_end"]) == (start, len(code))
    if kernel.is_python:
        types = content["metadata"]["_jupyter_types_experimental"]
        assert [t["text"] for t in types] == content["matches"]
        assert all((t["start"], t["end"]) == (start, len(code)) for t in types)


def test_its_own_stay(kernel):
    """What the kernel offers alone comes first, and what is not ours is as it was."""
    if kernel.is_python:
        matches = complete(kernel, "%t")["matches"]
        assert matches[:2] == ["%tb", "%time"] and matches[-2:] == ["%tacho", "%%tacho"]
        assert complete(kernel, "impo")["matches"][0] == "import"
        assert "%tacho" not in complete(kernel, "x = 1\n%ta")["matches"]
    else:
        assert "echo" in complete(kernel, "ech")["matches"]
    assert complete(kernel, "%zzz")["matches"] == []


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("code, at, says", [
    ("%tacho", 3, "%tacho help WORD"), ("%tacho", 6, "%tacho show --span last"),
    ("%tacho show", 9, "%tacho show [F"), ("%%display_graph_for_last", 0, "A chart of the last"),
    ("\n%%perfdata_to_variable x", 24, "in a variable"), ("%tacho set report=line", 15, "%tacho set [")])
def test_explained(kernel, code, at, says, level):
    content = inspect(kernel, code, at, level)
    assert content["status"] == "ok" and content["found"] and says in content["data"]["text/plain"]


def test_the_same_help(kernel):
    """Inspection says what `help` says, and a question about a magic is answered with it."""
    assert inspect(kernel, "%tacho", 6)["data"]["text/plain"] == kernel.run("%tacho help").text
    for code in ("%tacho show", "%%display_graph_for_last"):
        said = inspect(kernel, code, len(code))["data"]["text/plain"]
        assert said == kernel.run(code + "?").text == kernel.run("?" + code).text
    assert kernel.run("%tacho help show").text == kernel.run("%tacho show??").text
    assert "did you mean" in kernel.run("%tacho shwo").stderr


def test_words_are_offered(kernel):
    """The words of `%tacho help` are the ones that completion offers."""
    words = [line.split()[0] for line in kernel.run("%tacho help").text.splitlines()
             if line.startswith("  ") and not line.startswith("   ")]
    assert complete(kernel, "%tacho ")["matches"] == words
    assert complete(kernel, "%tacho help ")["matches"] == words
