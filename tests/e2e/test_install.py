# SPDX-License-Identifier: BSD-3-Clause
"""The installed wheel: two names, the kernelspec, `install` and `uninstall` and their refusals."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import sysconfig

import pytest

SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))


def run(*argv, env=None, **how):
    return subprocess.run([arg if isinstance(arg, bytes) else str(arg) for arg in argv],
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(env or {})}, **how)


def install(*args, **env):
    return run(sys.executable, "-m", "tachograph.install", *args, env=env)


@pytest.fixture
def kernels(tmp_path):
    """A Jupyter data folder with one kernel, `calm`, that asks for this and that."""
    folder = tmp_path / "data" / "kernels"
    (folder / "calm").mkdir(parents=True)
    (folder / "calm" / "kernel.json").write_text(json.dumps({
        "argv": ["python", "-m", "calm", "-f", "{connection_file}"], "display_name": "Calm",
        "language": "calm", "interrupt_mode": "message",
        "env": {"CALM": "1:${PATH}", "TACHOGRAPH_CODE": "0"},
        "metadata": {"debugger": True, "supported_encryption": "curve"}}))
    (folder / "calm" / "logo-64x64.png").write_bytes(b"calm")
    return folder


@pytest.fixture
def place(kernels):
    """Environment in which `--user` means the folder of `kernels`."""
    return {"JUPYTER_DATA_DIR": str(kernels.parent)}


def spec_of(folder):
    return json.loads((folder / "kernel.json").read_text())


def test_names_and_module_are_one_program():
    shown = [run(*argv, "--version") for argv in (
        [SCRIPTS / "tachograph"], [SCRIPTS / "tacho"], [sys.executable, "-m", "tachograph"])]
    assert [r.returncode for r in shown] == [0, 0, 0]
    assert len({r.stdout for r in shown}) == 1 and shown[0].stdout.startswith("tachograph ")


def test_short_name_without_the_long_one(tmp_path):
    alone = tmp_path / "tacho"
    alone.write_bytes((SCRIPTS / "tacho").read_bytes())
    alone.chmod(0o755)
    result = run(alone, "--version")
    assert result.returncode == 127
    assert result.stderr == f"tacho: cannot start {tmp_path}/tachograph: No such file or directory\n"


@pytest.mark.parametrize("said", [["--nmae", "x"], ["--nmae=x"]])
def test_unknown_option_is_told_the_nearest(said):
    result = install("install", *said)
    assert result.returncode == 2
    assert result.stderr == (
        "tachograph install: There is no option --nmae; did you mean --name?\n")
    assert "did you mean" not in install("install", "--zzz").stderr


def test_wheel_brings_the_kernelspec():
    from jupyter_client.kernelspec import KernelSpecManager

    spec = KernelSpecManager(ensure_native_kernel=False).get_kernel_spec("tachograph")
    assert spec.resource_dir == str(pathlib.Path(sys.prefix) / "share/jupyter/kernels/tachograph")
    assert (pathlib.Path(spec.resource_dir) / "logo-64x64.png").read_bytes()[:4] == b"\x89PNG"


def test_install_refers_to_the_inner_kernel(kernels, place):
    result = install("--kernel", "calm", "--user", "--name", "recorded", **place)
    assert (result.returncode, result.stderr) == (0, "")
    assert spec_of(kernels / "recorded") == {
        "argv": [str(SCRIPTS / "tachograph"), "kernel", "-f", "{connection_file}",
                 "--spec", str(kernels / "calm"), "--python", sys.executable, "--"],
        "display_name": "tachograph (Calm)", "language": "calm", "interrupt_mode": "message",
        "env": {"TACHOGRAPH_CODE": "0"},
        "metadata": {"debugger": True, "supported_encryption": "curve"}}
    assert (kernels / "recorded" / "logo-64x64.png").read_bytes()[:4] == b"\x89PNG"
    before = spec_of(kernels / "recorded")
    assert install("--kernel", "calm", "--user", "--name", "recorded", **place).returncode == 0
    assert spec_of(kernels / "recorded") == before


def test_install_python3_by_default(tmp_path):
    result = install("--prefix", tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    spec = spec_of(tmp_path / "share/jupyter/kernels/tachograph")
    inner = pathlib.Path(spec["argv"][spec["argv"].index("--spec") + 1])
    assert "ipykernel" in " ".join(spec_of(inner)["argv"])
    assert (spec["language"], spec["metadata"]["debugger"]) == ("python", True)
    assert spec["display_name"] == "tachograph (Python 3)"


@pytest.mark.parametrize("argv", [
    [SCRIPTS / "tachograph", "install"], [SCRIPTS / "tacho", "install"],
    [sys.executable, "-m", "tachograph", "install"], [sys.executable, "-m", "tachograph.install"]])
def test_every_way_to_say_install(kernels, place, argv):
    result = run(*argv, "--kernel", "calm", "--user", env=place)
    assert (result.returncode, result.stderr) == (0, "")
    assert "--spec" in spec_of(kernels / "tachograph-calm")["argv"]


def test_in_place_and_back(kernels, place):
    original = spec_of(kernels / "calm")
    for _ in range(2):  # the second time must find the kernel behind itself
        result = install("--kernel", "calm", "--user", "--in-place", **place)
        assert (result.returncode, result.stderr) == (0, "")
        spec = spec_of(kernels / "calm")
        assert spec["argv"][-3:] == ["--report", "none", "--"]
        assert spec["display_name"] == "Calm"
        inner = pathlib.Path(spec["argv"][spec["argv"].index("--spec") + 1])
        assert spec_of(inner)["argv"] == original["argv"]
    result = install("uninstall", "--name", "calm", "--user", **place)
    assert (result.returncode, result.stderr) == (0, "")
    assert spec_of(kernels / "calm") == original
    assert sorted(p.name for p in kernels.iterdir()) == ["calm"]


def test_uninstall(kernels, place):
    """By name; where there is none of that name, which there are."""
    assert install("--kernel", "calm", "--user", **place).returncode == 0
    result = install("uninstall", "--user", **place)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (f"tachograph uninstall: there is no kernel tachograph in {kernels}; "
                             "recorded kernels there: tachograph-calm\n")
    result = install("uninstall", "--user", "--name", "tachograph-calm", **place)
    assert (result.returncode, result.stderr) == (0, "")
    assert sorted(p.name for p in kernels.iterdir()) == ["calm"]


def test_each_kernel_has_a_name_of_its_own(kernels, place):
    """None takes the place of another unasked; one that does says of which."""
    for args in ([], ["--kernel", "calm"], ["--kernel", "tachograph-calm"]):
        result = install("--user", *args, **place)
        assert (result.returncode, result.stderr) == (0, "")
        assert "replaces" not in result.stdout
    assert sorted(p.name for p in kernels.iterdir()) == ["calm", "tachograph", "tachograph-calm"]
    assert spec_of(kernels / "tachograph")["display_name"] == "tachograph (Python 3)"
    again = install("--user", "--kernel", "calm", "--name", "tachograph", **place)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.endswith("records calm; it replaces tachograph (Python 3)\n")


@pytest.mark.parametrize("args, status, sentence", [
    (["--kernel", "absent"], 1, "there is no kernel absent, but: "),
    (["--kernel", "calm", "--name", "a b"], 2, "a b is no name for a kernel: use letters, "
     "digits, dots, dashes and underscores"),
    (["--kernel", "calm", "--name", ".."], 2, ".. is no name for a kernel"),
    (["--kernel", "calm", "--name", "a/b"], 2, "a/b is no name for a kernel"),
    (["--kernel", "..", "--in-place"], 2, ".. is no name for a kernel"),
    (["--kernel", "calm", "--name", "calm"], 1, "calm is not of tachograph and stays"),
    (["uninstall", "--name", ".."], 2, ".. is no name for a kernel"),
    (["uninstall", "--name", "../kernels"], 2, "../kernels is no name for a kernel"),
    (["--kernel", "calm", "--in-place", "--name", "x"], 2, "leave --name out"),
    (["--kernl", "calm"], 2, "There is no option --kernl; did you mean --kernel?"),
    (["uninstall", "bogus"], 2, "unrecognized arguments: bogus"),
    (["--prefix", "/proc/nowhere", "--kernel", "calm"], 1, "/proc/nowhere"),
    (["uninstall", "--name", "calm"], 1, "is not a kernel of tachograph: it stays"),
    (["uninstall", "--name", "absent"], 1, "recorded kernels there: none"),
])
def test_refusals_are_one_sentence(kernels, place, args, status, sentence):
    scope = [] if "--prefix" in args else ["--user"]
    result = install(*args, *scope, **place)
    assert result.returncode == status
    assert sentence in result.stderr and result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert spec_of(kernels / "calm")["display_name"] == "Calm"


@pytest.mark.parametrize("word", ["install", "uninstall"])
@pytest.mark.parametrize("option", ["--prefix", "--name", "--kernel"])
def test_an_empty_value_is_none(kernels, place, word, option):
    if (word, option) == ("uninstall", "--kernel"):
        return
    for said in ([option, ""], [option + "="]):
        result = install(word, *said, **place)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr == f"tachograph {word}: {option} needs a value\n"
    assert [p.name for p in kernels.iterdir()] == ["calm"]


def test_a_failure_leaves_nothing(tmp_path):
    """What is not UTF-8, and a full disk: neither a folder nor the folders above it."""
    prefix = tmp_path / "new" / "prefix"
    result = install("--prefix", prefix, "--name", "dn", "--display-name", b"\xff")
    assert (result.returncode, result.stdout) == (1, "")
    assert "UTF-8" in result.stderr and result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []

    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    command = [sys.executable, "-B", "-m", "tachograph.install", "--prefix", prefix]
    result = run(*command, preexec_fn=fill)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == ("tachograph install: cannot install into "
                             f"{prefix}/share/jupyter/kernels/tachograph: File too large\n")
    assert list(tmp_path.iterdir()) == []

    assert run(*command).returncode == 0
    before = {p: p.read_bytes() for p in prefix.rglob("*") if p.is_file()}
    assert run(*command, "--display-name", "Other", preexec_fn=fill).returncode == 1
    assert {p: p.read_bytes() for p in prefix.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("broken", ["fifo", "{", "[]", '{"argv": 1}', "[" * 100000])
def test_a_kernelspec_that_cannot_be_read(kernels, place, broken):
    """Neither installed over nor removed, and it is said why; a FIFO does not hang."""
    (kernels / "bad").mkdir()
    path = kernels / "bad" / "kernel.json"
    if broken == "fifo":
        os.mkfifo(path)
    else:
        path.write_text(broken)
    why = "not a regular file" if broken == "fifo" else "it is no kernelspec"
    for word, *more in (["install", "--kernel", "calm"], ["uninstall"]):
        result = install(word, "--user", "--name", "bad", *more, **place)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == (f"tachograph {word}: {path} cannot be read ({why}): mend it, or "
                                 "remove its folder\n")
    assert os.path.lexists(path)
    assert install("--user", "--kernel", "calm", **place).returncode == 0
    result = install("uninstall", "--user", "--name", "absent", **place)
    assert result.stderr.endswith("recorded kernels there: tachograph-calm\n")


def test_names_are_compared_without_case(kernels, place):
    """As Jupyter does: no second folder for one name."""
    (kernels / "calm").rename(kernels / "Calm")
    result = install("--user", "--kernel", "PYTHON3", **place)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith(f"in {kernels}/tachograph; it runs and records python3\n")
    assert install("--user", "--kernel", "CALM", "--in-place", **place).returncode == 0
    assert sorted(p.name for p in kernels.iterdir()) == ["Calm", "tachograph"]
    assert install("uninstall", "--user", "--name", "calm", **place).returncode == 0
    assert spec_of(kernels / "Calm")["argv"][:3] == ["python", "-m", "calm"]
    assert install("uninstall", "--user", "--name", "TACHOGRAPH", **place).returncode == 0
    assert [p.name for p in kernels.iterdir()] == ["Calm"]


def test_the_kernel_behind_a_recorded_one_is_used(kernels, place):
    assert install("--kernel", "calm", "--user", "--name", "first", **place).returncode == 0
    result = install("--kernel", "first", "--user", "--name", "second", **place)
    assert (result.returncode, result.stderr) == (0, "")
    assert spec_of(kernels / "second")["argv"] == spec_of(kernels / "first")["argv"]


def test_beside_a_kernel_in_place(kernels, place):
    """The kernel of its own outlives the one in place, whichever came first."""
    assert install("--kernel", "calm", "--user", "--in-place", **place).returncode == 0
    result = install("--kernel", "calm", "--user", **place)
    assert (result.returncode, result.stderr) == (0, "")
    spec = spec_of(kernels / "tachograph-calm")
    assert spec["argv"][spec["argv"].index("--spec") + 1] == str(kernels / "calm")
    assert spec["display_name"] == "tachograph (Calm)"
    assert install("uninstall", "--name", "calm", "--user", **place).returncode == 0
    assert spec_of(kernels / "calm")["argv"][:3] == ["python", "-m", "calm"]


def test_a_recorded_kernel_without_one_behind_is_refused(kernels, place):
    (kernels / "loop").mkdir()
    (kernels / "loop" / "kernel.json").write_text(json.dumps({
        "argv": ["/bin/tachograph", "kernel", "--spec", str(kernels / "loop")],
        "display_name": "Loop", "language": "calm"}))
    result = install("--kernel", "loop", "--user", **place)
    assert result.returncode == 1
    assert "loop is recorded already" in result.stderr


@pytest.mark.parametrize("first", ["", "--in-place"])
def test_no_kernel_is_recorded_twice(kernels, place, tmp_path, first):
    """Both kernels run what is behind them, and their recordings bear its name."""
    from jupyter_client.manager import start_new_kernel

    (kernels / "python3").mkdir()
    (kernels / "python3" / "kernel.json").write_text(json.dumps({
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3", "language": "python"}))
    for how in (first, "" if first else "--in-place"):
        args = [how] if how else []
        assert install("--kernel", "python3", "--user", *args, **place).returncode == 0
    for name in ("tachograph", "python3"):
        records = tmp_path / name
        records.mkdir()
        spec = spec_of(kernels / name)["argv"]
        (kernels / "once").mkdir(exist_ok=True)
        (kernels / "once" / "kernel.json").write_text(json.dumps({
            "argv": spec, "display_name": "Once", "language": "python"}))
        env = {**os.environ, **place, "TACHOGRAPH_DIR": str(records),
               "JUPYTER_PATH": str(kernels.parent)}
        before = dict(os.environ)
        os.environ.update(env)
        try:
            manager, client = start_new_kernel(kernel_name="once", startup_timeout=120)
        finally:
            os.environ.clear()
            os.environ.update(before)
        try:
            client.execute_interactive("1 + 1", timeout=60)
        finally:
            client.stop_channels()
            manager.shutdown_kernel()
        found = [p.name for p in records.glob("*.tacho")]
        assert len(found) == 1 and found[0].startswith("python3-"), found
